"""Labels of small intruders that do not flicker: what is not decided stays, and a size is left by a margin only."""

from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray

HIDDEN, OPEN, SEEN = 0, 1, 2
_AOT_WIDTH_PX: Final = 2448.0
_SQUARES_PX: Final = (6.0, 16.0)  # in an image of AOT's width
_SURE_PX: Final = 16.0  # of any image: a mask of fewer pixels misses wings and tails
_MARGIN: Final = 1.2


def kept(states: IntArray) -> BoolArray:
    """Return (K,) whether an intruder is labelled: an ``OPEN`` image is as the one before it, the first ones as the next."""
    decided = np.flatnonzero(states != OPEN)
    if not len(decided):
        return np.zeros(len(states), dtype=np.bool_)
    last = np.maximum(np.searchsorted(decided, np.arange(len(states)), side="right") - 1, 0)
    return np.asarray(states[decided[last]] == SEEN)


def aot_boxes(
    box_px: FloatArray, middle_px: FloatArray, body_px: FloatArray, *, size_px: tuple[int, int]
) -> FloatArray:
    """Return (V, 4) boxes as AOT's people drew them: squares around what is small, else what is seen.

    In an image of AOT's width, 2448 px, the squares have 6 px, and from a longer side of that size on 16 px; in another image
    they are so much smaller or larger. What is longer than they are has its body's box up to 16 px, then the mask's. An
    intruder changes from one of these to another when its longer side is past the limit by a fifth.

    Args:
        box_px: (V, 4) left, top, width, height of the mask's pixels, in the order of time.
        middle_px: (V, 2) of the body.
        body_px: (V, 2) width and height of the body.
        size_px: width and height of the image.
    """
    limits = np.array([*(side * size_px[0] / _AOT_WIDTH_PX for side in _SQUARES_PX), _SURE_PX])
    step = _steps(body_px.max(axis=1), np.maximum.accumulate(limits))
    middle = np.clip(middle_px, 0.0, size_px)
    sides: FloatArray = np.where((step < 2)[:, None], limits[np.minimum(step, 1)][:, None], body_px)
    low, high = middle - sides / 2.0, middle + sides / 2.0
    body = (step == 2)[:, None]
    low, high = (np.where(body, np.clip(corner, 0.0, size_px), corner) for corner in (low, high))
    return np.where((step == 3)[:, None], box_px, np.concatenate([low, high - low], axis=1))


def _steps(length_px: FloatArray, limits: FloatArray) -> IntArray:
    """Return (V,) how many limits each length is past; one that was passed is left, and one that was not is, by a margin."""
    steps = np.zeros(len(length_px), dtype=np.int64)
    for row, length in enumerate(length_px.tolist()):
        if not row:
            steps[0] = int(np.searchsorted(limits, length, side="left"))
            continue
        least = int(np.searchsorted(limits * _MARGIN, length, side="left"))
        most = int(np.searchsorted(limits / _MARGIN, length, side="left"))
        steps[row] = min(max(int(steps[row - 1]), least), most)
    return steps
