import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uavsim.annotate.fill import Intervals, amodal_pixels, fitted, nearness


def views(low, high, towards=None, weight=200.0) -> Intervals:
    low = np.asarray(low, float)
    directions = np.tile([0.0, 0.0, 1.0], (len(low), 1)) if towards is None else np.asarray(towards, float)
    return Intervals(directions, low, np.asarray(high, float), np.full(len(low), weight))


def test_unoccluded_views_determine_the_fill() -> None:
    fill = fitted(np.full(50, 0.9), views([0.7] * 50, [0.7] * 50))
    np.testing.assert_allclose(fill, 0.7, atol=0.005)


def test_interval_around_the_prior_changes_nothing() -> None:
    np.testing.assert_allclose(fitted(np.full(5, 0.8), views([0.3] * 5, [0.95] * 5)), 0.8, atol=1e-12)


def test_intervals_move_the_fill_to_their_bound() -> None:
    fill = fitted(np.full(60, 0.9), views([0.5] * 60, [0.8] * 60))
    assert np.all(fill < 0.82)
    assert np.all(fill > 0.79)


def test_outliers_are_ignored() -> None:
    under_a_bridge = views([0.1] * 20, [0.1] * 20)
    np.testing.assert_allclose(fitted(np.full(20, 0.8), under_a_bridge), 0.8)


def test_directions_are_fitted_separately() -> None:
    side, top = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    both = views([0.9] * 40 + [0.7] * 40, [0.9] * 40 + [0.7] * 40, towards=[top] * 40 + [side] * 40)
    fill = fitted(np.full(80, 0.8), both)
    np.testing.assert_allclose(fill[:40], 0.9, atol=0.01)
    np.testing.assert_allclose(fill[40:], 0.7, atol=0.01)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20), st.floats(0.2, 1.0))
def test_fill_stays_between_0_and_1(pairs: list[tuple[float, float]], guess: float) -> None:
    low, high = np.array([min(p) for p in pairs]), np.array([max(p) for p in pairs])
    fill = fitted(np.full(len(pairs), guess), views(low, high))
    assert np.isfinite(fill).all()
    assert (fill >= 0).all()
    assert (fill <= 1 + 1e-9).all()


def plainly_fitted(fill: np.ndarray, views: Intervals) -> np.ndarray:
    """Return (N,) fills by the algorithm of the module's docstring, for all pairs of views at once."""
    nearby = nearness(views.towards, views.towards) * views.weight
    for _ in range(5):
        clipped = np.clip(fill, views.low, views.high)
        fill_of_all = np.minimum(fill * (views.weight @ clipped + 150) / (views.weight @ fill + 150), 1.0)
        clipped = np.clip(fill_of_all, views.low, views.high)
        fill = (nearby @ clipped + 150 * fill_of_all) / (nearby.sum(axis=1) + 150)
    return fill


@given(st.floats(0, np.pi), st.integers(0, 2**32 - 1))
def test_nearness_is_a_gaussian_of_the_angle(angle: float, seed: int) -> None:
    first, other = np.random.default_rng(seed).normal(size=(2, 3))
    first /= np.linalg.norm(first)
    other -= first * (first @ other)
    second = np.cos(angle) * first + np.sin(angle) * other / np.linalg.norm(other)
    bell = np.exp(-(angle**2) / (2 * np.radians(8.0) ** 2))
    assert nearness(first[None], second[None])[0, 0] == pytest.approx(bell, rel=1 / 5000, abs=2e-6)


def test_fit_in_batches_equals_the_plain_algorithm() -> None:
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(700, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    low = rng.uniform(0.5, 0.9, 700)
    bounds = Intervals(directions, low, low + rng.uniform(0, 0.1, 700), rng.uniform(40, 900, 700))
    guess = np.full(700, 0.6)

    np.testing.assert_allclose(fitted(guess, bounds), plainly_fitted(guess, bounds), rtol=1e-10)
    assert (guess == 0.6).all()  # the caller's own is left as it was


def test_memory_of_a_scenes_views() -> None:
    rng = np.random.default_rng(6)
    directions = rng.normal(size=(20_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    bounds = views(np.full(20_000, 0.6), np.full(20_000, 0.8), towards=directions)

    tracemalloc.start()
    try:
        fitted(np.full(20_000, 0.7), bounds)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 60e6  # 20,000 views beside 1,500 reference views are 240 MB


def amodal(visible: int, silhouette: int, blockers: int, fill: float) -> int:
    found = amodal_pixels(
        np.array([visible]),
        silhouette_px=np.array([silhouette]),
        blockers_px=np.array([blockers]),
        fill=np.array([fill]),
    )
    return int(found[0])


@pytest.mark.parametrize(
    ("visible", "silhouette", "blockers", "fill", "expected"),
    [
        (80, 100, 0, 0.8, 80),  # in the open: what is seen
        (30, 100, 60, 0.8, 80),  # 60 pixels are covered: all of the expected 80
        (70, 100, 4, 0.8, 74),  # only 4 are covered: no more than these were hidden
        (10, 100, 5, 0.8, 80),  # hidden by what looks like ground: nothing is seen in front, the fill is trusted
        (90, 100, 0, 0.8, 90),  # more than expected is seen: it is at least that
        (0, 0, 0, 0.8, 0),
    ],
)
def test_amodal_pixels(visible: int, silhouette: int, blockers: int, fill: float, expected: int) -> None:
    assert amodal(visible, silhouette, blockers, fill) == expected


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0, 1))
def test_amodal_is_between_visible_and_silhouette(visible: int, more: int, blockers: int, fill: float) -> None:
    silhouette = visible + more
    assert visible <= amodal(visible, silhouette, min(blockers, silhouette - visible), fill) <= silhouette
