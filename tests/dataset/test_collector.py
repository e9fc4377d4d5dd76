"""The garbage collector is disabled while rows are made, then restored."""

import gc

import pytest

from uavsim.dataset.collector import collector_paused


@collector_paused()
def _damaged() -> None:
    assert not gc.isenabled()
    raise ValueError("damaged")


def test_collector_is_enabled_again_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="damaged"):
        _damaged()
    assert gc.isenabled()


def test_nested_pauses_and_a_disabled_collector_keep_the_state() -> None:
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
