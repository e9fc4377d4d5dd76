"""A Prefect server that runs already, as a user's own does, and datasets that several tests look at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import RunningPrefect
from tests.e2e.flights import Flights


@pytest.fixture(scope="module")
def named_server(prefect: RunningPrefect) -> Iterator[None]:
    """Name the tests' Prefect server to the runs of a module; without it, runs do without Prefect."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_API_URL", prefect.url)
        patch.setenv("PREFECT_API_AUTH_STRING", prefect.key)
        yield


@pytest.fixture(scope="session")
def flights(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Flights:
    """Datasets that are made once in a run of the tests, by whichever worker needs one first."""
    own: Path = tmp_path_factory.getbasetemp()
    return Flights((own.parent if hasattr(request.config, "workerinput") else own) / "flights")
