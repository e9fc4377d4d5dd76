from pathlib import Path

import pytest
from train_trials.toy import Toy, write_toy
from typer.testing import CliRunner
from uavsim_baselines import cli

from tests.conftest import small


def ended(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["uavsim-baselines", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def test_from_a_yaml_to_a_table(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    yaml = tmp_path / "model.yaml"
    yaml.write_text(small(toy).model_dump_json())  # JSON is YAML
    run = str(tmp_path / "run")
    assert ended(monkeypatch, "train", str(yaml), "--out", run, "--set", "training.steps=2") == 0
    assert ended(monkeypatch, "predict", "--out", run) == 0
    assert ended(monkeypatch, "evaluate", "--out", run) == 0
    capsys.readouterr()
    assert ended(monkeypatch, "table", run, run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| sharing | AP 1 m |")
    assert len(lines) == 4
    assert lines[2] == lines[3]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("data.cameras=[CAMERA_FRONT]", "drone 0 has no camera CAMERA_FRONT (it has CAMERA_BOTTOM); set data.cameras"),
        ("data.drones=[0, 5]", "has no images of drone 5 (it has drones 0, 1); set data.drones"),
        ("grid.cells=16", "belongs to another model: grid.cells differs"),
    ],
)
def test_sensors_drones_and_checkpoints_that_do_not_fit_are_one_line(
    change: str,
    says: str,
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    yaml, run = tmp_path / "model.yaml", str(tmp_path / "run")
    yaml.write_text(small(toy).model_dump_json())
    assert ended(monkeypatch, "train", str(yaml), "--out", run, "--set", "training.steps=1") == 0
    capsys.readouterr()
    fresh = str(tmp_path / "fresh") if change.startswith("data") else run
    assert ended(monkeypatch, "train", str(yaml), "--out", fresh, "--set", change) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert says in line


def test_a_model_predicts_for_a_smaller_swarm_and_refuses_one_without_its_drones(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = str(write_toy(tmp_path / "alone", Toy(scenes=2, drones=1, size_px=(32, 18))))
    yaml = tmp_path / "model.yaml"
    yaml.write_text(small(toy, kind="v2vnet").model_dump_json())
    for run, change in (("any", "data.drones=null"), ("both", "data.drones=[0, 1]")):
        words = ["train", str(yaml), "--out", str(tmp_path / run), "--set", change, "--set", "training.steps=1"]
        assert ended(monkeypatch, *words) == 0
    assert ended(monkeypatch, "predict", "--out", str(tmp_path / "any"), "--data", alone) == 0
    capsys.readouterr()
    assert ended(monkeypatch, "predict", "--out", str(tmp_path / "both"), "--data", alone) == 2
    assert "has no images of drone 1 (it has drones 0); set data.drones" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (
            ["train", "--out", "x"],
            2,
            "give either a YAML file or --profile (cpu-small, cpu-small-airground, cpu-small-occupancy, mini, full)",
        ),
        (["train", "--profile", "cpu-smal", "--data", "x", "--out", "x"], 2, "did you mean cpu-small?"),
        (["train", "--profile", "cpu-small", "--out", "x"], 2, "needs --data"),
        (
            ["compare", "--profile", "cpu-small", "--data", "x", "--sharing", "v2v", "--out", "x"],
            2,
            "did you mean v2vnet?",
        ),
        (["robustness", "nowhere", "--out", "x"], 2, "run uavsim-baselines train first"),
        (["draw", "--out", "nowhere", "--to", "x.png"], 2, "run uavsim-baselines train first"),
        (["predict", "--out", "nowhere"], 2, "run uavsim-baselines train first"),
        (["train", "nowhere.yaml", "--out", "x"], 2, "nowhere.yaml"),
        (["trian"], 2, "trian"),
        (["table", "nowhere"], 2, "run uavsim-baselines evaluate first"),
    ],
)
def test_what_is_wrong_is_one_line_and_an_exit_code(
    words: list[str], code: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, *words) == code
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert says in error
    assert error.count("\n") == 1


def test_help_lists_the_commands() -> None:
    output = CliRunner().invoke(cli.app, ["--help"]).output
    assert all(
        command in output for command in ("train", "predict", "evaluate", "compare", "robustness", "draw", "table")
    )
