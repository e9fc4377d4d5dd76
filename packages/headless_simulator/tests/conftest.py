"""Fixtures of all tests: a headless simulator in a separate process, and an empty home folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_simulator.testing import RunningSimulator
from hypothesis import settings

# The same sources draw the same examples; a busy machine is no failure, and numba compiles on first use.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("new", deadline=None)  # scripts/test --new-examples
settings.load_profile(os.environ.get("UAVSIM_TEST_EXAMPLES", "repeatable"))


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """CARLA's client caches maps in the home folder by name; tests must not read or leave any there."""
    with pytest.MonkeyPatch.context() as patch:
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        patch.setenv("XDG_CACHE_HOME", cache)  # all tests share the built towns
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def simulator(headless_simulator: RunningSimulator) -> RunningSimulator:
    return headless_simulator
