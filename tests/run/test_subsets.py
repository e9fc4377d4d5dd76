"""Subsets and unions of finished datasets by commands; the synthetic dataset has three scenes."""

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tools.common.leftovers import contents
from uavsim.access import open_folder
from uavsim.cli import build_app
from uavsim.errors import InputError, StorageError
from uavsim.flows.command import generate
from uavsim.run import subsets
from uavsim.run.request import Request
from uavsim.store import commit
from uavsim.terminal import Screen
from uavsim.validate import validate_version

VERSION = "v1.0-mini"


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flown") / "out"


@pytest.fixture
def made(flown: Path, paper: Callable[..., Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    if not flown.exists():
        assert generate(paper(check=False, out=flown), console=Screen(quiet=True)).error is None
    return Path(shutil.copytree(flown, "out"))


def run(*words: str) -> str:
    done = CliRunner().invoke(build_app(), list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def tables(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder, VERSION).iterdir()}


def test_selected_scenes_are_linked_with_their_tokens(made: Path) -> None:
    run("select", "out", "--scenes", "0,2", "--out", "two")
    assert validate_version(Path("two"), VERSION, pixels=False).errors == 0
    before, after = (json.loads(tables(name)["sample_data.json"]) for name in ("out", "two"))
    rows_by_token = {row["token"]: row for row in before}
    assert len(after) * 3 == len(before) * 2
    assert all(rows_by_token[row["token"]] == row for row in after)
    assert all(Path("two", row["filename"]).samefile(made / row["filename"]) for row in after)
    assert next(subsets.differences(made, Path("two"))) == "only in out: scene_01"


def test_selections_merge_into_the_dataset_that_they_are_of(made: Path) -> None:
    run("select", "out", "--scenes", "1", "--out", "one")
    run("select", "out", "--scenes", "0,2", "--out", "two")
    run("merge", "two", "one", "--out", "all")
    assert tables("all") == tables("out")
    assert "hold the same scenes" in run("diff", "out", "all")


@pytest.mark.parametrize("step", ["write_manifest", "write_entry"])
def test_interrupted_selection_continues_and_loses_nothing(made: Path, monkeypatch, step: str) -> None:
    """Interrupted before the second scene's files are in place, and after."""
    before = contents(made)
    write, calls = getattr(commit, step), itertools.count()

    def breaks(*arguments, **options) -> None:
        if next(calls) == 1:
            raise StorageError("the disk is full")
        write(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(commit, step, breaks)
        with pytest.raises(StorageError):
            subsets.select(subsets.scenes_of(made), Path("again"))
    subsets.select(subsets.scenes_of(made), Path("again"))
    assert tables("again") == tables("out")
    assert contents(made) == before
    assert not list(Path("again/.uavsim/staging").iterdir())


def test_splits_are_rewritten(made: Path) -> None:
    run("split", "out", "--assign", "uav_val=1", "--assign", "uav_test=2", "--rest", "uav_train", "--out", "other")
    assert open_folder("other").splits == {"uav_train": ["scene_00"], "uav_val": ["scene_01"], "uav_test": ["scene_02"]}
    assert validate_version(Path("other"), VERSION, pixels=False).errors == 0
    assert next(subsets.differences(made, Path("other"))).startswith("scene_01: splits uav_train, and uav_val")


def test_scenes_are_selected_by_their_objects(made: Path) -> None:
    annotations = json.loads(tables("out")["sample_annotation.json"])
    labels = {row["token"]: row["uav_label"] for row in json.loads(tables("out")["instance.json"])}
    scanned_labels = {labels[row["instance_token"]] for row in annotations if row["num_lidar_pts"] > 0}
    label = min(scanned_labels)
    assert len(subsets.choose(made, subsets.SceneFilter(classes=(label,)))) == 3
    assert "none of its 3 scenes" in refused("select", "out", "--class", label, "--within-m", "0", "--out", "x")


def refused(*words: str) -> str:
    with pytest.raises(InputError) as error:
        CliRunner().invoke(build_app(), list(words), catch_exceptions=False)
    return str(error.value)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("select", "out", "--out", "x"), "no condition is given"),
        (("select", "out", "--scenes", "7", "--out", "x"), "no scene 7; it has 0 to 2"),
        (("select", "out", "--town", "Town04", "--out", "x"), "no scene in Town04; it has Town10HD"),
        (("select", "out", "--scenes", "0", "--out", "out/in"), "is the dataset itself, or in it"),
        (("select", ".", "--scenes", "0", "--out", "x"), "not a uavsim dataset"),
        (("merge", "out", "out", "--out", "x"), "both have scene number 0"),
        (("merge", "out", "--out", "x"), "at least two datasets"),
        (("split", "out", "--assign", "uav_val", "--out", "x"), "write SPLIT=NUMBERS"),
        (("split", "out", "--assign", "uav_val=9", "--out", "x"), "no scene 9"),
        (("split", "out", "--assign", "../up=1", "--out", "x"), "cannot be a file name"),
        (("split", "out", "--assign", "val=1", "--out", "x"), "use uav_val"),
    ],
)
def test_what_cannot_be_done_is_refused_and_writes_nothing(made: Path, words: tuple[str, ...], reason: str) -> None:
    del made
    assert reason in refused(*words)
    assert not Path("x", VERSION).exists()


def test_scenes_are_selected_by_agent_and_event(made: Path) -> None:
    labels = Path("labels")
    labels.mkdir()
    rows = [{"scene": f"scene_0{n}", "degradations": [{"kind": "occluded"}] if n else []} for n in range(3)]
    (labels / "image_event.jsonl").write_text("\n".join(map(json.dumps, rows)))
    chosen = ("--event", "occluded", "--events", "labels", "--agent", "drone", "--dry-run", "--out", "x")
    assert "2 scenes: scene_01 scene_02" in run("select", "out", *chosen)
    with pytest.raises(InputError, match="no image has the event 'dark'; events: occluded"):
        subsets.scenes_with("dark", labels)
    with pytest.raises(InputError, match="none of its 3 scenes meets the conditions"):
        subsets.choose(made, subsets.SceneFilter(agents=("roadside",)))
    with pytest.raises(InputError, match="no object is a tram, only "):
        subsets.choose(made, subsets.SceneFilter(classes=("tram",)))
