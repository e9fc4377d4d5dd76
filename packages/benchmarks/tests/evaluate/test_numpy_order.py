"""The order of numpy 1.22's introsort; that of 200 cases with ties is held by test_references."""

import numpy as np
import pytest

from uavsim_benchmarks.evaluate.numpy_order import argsort_as_pinned

OF_18_EQUAL = [0, *range(15, 0, -1), 16, 17]


def test_few_rows_keep_their_order() -> None:
    assert argsort_as_pinned(np.zeros(16)).tolist() == list(range(16))


def test_more_equal_rows_fall_as_in_numpy_1_22() -> None:
    assert argsort_as_pinned(np.zeros(18)).tolist() == OF_18_EQUAL


@pytest.mark.parametrize("count", [0, 1, 17, 400, 50_000])
def test_it_sorts(count: int) -> None:
    values = np.random.default_rng(count).integers(0, 9, count).astype(np.float64)
    rows = argsort_as_pinned(values)
    assert sorted(rows.tolist()) == list(range(count))
    assert (np.diff(values[rows]) >= 0).all()


def test_values_that_are_bad_for_medians_of_three_go_to_heaps() -> None:
    half = 25_000
    values = np.zeros(2 * half)
    for place in range(1, half + 1):
        if place % 2:
            values[place - 1] = place
            if place < half:
                values[place] = half + place
        values[half + place - 1] = 2 * place
    rows = argsort_as_pinned(values)
    assert (np.diff(values[rows]) >= 0).all()
