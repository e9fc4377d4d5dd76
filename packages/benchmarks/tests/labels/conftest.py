from pathlib import Path

import pytest

from tests.dataset_factory import make_dataset


@pytest.fixture(scope="session")
def labelled_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("labels"), scenes=1, samples=3)
