from pathlib import Path

import pytest

from tests.dataset_factory import in_uav3d, make_dataset
from tools.common.factories import make_recording
from uavsim.annotate import annotate
from uavsim.dataset import Fragment, scene_fragment
from uavsim.records.labels import SceneLabels
from uavsim.records.recording import Recording


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder: Path = tmp_path_factory.mktemp("recording")
    return make_recording(folder, drones=2, sensors=("rgb", "instance", "depth"))


@pytest.fixture(scope="session")
def labels(recording: Recording) -> SceneLabels:
    return annotate(recording)


@pytest.fixture(scope="session")
def fragment(labels: SceneLabels) -> Fragment:
    return scene_fragment(labels)


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("strict"), samples=2, drones=2, size_px=(96, 54))


@pytest.fixture(scope="session")
def uav3d(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_uav3d(strict, tmp_path_factory.mktemp("converted"))
