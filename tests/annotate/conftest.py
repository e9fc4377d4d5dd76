import pytest

from tools.common.factories import make_recording
from uavsim.annotate import annotate
from uavsim.records.labels import SceneLabels
from uavsim.records.recording import Recording


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return make_recording(tmp_path_factory.mktemp("recording"), drones=1, sensors=("rgb", "instance", "depth"))


@pytest.fixture(scope="session")
def labels(recording: Recording) -> SceneLabels:
    return annotate(recording)
