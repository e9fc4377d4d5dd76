"""New tables replace the old ones atomically, and foreign files stay in place at every step of an interruption."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from uavsim.files.own_folder import OwnFolder
from uavsim.store.publish import publish_tables, return_foreign_files

VERSION = "v1.0-mini"
STEPS = ("rename", "exchange", "link", "make_folder", "look_alike", "drop_second_name", "remove_empty")


class Killed(BaseException):
    """A stand-in for SIGKILL that no handler catches."""


def tables(folder: Path, *, rows: int) -> None:
    folder.mkdir(parents=True)
    (folder / "scene.json").write_text(json.dumps([{"token": str(i)} for i in range(rows)]))
    (folder / "uav_dataset.json").write_text(json.dumps({"rows": {"scene": rows}}))


def plant(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Put foreign files, folders, a link and a pipe into a version folder; returns their properties."""
    (folder / "results/run 1").mkdir(parents=True)
    (folder / "results/run 1/metrics.json").write_bytes(b"theirs")
    (folder / "results/notes.txt").write_bytes(b"notes")
    (folder / "predictions.json").write_bytes(b"[]")
    (folder / "empty").mkdir(mode=0o700)
    (folder / "out").symlink_to("/nowhere")
    os.mkfifo(folder / "pipe")
    return foreign_properties(folder)


def foreign_properties(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return mode, inode except of folders, and content by name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name, status = str(path.relative_to(folder)), path.lstat()
        if name not in {"scene.json", "uav_dataset.json"}:
            is_folder = path.is_dir() and not path.is_symlink()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[name] = (status.st_mode, 0 if is_folder else status.st_ino, content)
    return found


@pytest.fixture
def dataset(tmp_path: Path) -> OwnFolder:
    tables(tmp_path / VERSION, rows=1)
    tables(tmp_path / "staged" / VERSION, rows=2)
    return OwnFolder(tmp_path)


def at_each_step(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Call ``act`` after each step that changes names."""
    for name in STEPS:
        real = getattr(OwnFolder, name)

        def step(self: OwnFolder, *args: str, real: Callable[..., object] = real) -> object:
            result = real(self, *args)
            act()
            return result

        monkeypatch.setattr(OwnFolder, name, step)


def rows_of(dataset: OwnFolder) -> int:
    return len(json.loads((dataset.root / VERSION / "scene.json").read_text()))


def test_files_of_others_are_there_after_every_step(dataset: OwnFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = plant(dataset.root / VERSION)
    looks: list[int] = []

    def look() -> None:
        assert foreign_properties(dataset.root / VERSION) == before
        looks.append(rows_of(dataset))

    at_each_step(monkeypatch, look)
    publish_tables(dataset, "staged", versions=[VERSION])
    assert sorted(looks) == looks  # old tables, then new ones
    assert set(looks) == {1, 2}
    assert foreign_properties(dataset.root / "staged" / VERSION) == {}


@pytest.mark.parametrize("last", range(40))
def test_a_run_that_is_killed_at_any_step_is_repaired_by_the_next(
    last: int, dataset: OwnFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plant(dataset.root / VERSION)
    steps = iter(range(100))

    def die() -> None:
        if next(steps) == last:
            raise Killed

    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        at_each_step(patch, die)
        publish_tables(dataset, "staged", versions=[VERSION])
    assert foreign_properties(dataset.root / VERSION) == before
    return_foreign_files(dataset, "staged")
    assert foreign_properties(dataset.root / VERSION) == before
    assert foreign_properties(dataset.root / "staged" / VERSION) == {}


def test_foreign_files_are_moved_without_hard_links(dataset: OwnFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = plant(dataset.root / VERSION)
    monkeypatch.setattr(OwnFolder, "link", lambda *_: False)
    publish_tables(dataset, "staged", versions=[VERSION])
    assert foreign_properties(dataset.root / VERSION) == before
    assert rows_of(dataset) == 2


def test_tables_are_replaced_without_folder_exchange(dataset: OwnFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = plant(dataset.root / VERSION)
    monkeypatch.setattr(OwnFolder, "exchange", lambda *_: False)
    publish_tables(dataset, "staged", versions=[VERSION])
    assert foreign_properties(dataset.root / VERSION) == before
    assert rows_of(dataset) == 2


@pytest.mark.parametrize("theirs_later", [True, False])
def test_a_file_that_is_replaced_meanwhile_is_kept_in_both_forms(
    theirs_later: bool, dataset: OwnFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(dataset.root / VERSION)
    (dataset.root / VERSION / "predictions.json").touch()
    real = OwnFolder.exchange

    def replaced_then_exchanged(self: OwnFolder, one: str, other: str) -> bool:
        if other == VERSION:  # an editor writes a new file in the last moment
            new = dataset.root / "new"
            new.write_bytes(b"[1]")
            os.utime(new, ns=(0, 1 << 61 if theirs_later else 0))
            new.replace(dataset.root / VERSION / "predictions.json")
        return real(self, one, other)

    monkeypatch.setattr(OwnFolder, "exchange", replaced_then_exchanged)
    publish_tables(dataset, "staged", versions=[VERSION])
    names = ("predictions.json", "predictions.json.before")
    found = {name: (dataset.root / VERSION / name).read_bytes() for name in names}
    assert found == dict(zip(found, (b"[1]", b"[]") if theirs_later else (b"[]", b"[1]"), strict=True))
