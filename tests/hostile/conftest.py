"""A small read-only dataset."""

import shutil
from pathlib import Path

import pytest

from tests.hostile.datasets import make_tiny


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny") / "set")


@pytest.fixture
def tiny_copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "set"))
