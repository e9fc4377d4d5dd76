"""Centre lines as arcs, nuScenes' ``arcline_path_3``, fitted to all lanes of a town at once.

A biarc, two arcs that meet smoothly, connects two points with directions. Intervals are halved until no biarc deviates from
the centre line by more than 5 mm. Source of the form: nuscenes-devkit, map_expansion/arcline_path_utils.py.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict

_TOLERANCE_M: Final = 0.005
_SHORTEST_M: Final = 1e-4
_STRAIGHT: Final = 1e-7  # 1/m


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Arcs of several lines, end to end.

    Attributes:
        lane: (A,) index of each arc's line.
        pose: (A, 3) x, y, yaw at the start, metres and radians.
        curvature: (A,) 1/m, positive to the left.
        length_m: (A,) lengths.
    """

    lane: IntArray
    pose: FloatArray
    curvature: FloatArray
    length_m: FloatArray

    def records(self, lanes: int) -> list[list[JsonDict]]:
        """Return the ``arcline_path_3`` of each of ``lanes`` lines."""
        paths: list[list[JsonDict]] = [[] for _ in range(lanes)]
        columns = (self.lane.tolist(), self.pose.tolist(), self.curvature.tolist(), self.length_m.tolist())
        for lane, pose, bent, length in zip(*columns, strict=True):
            straight = abs(bent) < _STRAIGHT
            paths[lane].append(
                {
                    "start_pose": pose,
                    "end_pose": _end(pose, bent, length),
                    "shape": "RSR" if bent < 0 else "LSL",
                    "radius": 999.999 if straight else 1.0 / abs(bent),
                    "segment_length": [0.0, length, 0.0] if straight else [length, 0.0, 0.0],
                }
            )
        return paths


def _end(pose: list[float], bent: float, length: float) -> list[float]:
    half = bent * length / 2
    chord = length * float(np.sinc(half / np.pi))
    yaw = pose[2] + half
    return [pose[0] + chord * float(np.cos(yaw)), pose[1] + chord * float(np.sin(yaw)), pose[2] + 2 * half]


def fit_arcs(lines: list[tuple[FloatArray, FloatArray]]) -> Arcs:
    """Fit arcs to lines.

    Args:
        lines: (N, 2) points in metres, N > 1, and (N,) directions in radians, of each line.
    """
    sizes = np.array([len(points) for points, _ in lines], dtype=np.int64)
    points = np.concatenate([points for points, _ in lines])
    yaw = np.concatenate([yaw for _, yaw in lines])
    last = np.cumsum(sizes) - 1
    begin, end = last - sizes + 1, last
    done: list[tuple[IntArray, IntArray]] = []
    while len(begin):
        bad = (end - begin > 1) & _deviates(points, yaw, begin, end)
        done.append((begin[~bad], end[~bad]))
        middle = (begin[bad] + end[bad]) // 2
        begin, end = np.concatenate([begin[bad], middle]), np.concatenate([middle, end[bad]])
    begin, end = (np.concatenate(part) for part in zip(*done, strict=True))
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    return _joined(_Biarcs(points, yaw, begin, end), np.searchsorted(last, begin))


