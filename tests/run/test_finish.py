"""The end of a run, also without a scene to fly."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from tests.run.test_stages import run_all
from tools.common.leftovers import contents
from uavsim.cli import build_app
from uavsim.flows import command
from uavsim.flows.command import generate
from uavsim.run import finish
from uavsim.run.context import prepared
from uavsim.run.request import Request
from uavsim.store.ledger import read_ledger, write_entry
from uavsim.store.local import LocalOutput
from uavsim.terminal import Screen

Paper = Callable[..., Request]


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing has to start where no scene is to be flown")

    monkeypatch.setattr(command, "configured_api_url", lambda: None)
    monkeypatch.setattr(command, "account_address", lambda: None)
    monkeypatch.setattr("uavsim.run.context.SimulatorSlot", refuse)


def test_scenes_that_are_all_there_start_neither_prefect_nor_simulators(
    paper: Paper, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run_all(paper(scenes="2"))
    before, processes = contents(tmp_path / "out"), psutil.Process().children(recursive=True)
    request.getfixturevalue("nothing_starts")
    result = generate(paper(scenes="2").model_copy(update={"check": False}), console=Screen(quiet=True))
    assert result.committed == ("scene_00", "scene_01")
    assert result.images == 2 * 5 * 2
    assert result.error is None
    assert result.contact_sheet == tmp_path / "out/contact_sheet.png"
    assert result.flown == 0
    assert psutil.Process().children(recursive=True) == processes
    after = contents(tmp_path / "out")
    assert after == before


def test_tables_that_were_lost_are_written_again(paper: Paper, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    run_all(paper(scenes="1"))
    before = contents(tmp_path / "out")
    (tmp_path / "out/v1.0-mini/sample.json").unlink()
    request.getfixturevalue("nothing_starts")
    generate(paper(scenes="1").model_copy(update={"check": False}), console=Screen(quiet=True))
    after = contents(tmp_path / "out")
    assert after == before


def test_a_scene_that_is_missing_changed_or_forced_is_flown(paper: Paper, tmp_path: Path) -> None:
    run_all(paper(scenes="2"))
    assert prepared(paper(scenes="3")).to_fly
    assert prepared(paper(scenes="2", force=True)).to_fly
    unchanged = prepared(paper(scenes="2")).unchanged
    assert [entry.scene for entry in unchanged.values()] == ["scene_00", "scene_01"]
    output = LocalOutput(tmp_path / "out")
    entry = read_ledger(output)["scene_01"]
    write_entry(output, replace(entry, plan_sha256="0" * 64))
    assert prepared(paper(scenes="2")).to_fly


def test_the_mini_split_is_looked_at_whole_and_a_release_by_its_files_alone() -> None:
    a_row_bytes = 490  # of sample_data.json, as written
    assert finish.decodes(10_000 * a_row_bytes, requested=None)
    assert not finish.decodes(500_000 * a_row_bytes, requested=None)
    assert finish.decodes(500_000 * a_row_bytes, requested=True)
    assert not finish.decodes(10, requested=False)


def test_labelling_again_removes_what_a_killed_one_left(paper: Paper, tmp_path: Path) -> None:
    run_all(paper(scenes="2"))
    out = tmp_path / "out"
    annotate = ["annotate", str(out)]
    assert CliRunner().invoke(build_app(), annotate).exit_code == 0
    labelled = contents(out)
    LocalOutput(out).stage("tables")
    (out / ".uavsim/fragments/.scene_00.msgpack.a869e254da80.uavsim-tmp").write_bytes(b"half")
    assert len(contents(out)) == len(labelled) + 2
    assert CliRunner().invoke(build_app(), annotate).exit_code == 0
    assert contents(out) == labelled
