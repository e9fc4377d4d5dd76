"""Full and read-only disks: a clear line, nothing half-written, and the run continues when there is space again."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.run.test_stages import run_all
from tools.common.leftovers import contents
from uavsim.errors import InputError, StorageError
from uavsim.run.request import Request
from uavsim.store.commit import sweep_orphans
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput

Paper = Callable[..., Request]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a separate file system of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("only root may mount")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


def fill(folder: Path, *, leave_bytes: int) -> Path:
    ballast = folder.parent / "disk" / "ballast"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    with ballast.open("wb") as file:
        file.write(b"\0" * max(free - leave_bytes, 0))
    return ballast


@pytest.mark.parametrize("leave_kb", [0, 48, *(pytest.param(kb, marks=pytest.mark.release) for kb in (8, 24, 80, 120))])
def test_a_full_disk(paper: Paper, small_disk: Path, tmp_path: Path, leave_kb: int) -> None:
    """The disk is full at a different step for each amount of free space."""
    out = small_disk / "out"
    run_all(paper(scenes="1", out=out))
    before = contents(out)
    ballast = fill(small_disk, leave_bytes=leave_kb * 1024)
    with pytest.raises(StorageError, match="the disk is full; free space and run the same command again") as caught:
        run_all(paper(scenes="3", out=out))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3
    committed = [e.scene for e in read_ledger(LocalOutput(out)).values() if e.state == "committed"]
    ballast.unlink()
    sweep_orphans(LocalOutput(out))
    if committed == ["scene_00"]:
        assert contents(out) == before
    assert [o.state for o in run_all(paper(scenes="3", out=out))] == ["committed"] * 3
    run_all(paper(scenes="3", out=tmp_path / "roomy"))
    assert contents(out) == contents(tmp_path / "roomy")


def test_a_read_only_disk(paper: Paper, small_disk: Path, tmp_path: Path) -> None:
    out = small_disk / "out"
    run_all(paper(scenes="1", out=out))
    before = contents(out)
    remount(small_disk, "ro")
    with pytest.raises(StorageError, match=r"read-only|Read-only"):
        run_all(paper(scenes="2", out=out))
    assert contents(out) == before
    remount(small_disk, "rw")
    assert [o.state for o in run_all(paper(scenes="2", out=out))] == ["committed"] * 2


def test_a_folder_of_another_user(paper: Paper, tmp_path: Path) -> None:
    """Root may write anywhere, so a file stands in the way instead."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"file is not a directory, so .* cannot be one"):
        run_all(paper(scenes="1", out=tmp_path / "file" / "out"))
