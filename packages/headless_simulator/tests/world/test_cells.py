"""Equality of indexed and full searches."""

import numpy as np
from headless_simulator.world.cells import Cells, nearest_to
from hypothesis import given
from hypothesis import strategies as st

coordinates = st.floats(-300, 300) | st.integers(-12, 12).map(lambda n: 24.0 * n)  # on the squares' edges, too
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=20).map(np.array)


def nearest(points_m: np.ndarray, samples: np.ndarray) -> list[int]:
    cells = Cells.of(samples, samples)
    return [nearest_to(x, y, samples, cells) for x, y in points_m.tolist()]


@given(points, points)
def test_nearest_prefers_the_first_of_equal_samples(cars, samples):
    apart = ((samples[None] - cars[:, None]) ** 2) @ np.ones(2)

    assert nearest(cars, samples) == apart.argmin(axis=1).tolist()


def test_nearest_works_far_outside_the_town():
    samples = np.array([[0.0, 0.0], [100.0, 0.0]])

    assert nearest(np.array([[1e7, -1e7], [-1e7, 5.0], [1e200, 0.0]]), samples) == [1, 0, 0]
