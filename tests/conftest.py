"""Shared fixtures: a headless simulator in its own process, and an empty home folder."""

import contextlib
import fcntl
import gc
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from headless_simulator.testing import RunningSimulator
from hypothesis import settings

from uavsim.flows.server import prefect_server

# The same sources draw the same examples; a busy machine is no failure, and numba compiles on first use.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("new", deadline=None)  # scripts/test --new-examples
settings.load_profile(os.environ.get("UAVSIM_TEST_EXAMPLES", "repeatable"))


def pytest_configure() -> None:
    """Restore the default SIGINT and SIGHUP, which background jobs and nohup ignore; tests send them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_sessionstart() -> None:
    """Disable the garbage collector during the collection of tests, because its objects stay alive."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude the collected objects from garbage collection, which saves a twentieth of the time."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)


SLOW_FOLDERS = ("e2e", "flows", "run", "hostile", "supervise", "simulate")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow folders first: workers take files in this order, so that no long file runs alone at the end."""
    here = Path(__file__).parent

    def slow_folder_order(item: pytest.Item) -> int:
        folder = item.path.relative_to(here).parts[0] if item.path.is_relative_to(here) else ""
        return SLOW_FOLDERS.index(folder) if folder in SLOW_FOLDERS else len(SLOW_FOLDERS)

    items.sort(key=slow_folder_order)


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """CARLA's client caches maps in the home folder by name; tests must not read or leave any there."""
    with pytest.MonkeyPatch.context() as patch:
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        patch.setenv("XDG_CACHE_HOME", cache)  # built towns are shared by all tests
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@dataclass(frozen=True)
class RunningPrefect:
    url: str
    key: str


@pytest.fixture(scope="session")
def prefect(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[RunningPrefect]:
    """Yield one Prefect server for all tests; the first test worker that needs it starts it, and the last one ends it."""
    base_folder = tmp_path_factory.getbasetemp()
    folder = base_folder.parent if hasattr(request.config, "workerinput") else base_folder
    reported = folder / "prefect"
    with (
        (folder / "prefect.users").open("w") as users,
        (folder / "prefect.start").open("w") as start,
        contextlib.ExitStack() as stack,
    ):
        fcntl.flock(start, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        if not reported.exists():
            home = folder / "prefect.home"
            home.mkdir(exist_ok=True)
            server = stack.enter_context(prefect_server(home))
            stack.callback(reported.unlink, missing_ok=True)
            stack.callback(fcntl.flock, users, fcntl.LOCK_EX)  # last but one: no user is left
            stack.callback(fcntl.flock, start, fcntl.LOCK_EX)  # first: no new user
            reported.write_text(f"{server.api} {server.key}")
        fcntl.flock(start, fcntl.LOCK_UN)
        yield RunningPrefect(*reported.read_text().split())


@pytest.fixture(scope="session")
def simulator(headless_simulator: RunningSimulator) -> RunningSimulator:
    return headless_simulator
