"""The order that numpy below 1.25 gives: its introsort, on every machine and with every numpy.

UAV3D's code sorts by ``np.argsort(-score)``, and where scores are equal its AP depends on their order. UAV3D pins numpy 1.22.3
(install.md). numpy 1.25 and 2.0 sort by vector instructions, of which each processor has others, and leave ties elsewhere.

Source: the algorithm of numpy 1.22, ``numpy/core/src/npysort/quicksort.c.src`` and ``heapsort.c.src`` (median of three, the
larger part put off, insertion below 17 rows, heaps where it goes too deep).
"""

from typing import Final

import numpy as np

from uavsim.images.compiled import kernel
from uavsim.typing import FloatArray, IntArray

_SMALL: Final = 15
_MOST_PARTS: Final = 128


def argsort_as_pinned(values: FloatArray) -> IntArray:
    """Return (N,) rows that put finite values (N,) in ascending order."""
    rows = np.arange(len(values), dtype=np.int64)
    _introsort(np.ascontiguousarray(values, dtype=np.float64), rows)
    return rows


@kernel
def _introsort(values: FloatArray, rows: IntArray) -> None:
    parts = np.empty((_MOST_PARTS, 3), np.int64)  # begin, last and remaining depth of what was put off
    depth, left = 0, len(rows)
    while left > 1:
        depth, left = depth + 2, left >> 1
    count, begin, last = 0, 0, len(rows) - 1
    while True:
        if depth < 0:  # is looked at where a part is taken up, not while it is parted
            _heapsort(values, rows[begin : last + 1])
        else:
            while last - begin > _SMALL:
                at = _partition(values, rows, begin, last)
                depth -= 1
                if at - begin < last - at:
                    parts[count] = at + 1, last, depth
                    last = at - 1
                else:
                    parts[count] = begin, at - 1, depth
                    begin = at + 1
                count += 1
            _insertion(values, rows, begin, last)
        if count == 0:
            return
        count -= 1
        begin, last, depth = parts[count]


@kernel
def _partition(values: FloatArray, rows: IntArray, begin: int, last: int) -> int:
    """Put what is smaller than the median of three before it, what is larger behind; return its place."""
    middle = begin + ((last - begin) >> 1)
    for a, b in ((middle, begin), (last, middle), (middle, begin)):
        if values[rows[a]] < values[rows[b]]:
            rows[a], rows[b] = rows[b], rows[a]
    pivot = values[rows[middle]]
    up, down = begin, last - 1
    rows[middle], rows[down] = rows[down], rows[middle]
    while True:
        up += 1
        while values[rows[up]] < pivot:
            up += 1
        down -= 1
        while pivot < values[rows[down]]:
            down -= 1
        if up >= down:
            break
        rows[up], rows[down] = rows[down], rows[up]
    rows[up], rows[last - 1] = rows[last - 1], rows[up]
    return up


@kernel
def _insertion(values: FloatArray, rows: IntArray, begin: int, last: int) -> None:
    for at in range(begin + 1, last + 1):
        row, place = rows[at], at
        while place > begin and values[row] < values[rows[place - 1]]:
            rows[place] = rows[place - 1]
            place -= 1
        rows[place] = row


@kernel
def _heapsort(values: FloatArray, rows: IntArray) -> None:
    for top in range(len(rows) // 2, 0, -1):
        _sift(values, rows, rows[top - 1], top, len(rows))
    for size in range(len(rows) - 1, 0, -1):
        row = rows[size]
        rows[size] = rows[0]
        _sift(values, rows, row, 1, size)


@kernel
def _sift(values: FloatArray, rows: IntArray, row: int, top: int, size: int) -> None:
    """Let a row sink from a place (1 is the first) until nothing below it is larger."""
    child = 2 * top
    while child <= size:
        if child < size and values[rows[child - 1]] < values[rows[child]]:
            child += 1
        if values[row] >= values[rows[child - 1]]:
            break
        rows[top - 1] = rows[child - 1]
        top, child = child, 2 * child
    rows[top - 1] = row
