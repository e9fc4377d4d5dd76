from pathlib import Path

import pytest

import uavsim
from tests.dataset_factory import make_dataset
from uavsim.access import Dataset
from uavsim.occupancy.grids import GRIDS
from uavsim.occupancy.run import Labeller


@pytest.fixture(scope="session")
def street_set(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Return the synthetic street: boxes on a plane at z = 0 between two houses, drones at 25 m."""
    root = make_dataset(
        tmp_path_factory.mktemp("voxels"),
        scenes=1,
        samples=2,
        sweeps=0,
        size_px=(480, 270),
        sensors=("rgb", "instance", "depth"),
        lidar=True,
    )
    return uavsim.open(root)


@pytest.fixture(scope="session")
def scan_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the shared folder of scans."""
    return tmp_path_factory.mktemp("scans")


@pytest.fixture(scope="session")
def labeller(street_set: Dataset, scan_folder: Path) -> Labeller:
    return Labeller.of(street_set, "Town10HD", GRIDS["swarm"], scans=(), scan_folder=scan_folder)
