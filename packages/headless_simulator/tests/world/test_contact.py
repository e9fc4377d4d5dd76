import numpy as np
import pytest
from headless_simulator.world import contact
from hypothesis import given
from hypothesis import strategies as st

boxes: st.SearchStrategy[np.ndarray] = st.lists(
    st.tuples(
        st.floats(-20, 20), st.floats(-20, 20), st.floats(-1, 1), st.floats(-180, 180),
        st.floats(0.2, 5), st.floats(0.2, 3), st.floats(0.2, 2),
    ),
    min_size=1, max_size=12,
).map(np.array)  # fmt: skip


def test_two_cars_side_by_side_touch_when_their_sides_do():
    car = np.array([0.0, 0.0, 0.7, 0.0, 2.0, 1.0, 0.7])

    assert contact.overlap_depth(car, np.array([0.0, 2.1, 0.7, 0.0, 2.0, 1.0, 0.7])) <= 0
    assert contact.overlap_depth(car, np.array([0.0, 1.9, 0.7, 0.0, 2.0, 1.0, 0.7])) == pytest.approx(0.1)


def test_overlap_depth_of_a_corner_and_a_side():
    car = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 1.0, 1.0])
    turned = np.array([3.3, 0.0, 0.0, 45.0, 1.0, 1.0, 1.0])  # its corner is 1.414 ahead of its middle

    assert contact.overlap_depth(car, turned) == pytest.approx(2.0 + 2**0.5 - 3.3)


def test_boxes_above_each_other_do_not_touch():
    car = np.array([0.0, 0.0, 0.7, 0.0, 2.0, 1.0, 0.7])

    assert contact.overlap_depth(car, np.array([0.0, 0.0, 6.0, 0.0, 9.0, 9.0, 0.5])) < 0


@given(boxes)
def test_sweep_equals_a_brute_force_search(rows):
    slow = {
        (i, j) for i in range(len(rows)) for j in range(i + 1, len(rows)) if contact.overlap_depth(rows[i], rows[j]) > 0
    }

    found = contact.pairs(rows, np.argsort(rows[:, 0], kind="stable"))
    assert {tuple(pair) for pair in found.tolist()} == slow


@given(boxes)
def test_touching_is_mutual(rows):
    a, b = rows[0], rows[-1]

    forward, backward = contact.overlap_depth(a, b), contact.overlap_depth(b, a)
    assert (forward > 0) == (backward > 0)
    if forward > 0:  # apart, the first separating axis ends the search
        assert forward == pytest.approx(backward, abs=1e-9)
