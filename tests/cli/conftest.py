from pathlib import Path

import pytest

from tests.dataset_factory import make_dataset


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("strict"), samples=2, drones=2, size_px=(96, 54))
