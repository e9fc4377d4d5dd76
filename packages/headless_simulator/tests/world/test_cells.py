"""Equality of indexed and full searches."""

import numpy as np
from headless_simulator.world import contact
from headless_simulator.world.cells import Cells, first_hits, nearest
from hypothesis import given
from hypothesis import strategies as st

coordinates = st.floats(-300, 300) | st.integers(-12, 12).map(lambda n: 24.0 * n)  # on the squares' edges, too
boxes: st.SearchStrategy[np.ndarray] = st.lists(
    st.tuples(
        coordinates, coordinates, st.floats(-1, 1), st.floats(-180, 180),
        st.floats(0.2, 60), st.floats(0.2, 3), st.floats(0.2, 2),
    ),
    min_size=0, max_size=12,
).map(lambda rows: np.array(rows, np.float64).reshape(-1, 7))  # fmt: skip
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=20).map(np.array)


@given(boxes, boxes)
def test_first_hits_equal_a_brute_force_search(cars, walls):
    slow = [contact.first_hit(car, walls) for car in cars]

    assert first_hits(cars, walls, Cells.of_boxes(walls)).tolist() == slow


@given(points, points)
def test_nearest_prefers_the_first_of_equal_samples(cars, samples):
    apart = ((samples[None] - cars[:, None]) ** 2) @ np.ones(2)

    assert nearest(cars, samples, Cells.of(samples, samples)).tolist() == apart.argmin(axis=1).tolist()


def test_nearest_works_far_outside_the_town():
    samples = np.array([[0.0, 0.0], [100.0, 0.0]])
    cells = Cells.of(samples, samples)

    assert nearest(np.array([[1e7, -1e7], [-1e7, 5.0], [1e200, 0.0]]), samples, cells).tolist() == [1, 0, 0]


def test_long_wall_is_hit_at_its_far_end():
    wall = np.array([[0.0, 0.0, 0.0, 0.0, 500.0, 0.1, 3.0]])
    car = np.array([[499.0, 0.5, 0.0, 90.0, 2.0, 1.0, 1.0]])

    assert first_hits(car, wall, Cells.of_boxes(wall)).tolist() == [0]


def test_no_boxes_give_no_hits():
    assert first_hits(np.zeros((1, 7)), np.zeros((0, 7)), Cells.of_boxes(np.zeros((0, 7)))).tolist() == [-1]
