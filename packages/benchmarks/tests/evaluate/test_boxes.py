"""Boxes as arrays: rows stay together, samples ascend, and invalid boxes are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.boxes import Boxes, ranks_within, yaw_of_quat

SAMPLES = st.lists(st.integers(0, 5), max_size=30)


def boxes(samples: list[int]) -> Boxes:
    """Return boxes with x equal to their index."""
    return Boxes.make(
        np.array(samples), np.zeros(len(samples)), np.c_[np.arange(len(samples)), np.zeros((len(samples), 2))]
    )


@given(SAMPLES)
def test_rows_are_sorted_by_sample_and_keep_their_order_within_it(samples: list[int]) -> None:
    made = boxes(samples)
    expected = sorted(range(len(samples)), key=lambda i: samples[i])  # Python's sort is stable
    assert made.centre_m[:, 0].tolist() == expected


@given(SAMPLES, st.sets(st.integers(0, 6)))
def test_rows_of_samples_are_all_of_theirs_and_no_others(samples: list[int], requested: set[int]) -> None:
    made = boxes(samples)
    rows = made.rows_of(np.array(sorted(requested), dtype=np.int64))
    assert rows.tolist() == [row for row, sample in enumerate(made.sample.tolist()) if sample in requested]
    assert len(made.take(rows)) == len(rows)


@given(SAMPLES, SAMPLES)
def test_parts_are_joined_sample_by_sample(first: list[int], second: list[int]) -> None:
    joined = Boxes.concat([boxes(first), boxes(second)])
    assert joined.sample.tolist() == sorted(first + second)
    assert len(Boxes.concat([])) == 0


@given(SAMPLES)
def test_ranks_count_within_a_group(samples: list[int]) -> None:
    ascending = sorted(samples)
    assert ranks_within(np.array(ascending, dtype=np.int64)).tolist() == [
        row - ascending.index(sample) for row, sample in enumerate(ascending)
    ]


@given(st.floats(-3.1, 3.1), st.floats(0.1, 10))
def test_the_heading_of_a_turn_about_z_is_its_angle_whatever_the_norm(yaw_rad: float, norm: float) -> None:
    quat_wxyz = norm * np.array([[np.cos(yaw_rad / 2), 0, 0, np.sin(yaw_rad / 2)]])
    assert yaw_of_quat(quat_wxyz)[0] == pytest.approx(yaw_rad, abs=1e-9)


def test_the_heading_of_nothing_is_zero() -> None:
    assert yaw_of_quat(np.zeros((1, 4))).tolist() == [0.0]


def test_what_is_no_box_is_refused() -> None:
    with pytest.raises(InputError, match="no column 'colour'"):
        Boxes.make(np.zeros(1), np.zeros(1), np.zeros((1, 3)), colour=np.zeros(1))
    made = boxes([0, 1])
    with pytest.raises(InputError, match="samples must be ascending"):
        made.take(np.array([1, 0]))
