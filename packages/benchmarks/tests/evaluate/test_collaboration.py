"""Shapley's axioms, its definition by brute force, and a case calculated by hand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.errors import InputError
from uavsim.typing import FloatArray
from uavsim_benchmarks.evaluate.swarm.collaboration import (
    drone_gains,
    pairwise_help,
    shapley_values,
    subset_diversity_deg,
    subset_pixels,
)


@st.composite
def games(draw: st.DrawFn, most: int = 5) -> FloatArray:
    drones = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, 1000, (3, 2**drones)).astype(float)


@given(games())
def test_values_add_up_to_what_the_swarm_has(values: FloatArray) -> None:
    np.testing.assert_allclose(shapley_values(values).sum(axis=-1), values[:, -1] - values[:, 0], atol=1e-9)


@given(games(), games(), st.floats(-3, 3))
def test_values_are_linear(one: FloatArray, other: FloatArray, factor: float) -> None:
    if one.shape == other.shape:
        both = shapley_values(one + factor * other)
        np.testing.assert_allclose(both, shapley_values(one) + factor * shapley_values(other), atol=1e-8)


@given(games(4), st.integers(0, 3))
def test_a_drone_that_adds_nothing_is_worth_nothing(values: FloatArray, idle: int) -> None:
    drones = values.shape[-1].bit_length() - 1
    idle %= drones
    subsets = np.arange(2**drones)
    without = values[:, subsets & ~(1 << idle)]
    assert np.abs(shapley_values(without)[:, idle]).max() < 1e-9
    assert np.abs(drone_gains(without)[:, idle]).max() == 0


@given(games(4))
def test_the_value_is_the_mean_gain_over_all_orders(values: FloatArray) -> None:
    drones = values.shape[-1].bit_length() - 1
    orders = list(permutations(range(drones)))
    expected = np.zeros((len(values), drones))
    for order in orders:
        before = 0
        for drone in order:
            expected[:, drone] += (values[:, before | 1 << drone] - values[:, before]) / len(orders)
            before |= 1 << drone
    np.testing.assert_allclose(shapley_values(values), expected, atol=1e-9)


@given(games(4), st.randoms())
def test_names_do_not_matter(values: FloatArray, random: object) -> None:
    drones = values.shape[-1].bit_length() - 1
    order = list(range(drones))
    random.shuffle(order)  # type: ignore[attr-defined]
    subsets = np.arange(2**drones)
    renamed = sum(((subsets >> new) & 1) << old for new, old in enumerate(order))
    np.testing.assert_allclose(shapley_values(values[:, renamed]), shapley_values(values)[:, order], atol=1e-9)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=6))
def test_pixels_add_so_each_drone_is_worth_its_own(pixels: list[int]) -> None:
    values = subset_pixels(np.array([pixels]))
    np.testing.assert_allclose(shapley_values(values)[0], pixels, atol=1e-8)
    np.testing.assert_allclose(drone_gains(values)[0], pixels, atol=1e-8)


def test_angles_on_paper() -> None:
    """Drones are east, north and west of the object; the third one does not see it."""
    rays = np.array([[[2.0, 0, 0], [0, 5.0, 0], [-1.0, 0, 0]]] * 2)
    visible = np.array([[True, True, False], [True, True, True]])
    angles = subset_diversity_deg(rays, visible)
    np.testing.assert_allclose(angles[0], [0, 0, 0, 90, 0, 0, 0, 90], atol=1e-6)
    np.testing.assert_allclose(angles[1], [0, 0, 0, 90, 0, 180, 90, 180], atol=1e-6)
    east, north, west = shapley_values(angles)[1]
    assert (east, north, west) == pytest.approx((75.0, 30.0, 75.0))  # by hand: six orders
    assert drone_gains(angles)[1].tolist() == pytest.approx([90.0, 0.0, 90.0])
    helped = pairwise_help(angles)[1]
    assert helped.tolist() == [pytest.approx(row) for row in ([0, 90, 180], [90, 0, 90], [180, 90, 0])]


def test_a_number_that_is_none_of_subsets_is_refused() -> None:
    for count in (1, 6, 2**17):
        with pytest.raises(InputError, match="one per subset"):
            shapley_values(np.zeros((1, count)))
