"""One Prefect server for all runs of a worker, as a user's own server is: a run that starts one waits for it."""

from collections.abc import Iterator

import pytest

from uavsim.flows.server import TemporaryServer


@pytest.fixture(scope="session")
def prefect() -> Iterator[dict[str, str]]:
    """The variables that name the server."""
    with TemporaryServer() as server:
        yield {"PREFECT_API_URL": server.wait(), "PREFECT_API_AUTH_STRING": server.key}


@pytest.fixture(scope="module", autouse=True)
def _runs_use_it(prefect: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in prefect.items():
            patch.setenv(name, value)
        yield
