"""Files are written atomically, and only regular files are replaced."""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from uavsim.dataset.tables import TableWriter
from uavsim.errors import InputError, StorageError
from uavsim.files.own_folder import OwnFolder
from uavsim.files.whole import (
    begin_temp,
    create_in,
    is_temp,
    open_folder,
    replace_bytes,
    storage_errors,
    sweep_temp,
    whole_file,
)


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    replace_bytes(path, b"old")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"half of the n")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_other_hard_links_keep_their_bytes(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"old")
    os.link(path, other)
    replace_bytes(path, b"new")
    assert (path.read_bytes(), other.read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("kind", ["a link", "a folder", "a device or pipe"])
def test_only_regular_files_are_replaced(tmp_path: Path, kind: str) -> None:
    path, aim = tmp_path / "a", tmp_path / "aim"
    aim.write_bytes(b"theirs")
    {"a link": lambda: path.symlink_to(aim), "a folder": path.mkdir, "a device or pipe": lambda: os.mkfifo(path)}[
        kind
    ]()
    with pytest.raises(StorageError, match=f"it is {kind}"):
        replace_bytes(path, b"new")
    with pytest.raises(InputError, match=f"it is {kind}"), whole_file(path) as file:  # a path of the user
        file.write(b"new")
    assert aim.read_bytes() == b"theirs"
    assert not path.is_file() or path.is_symlink()


def test_create_succeeds_once(tmp_path: Path) -> None:
    with open_folder(tmp_path) as folder:
        assert create_in(folder, "lock", b"first")
        assert not create_in(folder, "lock", b"second")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"lock": b"first"}


def swept(root: Path) -> list[str]:
    """Return the files that another process removes at its start or end."""
    return OwnFolder(root.parent).sweep_temps(root.name)


def test_temp_file_is_not_swept_before_its_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renames: list[str] = []

    def after_a_sweep(rename: Callable[..., object]) -> Callable[..., object]:
        def renamed(*words: object, **more: object) -> object:
            renames.append(str(words[0]))
            assert swept(tmp_path) == []
            return rename(*words, **more)

        return renamed

    monkeypatch.setattr(os, "rename", after_a_sweep(os.rename))
    monkeypatch.setattr(os, "replace", after_a_sweep(os.replace))
    replace_bytes(tmp_path / "a", b"whole")
    with whole_file(tmp_path / "b") as file:
        file.write(b"whole")
        assert swept(tmp_path) == []
    with TableWriter(tmp_path / "c.json") as table:
        table.add({"token": "x"})
        assert swept(tmp_path) == []
        table.keep()
    assert len(renames) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "c.json"]


def test_only_temp_files_of_dead_writers_are_swept(tmp_path: Path) -> None:
    name = ".a.0123456789ab.uavsim-tmp"
    assert is_temp(name)
    assert not is_temp("a.0123456789ab.uavsim-tmp")
    with open_folder(tmp_path) as folder:
        with (tmp_path / name).open("wb") as writer:
            fcntl.flock(writer, fcntl.LOCK_EX)
            assert not sweep_temp(folder, name)
        assert sweep_temp(folder, name)
        assert not sweep_temp(folder, name)
        (tmp_path / "theirs").write_bytes(b"x")
        (tmp_path / name).symlink_to("theirs")
        assert not sweep_temp(folder, name)
    assert (tmp_path / "theirs").exists()


def test_storage_error_is_one_line_with_a_remedy() -> None:
    with pytest.raises(StorageError) as caught, storage_errors("write the table"):
        raise OSError(errno.ENOSPC, "No space left on device", "/data/x")
    assert str(caught.value).startswith("cannot write the table: the disk is full; free space")
    assert str(caught.value).endswith("(/data/x)")


def test_remedy_says_continue_for_runs_only(tmp_path: Path) -> None:
    """A file's command makes it again, and the message names the file once."""
    path = tmp_path / "table.json"
    with pytest.raises(StorageError) as caught, whole_file(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))
    assert str(caught.value) == f"cannot write {path}: the disk is full; free space and run the same command again"
    with pytest.raises(StorageError) as caught, storage_errors("write x", again="remove out and run it again"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value) == "cannot write x: the disk is full; free space and remove out and run it again"


def test_whole_file_sweeps_temp_files_of_its_own_name(tmp_path: Path) -> None:
    dead, others, foreign = ".a.0123456789ab.uavsim-tmp", ".b.0123456789ab.uavsim-tmp", ".a.txt.uavsim-tmp"
    for name in (dead, others, foreign):
        (tmp_path / name).write_bytes(b"half")
    with open_folder(tmp_path) as folder:
        alive, file = begin_temp(folder, "a")
        with file, whole_file(tmp_path / "a") as target:
            target.write(b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"a", others, foreign, alive}