class _Biarcs:
    """Biarcs between points ``begin`` and ``end``."""

    def __init__(self, points: FloatArray, yaw: FloatArray, begin: IntArray, end: IntArray) -> None:
        self.start, self.stop = points[begin], points[end]
        self.yaw, self.yaw_end = yaw[begin], yaw[end]
        t0, t1 = _direction(self.yaw), _direction(self.yaw_end)
        across = self.stop - self.start
        along = np.sum(across * (t0 + t1), axis=1)
        square = np.sum(across * across, axis=1)
        turn = 2.0 * (1.0 - np.sum(t0 * t1, axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = (np.sqrt(along**2 + turn * square) - along) / turn
            reach = np.where(turn > 1e-9, bent, square / (2.0 * along))
        reach = np.nan_to_num(reach, nan=0.0, posinf=0.0, neginf=0.0)  # equal points or opposite directions
        self.middle = (self.start + self.stop + reach[:, None] * (t0 - t1)) / 2.0
        self.curvature = np.stack(
            [_curvature(t0, self.middle - self.start), -_curvature(-t1, self.middle - self.stop)], axis=1
        )
        halves = np.stack([self.middle - self.start, self.stop - self.middle], axis=1)
        chord = np.linalg.norm(halves, axis=2)
        turned = np.arcsin(np.clip(self.curvature * chord / 2.0, -1.0, 1.0))
        self.length_m = chord / np.maximum(np.sinc(turned / np.pi), 1e-9)
        self.yaw_middle = self.yaw + 2.0 * turned[:, 0]
        with np.errstate(invalid="ignore"):
            self.wild = ~(self.length_m.sum(axis=1) < 1.6 * np.sqrt(square) + 1e-9)


def _direction(yaw: FloatArray) -> FloatArray:
    return np.stack([np.cos(yaw), np.sin(yaw)], axis=1)


def _curvature(tangent: FloatArray, chord: FloatArray) -> FloatArray:
    """Return (I,) curvatures of arcs that begin along (I, 2) tangents and end at (I, 2) chords."""
    cross = tangent[:, 0] * chord[:, 1] - tangent[:, 1] * chord[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 2.0 * cross / np.sum(chord * chord, axis=1)
    return np.asarray(np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0))


def _deviates(points: FloatArray, yaw: FloatArray, begin: IntArray, end: IntArray) -> BoolArray:
    """Return (I,) bool, True if the biarc of an interval deviates from a point between begin and end."""
    arcs = _Biarcs(points, yaw, begin, end)
    inner = np.maximum(end - begin - 1, 0)
    arc_rows = np.repeat(np.arange(len(begin)), inner)
    indices = np.arange(inner.sum()) - np.repeat(np.cumsum(inner) - inner, inner) + 1 + np.repeat(begin, inner)
    between = points[indices]
    second = np.sum((between - arcs.middle[arc_rows]) * _direction(arcs.yaw_middle)[arc_rows], axis=1) > 0
    origin = np.where(second[:, None], arcs.middle[arc_rows], arcs.start[arc_rows])
    heading = np.where(second, arcs.yaw_middle[arc_rows], arcs.yaw[arc_rows])
    bent = arcs.curvature[arc_rows, second.astype(np.int64)]
    x, y = (between - origin).T
    cos, sin = np.cos(heading), np.sin(heading)
    ahead, left = x * cos + y * sin, y * cos - x * sin
    square = ahead**2 + left**2
    off = (bent * square - 2.0 * left) / (1.0 + np.sqrt(np.maximum(1.0 + bent * (bent * square - 2.0 * left), 0.0)))
    bad: BoolArray = arcs.wild.copy()
    np.logical_or.at(bad, arc_rows, ~(np.abs(off) < _TOLERANCE_M))
    return bad


def _joined(arcs: _Biarcs, lane: IntArray) -> Arcs:
    """Return the arcs in order, with equal arcs joined and without arcs too short for the devkit."""
    first, second = arcs.curvature.T
    whole = arcs.length_m.sum(axis=1)
    alike = (np.abs(first - second) * whole**2 < 8e-4) | (arcs.length_m.min(axis=1) < _SHORTEST_M)
    mean = np.sum(arcs.curvature * arcs.length_m, axis=1) / np.maximum(whole, 1e-12)
    pose = np.stack([np.column_stack([arcs.start, arcs.yaw]), np.column_stack([arcs.middle, arcs.yaw_middle])], axis=1)
    bent = np.stack([np.where(alike, mean, first), second], axis=1)
    length = np.stack([np.where(alike, whole, arcs.length_m[:, 0]), arcs.length_m[:, 1]], axis=1)
    first_of_lane = np.diff(lane, prepend=-1) != 0  # each lane keeps at least one arc
    keeps_first = (whole > _SHORTEST_M) | first_of_lane
    keeps = np.stack([keeps_first, ~alike & (whole > _SHORTEST_M)], axis=1)
    length = np.maximum(length, _SHORTEST_M)
    lanes = np.stack([lane, lane], axis=1)
    return Arcs(lanes[keeps], pose[keeps], bent[keeps], length[keeps])
