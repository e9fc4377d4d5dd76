"""A running Prefect server, and datasets shared by several tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_simulator.testing import RunningSimulator

from tests.conftest import RunningPrefect
from tests.e2e.flights import Flights


@pytest.fixture(scope="module")
def named_server(prefect: RunningPrefect) -> Iterator[None]:
    """Set the tests' Prefect server for the runs of a module; other runs work without Prefect."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_API_URL", prefect.url)
        patch.setenv("PREFECT_API_AUTH_STRING", prefect.key)
        yield


@pytest.fixture(scope="session")
def flights(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest, simulator: RunningSimulator
) -> Flights:
    """Return datasets that the first test worker in need flies once per test run."""
    base_folder: Path = tmp_path_factory.getbasetemp()
    folder = base_folder.parent if hasattr(request.config, "workerinput") else base_folder
    return Flights(folder / "flights", simulator)
