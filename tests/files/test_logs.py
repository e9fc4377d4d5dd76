"""A log is a regular file, and only its end is read."""

import os
from pathlib import Path

import pytest

from uavsim.errors import StorageError
from uavsim.files.logs import open_appending, tail_of


def test_append_and_tail(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "mock0.log"
    for word in (b"one\n", b"two\n", b"three\n"):
        with open_appending(path) as file:
            file.write(word)
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    assert tail_of(path, lines=2) == "two\nthree"
    assert tail_of(path, lines=9, start_bytes=4) == "two\nthree"
    assert tail_of(tmp_path / "none", lines=2) == ""


@pytest.mark.timeout(20)
def test_link_pipe_and_device_are_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "mine.txt"
    foreign.write_text("foreign")
    (tmp_path / "link.log").symlink_to(foreign)
    (tmp_path / "device.log").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.log")
    for name in ("link.log", "device.log", "pipe.log"):
        with pytest.raises(StorageError, match="not a regular file; move it away"):
            open_appending(tmp_path / name)
        with pytest.raises(StorageError, match="not a regular file; move it away"):
            tail_of(tmp_path / name, lines=2)
    assert foreign.read_text() == "foreign"


def test_tail_of_a_huge_log_reads_little(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.truncate(40 << 30)  # holes
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast words\n")
    assert tail_of(path, lines=1) == "last words"
    assert len(tail_of(path, lines=1000)) < 20_000
