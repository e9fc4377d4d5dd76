"""Full disks, simulated by a limit on file sizes: one error line, and no temporary file stays."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.hostile.datasets import WRITING, filled
from uavsim.cli import build_app
from uavsim.errors import StorageError

PARTS = {".uavsim-tmp", ".images", ".annotations", ".categories"}  # the last three: parts of a COCO file


@contextmanager
def largest_file(most_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("command", WRITING)
def test_full_disk_is_one_line_and_leaves_no_temporary_file(command: str, tiny: Path, tmp_path: Path) -> None:
    failures = 0
    for most_bytes in (0, 2000, 6000):
        out = tmp_path / f"out{most_bytes}"
        with largest_file(most_bytes):
            result = CliRunner().invoke(build_app(), filled(WRITING[command], tiny, out))
        if result.exit_code:
            assert isinstance(result.exception, StorageError), result.exception
            assert "ulimit -f" in str(result.exception)
            assert "\n" not in str(result.exception)
            failures += 1
        assert [path.name for path in out.rglob("*") if path.suffix in PARTS] == []
    assert failures
