from pathlib import Path

import pytest

from tests.dataset_factory import in_uav3d, make_dataset


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(
        tmp_path_factory.mktemp("strict"),
        samples=2,
        sweeps=0,
        drones=2,
        size_px=(160, 90),
        sensors=("rgb", "instance", "depth"),
    )


@pytest.fixture(scope="session")
def uav3d(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_uav3d(strict, tmp_path_factory.mktemp("converted"))
