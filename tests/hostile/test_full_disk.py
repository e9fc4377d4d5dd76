"""Disks that take no more: one line, and no temp file stays; files that may not grow stand for them."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.dataset_factory import make_dataset
from tests.hostile.every_command import WRITING, filled
from uavsim.cli import build_app
from uavsim.errors import StorageError

PARTS = {".uavsim-tmp", ".images", ".annotations", ".categories"}  # the last three: of a file of COCO's that is joined


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("full"), scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))


@contextmanager
def no_file_larger_than(most_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("command", WRITING)
def test_a_full_disk_is_one_line_and_leaves_no_temp_file(command: str, root: Path, tmp_path: Path) -> None:
    failures = 0
    for number, most_bytes in enumerate((0, 2000, 6000)):
        out = tmp_path / f"out{number}"
        with no_file_larger_than(most_bytes):
            result = CliRunner().invoke(build_app(), filled(WRITING[command], root, out))
        if result.exit_code:
            assert isinstance(result.exception, StorageError), result.exception
            assert "ulimit -f" in str(result.exception)
            assert "\n" not in str(result.exception)
            failures += 1
        assert [path.name for path in out.rglob("*") if path.suffix in PARTS] == []
    assert failures
