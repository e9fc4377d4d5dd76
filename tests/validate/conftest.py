from pathlib import Path

import pytest

from tests.validate.small import write_small


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small(tmp_path_factory.mktemp("clean") / "small", tmp_path_factory.mktemp("recordings"))
