"""Files are whole or not there, and what is not a regular file is never replaced."""

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


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
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


def test_a_hard_link_keeps_its_bytes(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"old")
    os.link(path, other)
    replace_bytes(path, b"new")
    assert (path.read_bytes(), other.read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("kind", ["a link", "a folder", "a device or pipe"])
def test_what_is_no_regular_file_stays(tmp_path: Path, kind: str) -> None:
    path, aim = tmp_path / "a", tmp_path / "aim"
    aim.write_bytes(b"theirs")
    {"a link": lambda: path.symlink_to(aim), "a folder": path.mkdir, "a device or pipe": lambda: os.mkfifo(path)}[
        kind
    ]()
    with pytest.raises(StorageError, match=f"{kind} is there"):
        replace_bytes(path, b"new")
    with pytest.raises(InputError, match=f"{kind} is there"), whole_file(path) as file:  # a place that the user named
        file.write(b"new")
    assert aim.read_bytes() == b"theirs"
    assert not path.is_file() or path.is_symlink()


def test_of_two_that_create_a_name_one_does(tmp_path: Path) -> None:
    with open_folder(tmp_path) as folder:
        assert create_in(folder, "lock", b"first")
        assert not create_in(folder, "lock", b"second")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"lock": b"first"}


def swept(root: Path) -> list[str]:
    """What another process removes that begins, or ends, at this moment."""
    return OwnFolder(root.parent).sweep_temps(root.name)


def test_another_process_leaves_a_file_alone_until_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_dead_writers_file_is_swept_and_a_living_ones_is_not(tmp_path: Path) -> None:
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


def test_an_error_of_the_disk_is_one_line_with_what_to_do() -> None:
    with pytest.raises(StorageError) as caught, storage_errors("write the table"):
        raise OSError(errno.ENOSPC, "No space left on device", "/data/x")
    assert str(caught.value).startswith("cannot write the table: the disk is full; free space")
    assert str(caught.value).endswith("(/data/x)")


def test_what_does_not_continue_is_not_reported_that_it_does(tmp_path: Path) -> None:
    """A file that is made anew by its command; and the file is named once."""
    path = tmp_path / "table.json"
    with pytest.raises(StorageError) as caught, whole_file(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))
    assert str(caught.value) == f"cannot write {path}: the disk is full; free space and run the same command again"
    with pytest.raises(StorageError) as caught, storage_errors("write x", again="remove out and run it again"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value) == "cannot write x: the disk is full; free space and remove out and run it again"


def test_a_result_that_is_written_again_takes_the_temp_files_of_a_killed_writer_with_it(tmp_path: Path) -> None:
    dead, others, foreign = ".a.0123456789ab.uavsim-tmp", ".b.0123456789ab.uavsim-tmp", ".a.txt.uavsim-tmp"
    for name in (dead, others, foreign):
        (tmp_path / name).write_bytes(b"half")
    with open_folder(tmp_path) as folder:
        alive, file = begin_temp(folder, "a")
        with file, whole_file(tmp_path / "a") as whole:
            whole.write(b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"a", others, foreign, alive}
