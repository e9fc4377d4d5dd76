"""Fixtures that all rooms share: a headless simulator in a process of its own, and a home that is nobody's."""

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
    """Take SIGINT and SIGHUP as a terminal's programs do: what a shell or nohup starts ignores them, and tests send them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_sessionstart() -> None:
    """Keep the garbage collector at rest while thousands of tests are collected: what is made then stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let it go through what tests make, and no more through their own code: a twentieth of their time."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)


SLOW_ROOMS = ("e2e", "flows", "run", "hostile", "supervise", "simulate")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow rooms first: workers take files in this order, and none is left alone with a long one at the end."""
    here = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        room = item.path.relative_to(here).parts[0] if item.path.is_relative_to(here) else ""
        return SLOW_ROOMS.index(room) if room in SLOW_ROOMS else len(SLOW_ROOMS)

    items.sort(key=place)


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """CARLA's client caches maps in the home folder by name; tests must not read or leave any there."""
    with pytest.MonkeyPatch.context() as patch:
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        patch.setenv("XDG_CACHE_HOME", cache)  # towns that were built once are good for every test
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@dataclass(frozen=True)
class RunningPrefect:
    url: str
    key: str


@pytest.fixture(scope="session")
def prefect(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[RunningPrefect]:
    """One Prefect server for all tests, as a user's own is: the worker that needs it first starts it, and ends it last."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if hasattr(request.config, "workerinput") else own
    reported = folder / "prefect"
    with (
        (folder / "prefect.users").open("w") as users,
        (folder / "prefect.start").open("w") as start,
        contextlib.ExitStack() as ours,
    ):
        fcntl.flock(start, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        if not reported.exists():
            home = folder / "prefect.home"
            home.mkdir(exist_ok=True)
            server = ours.enter_context(prefect_server(home))
            ours.callback(reported.unlink, missing_ok=True)
            ours.callback(fcntl.flock, users, fcntl.LOCK_EX)  # last but one: nobody uses it any more
            ours.callback(fcntl.flock, start, fcntl.LOCK_EX)  # first: nobody becomes a user
            reported.write_text(f"{server.api} {server.key}")
        fcntl.flock(start, fcntl.LOCK_UN)
        yield RunningPrefect(*reported.read_text().split())


@pytest.fixture(scope="session")
def simulator(headless_simulator: RunningSimulator) -> RunningSimulator:
    return headless_simulator
