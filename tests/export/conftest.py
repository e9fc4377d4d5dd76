from pathlib import Path

import pytest

from tests.dataset_factory import make_dataset
from uavsim.dataset.convert import convert


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
    out = tmp_path_factory.mktemp("converted") / "uav3d"
    convert(strict, out, dialect="uav3d")
    return out
