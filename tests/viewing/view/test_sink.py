import os
from pathlib import Path

import pytest

from uavsim.errors import DatasetError, InputError, StorageError
from uavsim.files import whole
from uavsim.viewing.view.sink import whole_sink

MUCH = os.urandom(3 << 20)  # more than a pipe holds


def test_written_file_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new/a.rrd"
    with whole_sink(path) as name:
        Path(name).write_bytes(MUCH)
        assert not path.exists()
    assert path.read_bytes() == MUCH
    assert [p.name for p in path.parent.iterdir()] == ["a.rrd"]


def write(path: Path, *, then: Exception | None = None) -> None:
    """Write to the sink without checks of the disk."""
    with whole_sink(path) as name:
        Path(name).write_bytes(MUCH)
        if then is not None:
            raise then


def test_full_disk_does_not_block_the_writer_and_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full").open("wb")  # noqa: SIM115 - the sink closes it
    monkeypatch.setattr(whole, "begin_temp", lambda folder, name: ("temp", full))
    with pytest.raises(StorageError, match=r"a\.rrd: the disk is full; free space and run the same command again$"):
        write(tmp_path / "a.rrd")


def test_failure_of_the_writer_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.rrd"
    path.write_text("of before")
    with pytest.raises(DatasetError, match="broken"):
        write(path, then=DatasetError("broken"))
    assert path.read_text() == "of before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.rrd"]
    with pytest.raises(InputError):
        write(path / "b.rrd")
