"""Shutters calculated by hand: a hundred rows, read in 40 ms, in a simulation with steps of 10 ms."""

import numpy as np
import pytest

from uavsim.geometry.shutter import Shutter


def test_rows_belong_to_the_nearest_tick() -> None:
    """The middle of row 12 is at 5.0 ms, half way to the tick at 10 ms, which gets the row."""
    shutter = Shutter(exposure_us=0, readout_us=40_000, step_us=10_000)
    first = shutter.first_ticks(100)
    assert shutter.steps == 4
    assert [int((first == tick).sum()) for tick in range(5)] == [12, 25, 25, 25, 13]
    assert first[11:13].tolist() == [0, 1]
    assert shutter.row_times_us(100)[[0, 99]].tolist() == [200.0, 39_800.0]
    assert np.abs(first * 10_000 - shutter.row_times_us(100)).max() <= 5_000
    np.testing.assert_array_equal(shutter.middle_ticks(100), first)


def test_weights_are_the_trapezoidal_rule() -> None:
    """A light that grows by 1 per tick gives its mean: 1.5 over three ticks."""
    shutter = Shutter(exposure_us=30_000, readout_us=0, step_us=10_000)
    assert shutter.steps == 3
    np.testing.assert_allclose(shutter.weights, [1 / 6, 1 / 3, 1 / 3, 1 / 6])
    assert float(shutter.weights @ np.arange(4)) == pytest.approx(1.5)
    assert set(shutter.first_ticks(100)) == {0}
    assert set(shutter.middle_ticks(100)) == {1}


def test_steps_covers_exactly_the_used_ticks() -> None:
    shutter = Shutter(exposure_us=20_000, readout_us=60_000, step_us=10_000)
    first = shutter.first_ticks(90)
    used = {int(tick) + more for tick in first for more in range(len(shutter.weights))}
    assert used == set(range(shutter.steps + 1))
