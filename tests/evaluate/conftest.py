from pathlib import Path

import pytest

from tests.validate.small import write_small


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small(tmp_path_factory.mktemp("judged") / "small", tmp_path_factory.mktemp("judged_recordings"))
