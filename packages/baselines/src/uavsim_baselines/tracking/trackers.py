"""Two trackers: greedy by centre distance, as in CenterPoint and UAV3D, and Hungarian with a Kalman filter.

Sources: CenterPoint's ``PubTracker`` (Yin et al., CVPR 2021), which UAV3D's tracking uses; AB3DMOT (Weng et al., IROS 2020)
with distances of centres in place of overlaps, because boxes seen from above rarely overlap from sample to sample.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from uavsim_baselines.bev.boxes import Boxes

__all__ = ["TRACKERS", "GreedyTracker", "KalmanTracker", "Tracker"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
T = TypeVar("T")

_FAR: Final = 1e6
_SPREAD_OF_POSITION_M2: Final = 0.5**2
_SPREAD_OF_SPEED: Final = 3.0**2  # (m/s)^2, of a new track with a detected velocity
_ACCELERATION: Final = 2.0**2  # (m/s^2)^2, acceleration of vehicles


class Tracker(Protocol):
    """Assigns track numbers to the boxes of successive samples."""

    def step(self, boxes: Boxes, *, time_s: float) -> list[int]:
        """Return the track of each box of the next sample; frame ``map``."""
        ...


@dataclass(slots=True)
class _Track:
    number: int
    label: int
    position_m: FloatArray
    velocity_mps: FloatArray
    missed: int = 0


class _Numbering(Generic[T]):
    """State of both trackers: limits of distance and age, the clock, the tracks, and the next track's number.

    Args:
        reach_m: largest distance between a box and its track.
        keep: number of samples that a track survives without a box.
    """

    def __init__(self, *, reach_m: float = 4.0, keep: int = 3) -> None:
        self.reach_m, self.keep = reach_m, keep
        self._next, self._time_s = 0, 0.0
        self._tracks: list[T] = []

    def _elapsed_s(self, time_s: float) -> float:
        """Return the time since the last sample, and store the present one."""
        elapsed_s, self._time_s = time_s - self._time_s, time_s
        return elapsed_s

    def _new_number(self) -> int:
        number, self._next = self._next, self._next + 1
        return number


class GreedyTracker(_Numbering[_Track]):
    """Boxes by descending score, moved back by their velocity, take the nearest free track of their class."""

    def step(self, boxes: Boxes, *, time_s: float) -> list[int]:
        """Return the track of each box of the next sample."""
        elapsed_s = self._elapsed_s(time_s)
        positions, velocities, labels, scores = _arrays(boxes)
        free, numbers = dict(enumerate(self._tracks)), [-1] * len(boxes)
        alive: list[_Track] = []
        for n in np.argsort(-scores, kind="stable"):
            before = positions[n] - velocities[n] * elapsed_s
            rivals = [(float(np.hypot(*(t.position_m - before))), k) for k, t in free.items() if t.label == labels[n]]
            apart_m, nearest = min(rivals, default=(np.inf, -1))
            number = free.pop(nearest).number if apart_m <= self.reach_m else self._new_number()
            numbers[n] = number
            alive.append(_Track(number, int(labels[n]), positions[n], velocities[n]))
        for track in free.values():
            if track.missed < self.keep:
                moved = track.position_m + track.velocity_mps * elapsed_s
                alive.append(_Track(track.number, track.label, moved, track.velocity_mps, track.missed + 1))
        self._tracks = alive
        return numbers


@dataclass(slots=True)
class _Filtered:
    number: int
    label: int
    state: FloatArray  # x, y, vx, vy
    spread: FloatArray  # (4, 4)
    missed: int = 0


class KalmanTracker(_Numbering[_Filtered]):
    """Constant velocity with a Kalman filter; the assignment minimises the sum of distances."""

    def step(self, boxes: Boxes, *, time_s: float) -> list[int]:
        """Return the track of each box of the next sample."""
        elapsed_s = self._elapsed_s(time_s)
        for track in self._tracks:
            _predict(track, elapsed_s)
        positions, velocities, labels, _ = _arrays(boxes)
        numbers, taken = [-1] * len(boxes), set[int]()
        for n, k in self._assigned(positions, labels):
            track = self._tracks[k]
            _update(track, positions[n])
            track.missed, numbers[n] = 0, track.number
            taken.add(k)
        for k, track in enumerate(self._tracks):
            track.missed += k not in taken
        self._tracks = [track for track in self._tracks if track.missed <= self.keep]
        for n, number in enumerate(numbers):
            if number < 0:
                numbers[n] = self._new_number()
                spread = np.diag([_SPREAD_OF_POSITION_M2] * 2 + [_SPREAD_OF_SPEED] * 2)
                self._tracks.append(
                    _Filtered(numbers[n], int(labels[n]), np.concatenate([positions[n], velocities[n]]), spread)
                )
        return numbers

    def _assigned(self, positions: FloatArray, labels: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
        if not len(positions) or not self._tracks:
            return []
        predicted = np.array([track.state[:2] for track in self._tracks])
        of_class = np.array([track.label for track in self._tracks])
        apart = np.linalg.norm(positions[:, None] - predicted[None], axis=-1)
        allowed = (apart <= self.reach_m) & (labels[:, None] == of_class[None])
        rows, columns = linear_sum_assignment(np.where(allowed, apart, _FAR))
        return [(int(n), int(k)) for n, k in zip(rows, columns, strict=True) if allowed[n, k]]


def _predict(track: _Filtered, elapsed_s: float) -> None:
    step = np.eye(4)
    step[:2, 2:] = np.eye(2) * elapsed_s
    push = np.concatenate([np.eye(2) * elapsed_s**2 / 2.0, np.eye(2) * elapsed_s])
    track.state = step @ track.state
    track.spread = step @ track.spread @ step.T + push @ push.T * _ACCELERATION


def _update(track: _Filtered, position_m: FloatArray) -> None:
    gain = track.spread[:, :2] @ np.linalg.inv(track.spread[:2, :2] + np.eye(2) * _SPREAD_OF_POSITION_M2)
    track.state = track.state + gain @ (position_m - track.state[:2])
    track.spread = track.spread - gain @ track.spread[:2]


def _arrays(boxes: Boxes) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64], FloatArray]:
    velocity = np.nan_to_num(boxes.velocity_mps.numpy().astype(np.float64))
    positions = boxes.centre_m.numpy().astype(np.float64)[:, :2]
    return positions, velocity, boxes.label.numpy().astype(np.int64), boxes.score.numpy().astype(np.float64)


TRACKERS: Final[dict[str, Callable[..., Tracker]]] = {"greedy": GreedyTracker, "kalman": KalmanTracker}
