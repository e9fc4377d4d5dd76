"""A fixture for pytest, and a mark on the tests that start simulators; pytest finds this module by its entry point."""

from collections.abc import Iterator

import pytest

from headless_simulator.testing import RunningSimulator, running_simulator


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", "headless_simulator: starts a headless simulator; set by itself")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests that use the fixture or start simulators in their module, so that ``-m`` can exclude them."""
    uses = "headless_simulator" in getattr(item, "fixturenames", ())
    if uses or hasattr(getattr(item, "module", None), "running_simulator"):
        item.add_marker("headless_simulator")


@pytest.fixture(scope="session")
def headless_simulator() -> Iterator[RunningSimulator]:
    """A simulator with Town10HD that serves all tests of a session."""
    with running_simulator("--town", "Town10HD") as simulator:
        yield simulator
