"""Flying a committed scene again: the old scene stays complete until an atomic replacement."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.run.test_stages import run_all
from tests.store.test_local import cut_short
from tools.common.leftovers import contents, state_of
from uavsim.run.finish import assemble_tables, committed_scenes
from uavsim.run.overview import overview
from uavsim.run.regenerate import request_of_folder
from uavsim.run.request import Request
from uavsim.store.commit import sweep_orphans
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput

Paper = Callable[..., Request]
STEPS = pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.release)])
"""Of the changes after which the test interrupts a run, each seventh; for a release, each."""


def images(root: Path, scene: str) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (root / "samples").rglob(f"{scene}__*") if p.is_file()}


def test_a_scene_that_cannot_be_flown_again_stays_as_it_was(paper: Paper, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_all(paper())
    before = contents(out)
    outcomes = run_all(paper(force=True, faults={"scene_01": ["SceneVoid"] * 3}))
    assert [o.state for o in outcomes] == ["committed", "quarantined", "committed"]
    after = {k: v for k, v in contents(out).items()}
    assert after == before
    entry = read_ledger(LocalOutput(out))["scene_01"]
    assert (entry.state, entry.given_up, len(entry.failures)) == ("committed", True, 3)
    assert [e.scene for e in overview(str(out)).quarantined] == ["scene_01"]
    assert [o.state for o in run_all(paper())] == ["committed"] * 3  # the old one is in the dataset
    assert [o.state for o in run_all(paper(force=True))] == ["committed"] * 3
    assert not read_ledger(LocalOutput(out))["scene_01"].given_up


def test_other_images_get_names_of_their_own_and_the_old_ones_go(paper: Paper, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_all(paper())
    old = images(out, "scene_01")
    run_all(paper(force=True, faults={"scene_01": ["look:9"]}))
    new = images(out, "scene_01")
    assert len(new) == len(old)
    assert not new.keys() & old.keys()
    assert {name.replace("~1", "") for name in new} == old.keys()
    assert read_ledger(LocalOutput(out))["scene_01"].generation == 1
    named = {row["filename"].rpartition("/")[2] for row in json.loads((out / "v1.0-mini/sample_data.json").read_text())}
    assert new.keys() <= named
    run_all(paper(force=True))  # as at first: the first names are free again
    assert images(out, "scene_01") == old


@STEPS
def test_tables_name_the_old_scene_until_new_tables_are_there(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """The run stops before each change of the folder in turn, from the commit to the last table."""
    out = tmp_path / "out"
    run_all(paper(scenes="2"))
    output, states = LocalOutput(out), {json.dumps(state_of(out))}
    with monkeypatch.context() as patch:
        patch.setattr("tests.run.test_stages.assemble_tables", lambda output: None)
        run_all(paper(scenes="2", force=True, faults={"scene_01": ["look:9"]}))
    assert committed_scenes(output)[1].retired == (0,)
    assert json.dumps(state_of(out)) in states
    limit = 0
    while cut_short(monkeypatch, limit, lambda: assemble_tables(output)):
        states.add(json.dumps(state_of(out)))
        limit += step
        if limit % 3 == 0:
            sweep_orphans(output)
            states.add(json.dumps(state_of(out)))
    assert limit > 20
    assert len(states) == 2  # the old one, the new one
    assert not any(entry.retired for entry in committed_scenes(output))


@STEPS
def test_files_of_others_in_a_version_folder_move_along(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    out = tmp_path / "out"
    run_all(paper(scenes="1"))
    foreign_files = {"results.json": "[]", "run 1/metrics.json": "{}", "a\nb": "x"}
    for name, text in foreign_files.items():
        path = out / "v1.0-mini" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (out / "v1.0-mini/link").symlink_to("/etc")
    limit, output = 0, LocalOutput(out)
    while cut_short(monkeypatch, limit, lambda: assemble_tables(output)):
        sweep_orphans(output)
        for name, text in foreign_files.items():
            assert (out / "v1.0-mini" / name).read_text() == text, limit
        assert (out / "v1.0-mini/link").readlink() == Path("/etc")
        limit += step
    assert limit > 20


def test_regenerate_flies_again_whatever_its_process_is_called(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In containers every run has the same process id."""
    run_all(paper(scenes="1"))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    for count in (2, 3):
        run_all(paper(scenes="1", force=True))
        log = (tmp_path / "out/.uavsim/logs/scene_00.jsonl").read_text()
        assert log.count('"committed"') == count


def test_without_numbers_what_was_given_up_is_flown_again(paper: Paper, tmp_path: Path) -> None:
    run_all(paper())
    run_all(paper(force=True, faults={"scene_01": ["SceneVoid"] * 3}))
    request = request_of_folder(tmp_path / "out", scenes=None, simulators=("mock",), run=None)
    assert request.scenes == "1"
