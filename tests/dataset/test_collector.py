"""The collector of cycles rests while rows are made, and is then as it was."""

import gc

import pytest

from uavsim.dataset.collector import collector_paused


@collector_paused()
def _damaged() -> None:
    assert not gc.isenabled()
    raise ValueError("damaged")


def test_it_rests_and_goes_on_even_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="damaged"):
        _damaged()
    assert gc.isenabled()


def test_one_in_another_and_one_that_was_off_already() -> None:
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
