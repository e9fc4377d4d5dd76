"""``uavsim list``: all names of options with a line of description."""

import json
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from uavsim.cli import build_app
from uavsim.cli.names import LISTS, list_names


def test_every_name_that_comes_with_uavsim_has_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # as where it was installed from wheels
    found = {kind: LISTS.pick(kind)() for kind in LISTS.names()}
    assert {"formations", "rigs", "weathers", "datasets", "towns", "exports", "metrics"} <= set(found)
    assert [f"{kind} {name}" for kind, lines in found.items() for name, text in lines.items() if ".yaml" in text] == []
    assert found["towns"]["Town07"].endswith("of UAV3D.")
    assert found["weathers"]["ClearNoon"] == "CARLA's preset"
    assert "--option" in found["metrics"]["swarm"]


def test_own_files_are_listed_one_line_each_even_invalid_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rigs = tmp_path / "flight_plans/rigs"
    rigs.mkdir(parents=True)
    (rigs / "mine.yaml").write_text("# yaml-language-server: $schema=x\n# Two cameras\n# ahead. More.\ncameras: {}\n")
    (rigs / "broken.yaml").write_bytes(b"\xff: [")
    monkeypatch.chdir(tmp_path)
    list_names("rigs")
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert (lines["mine"], lines["broken"]) == ("Two cameras ahead.", "flight_plans/rigs/broken.yaml")
    assert lines["nadir"] == "One wide camera straight down."
    list_names(None, as_json=True)
    assert json.loads(capsys.readouterr().out)["rigs"] == lines


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("generate", ["datasets", "towns", "formations", "rigs", "weathers", "topologies"]),
        ("plan", ["datasets", "towns", "formations", "rigs", "weathers", "topologies"]),
        ("doctor", ["datasets", "towns", "topologies"]),
        ("replay", ["formations", "rigs", "weathers", "topologies"]),
        ("twins", ["weathers", "skins"]),
        ("airsim-settings", ["datasets", "towns"]),
        ("calibrate", ["towns"]),
        ("export", ["exports"]),
        ("evaluate", ["metrics"]),
        ("events", ["events"]),
    ],
)
def test_the_help_of_a_name_says_where_all_are_listed(command: str, kinds: list[str]) -> None:
    group = get_command(build_app(command))
    assert isinstance(group, TyperGroup)
    text = " ".join(getattr(option, "help", "") or "" for option in group.commands[command].params)
    assert [kind for kind in kinds if f"(uavsim list {kind})" not in text] == []
