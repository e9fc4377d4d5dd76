"""Detect predictions in the ego frame: they are near objects only after a transform by the ego pose."""

from pathlib import Path
from typing import Final

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth

_NEAR_M: Final = 2.0
_SAMPLES: Final = 64  # checked; all samples share the mistake
_AS_GIVEN_AT_MOST: Final = 0.05
_MOVED_AT_LEAST: Final = 0.3


class FrameCheck:
    """Counter of true boxes with a near prediction, as given and after a transform by the ego pose."""

    def __init__(self, evaluated: Boxes, truth: Truth) -> None:
        self._evaluated, self._truth = evaluated, truth
        self._samples = self._boxes = self._as_given = self._moved = 0

    def add(self, found: Boxes) -> None:
        """Count a block of predictions."""
        for sample in np.unique(found.sample)[: max(0, _SAMPLES - self._samples)].tolist():
            true_rows = self._evaluated.sample_rows(sample)
            found_rows = found.sample_rows(sample)
            true, predicted = self._evaluated.centre_m[true_rows, :2], found.centre_m[found_rows, :2]
            if not len(true) or not len(predicted):
                continue
            yaw, ego = self._truth.ego_yaw_rad[sample], self._truth.ego_m[sample, :2]
            turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
            self._samples += 1
            self._boxes += len(true)
            self._as_given += _near(true, predicted)
            self._moved += max(_near(true, predicted @ turn.T + ego), _near(true, predicted + ego))

    def raise_if_wrong(self, path: Path) -> None:
        """Refuse predictions in the ego frame.

        Raises:
            InputError: predictions are only near true boxes after a transform by the ego pose.
        """
        if self._boxes < 10:
            return
        as_given, moved = self._as_given / self._boxes, self._moved / self._boxes
        if as_given <= _AS_GIVEN_AT_MOST and moved >= _MOVED_AT_LEAST:
            raise InputError(
                f"{path}: the boxes are in the ego's or lidar's frame: after a transform by the ego pose {moved:.0%} of the "
                f"true boxes have one within {_NEAR_M:g} m, without it {as_given:.0%}; write boxes in the global frame"
            )


def _near(true: FloatArray, predicted: FloatArray) -> int:
    # A few hundred boxes each: faster than importing a search tree.
    x_off_m, y_off_m = (true[:, axis, None] - predicted[:, axis] for axis in (0, 1))
    return int(((x_off_m * x_off_m + y_off_m * y_off_m).min(axis=1) < _NEAR_M**2).sum())
