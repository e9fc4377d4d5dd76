"""Each simulator of these tests has only the behaviours that its test names."""

import pytest


@pytest.fixture(autouse=True)
def only_named_behaviours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the variable that selects behaviours for all simulators of a test run."""
    monkeypatch.delenv("HEADLESS_SIMULATOR_BEHAVIOUR", raising=False)
