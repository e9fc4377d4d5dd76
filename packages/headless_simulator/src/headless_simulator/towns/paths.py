"""Reference lines of lines and arcs for procedural towns. OpenDRIVE's axes, metres, radians."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Pose:
    """A position and a heading, counter-clockwise from x."""

    x: float
    y: float
    heading_rad: float

    def ahead(self, distance_m: float) -> Pose:
        """The pose straight ahead."""
        h = self.heading_rad
        return Pose(self.x + distance_m * math.cos(h), self.y + distance_m * math.sin(h), h)

    def right(self, distance_m: float) -> Pose:
        """The pose that far to the right, same heading."""
        h = self.heading_rad
        return Pose(self.x + distance_m * math.sin(h), self.y - distance_m * math.cos(h), h)

    def turned(self) -> Pose:
        """Return the pose in the opposite direction."""
        return Pose(self.x, self.y, wrap(self.heading_rad + math.pi))


def wrap(angle_rad: float) -> float:
    """The same angle in (-pi, pi]."""
    return math.pi - (math.pi - angle_rad) % (2 * math.pi)


@dataclass(frozen=True, slots=True)
class Path:
    """A chain of (length, curvature) pieces from a start pose."""

    start: Pose
    pieces: tuple[tuple[float, float], ...]

    @property
    def length_m(self) -> float:
        """Total length, metres."""
        return sum(length for length, _ in self.pieces)

    def at(self, s: float) -> Pose:
        """Return the pose at a distance from the start; the last piece extends past the end."""
        pose = self.start
        for number, (length, bend) in enumerate(self.pieces):
            last = number == len(self.pieces) - 1
            step = s if last else min(s, length)
            pose = _advance(pose, step, bend)
            s -= step
            if s <= 0 and not last:
                return pose
        return pose

    @property
    def end(self) -> Pose:
        """Pose at the end."""
        return self.at(self.length_m)

    def trimmed(self, from_start_m: float, from_end_m: float) -> Path:
        """The path without its first and last metres."""
        low, high = from_start_m, self.length_m - from_end_m
        if high - low < 1.0:
            raise ValueError(f"a path of {self.length_m:.1f} m is too short to cut {low:.1f} and {from_end_m:.1f} m")
        remaining, s = [], 0.0
        for length, bend in self.pieces:
            share = min(high, s + length) - max(low, s)
            if share > 1e-6:
                remaining.append((share, bend))
            s += length
        return Path(self.at(low), tuple(remaining))


def _advance(pose: Pose, step: float, bend: float) -> Pose:
    if abs(bend) < 1e-12:
        return pose.ahead(step)
    h = pose.heading_rad
    g = h + step * bend
    return Pose(pose.x + (math.sin(g) - math.sin(h)) / bend, pose.y - (math.cos(g) - math.cos(h)) / bend, g)


def rounded(points: list[Point], radius_m: float | list[float]) -> Path:
    """Return a line through points with rounded inner corners.

    Args:
        points: at least two.
        radius_m: radius of every corner, or one per inner point.
    """
    radii = radius_m if isinstance(radius_m, list) else [radius_m] * (len(points) - 2)
    headings = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(points)]
    spans = [math.dist(a, b) for a, b in pairwise(points)]
    pieces: list[tuple[float, float]] = []
    used = 0.0
    for number, span in enumerate(spans):
        if number == len(spans) - 1:
            pieces.append((span - used, 0.0))
            break
        turn = wrap(headings[number + 1] - headings[number])
        radius = radii[number]
        tangent = radius * math.tan(abs(turn) / 2)
        room = span - used - tangent
        if room < -1e-6 or tangent > spans[number + 1] + 1e-6:
            raise ValueError(f"corner {number + 1} of a street is too tight for a radius of {radius:.1f} m")
        pieces.append((max(room, 0.0), 0.0))
        if abs(turn) > 1e-9:
            pieces.append((radius * abs(turn), math.copysign(1 / radius, turn)))
        used = tangent
    start = Pose(points[0][0], points[0][1], headings[0])
    return Path(start, tuple(piece for piece in pieces if piece[0] > 1e-6))


def arc(start: Pose, radius_m: float, turn_rad: float) -> Path:
    """Return one arc; ``turn_rad`` is positive to the left."""
    return Path(start, ((radius_m * abs(turn_rad), math.copysign(1 / radius_m, turn_rad)),))


def connect(start: Pose, end: Pose, radius_m: float | None = None) -> Path:
    """Return a smooth path between two poses: line and arc if possible, else two arcs.

    Args:
        start: start pose.
        end: end pose.
        radius_m: radius of the arc; None: the largest possible.
    """
    turn = wrap(end.heading_rad - start.heading_rad)
    dx, dy = end.x - start.x, end.y - start.y
    cos, sin = math.cos(start.heading_rad), math.sin(start.heading_rad)
    forward, left = dx * cos + dy * sin, dy * cos - dx * sin
    if abs(turn) < 1e-6 and abs(left) < 1e-4 and forward > 0:
        return Path(start, ((forward, 0.0),))
    if abs(math.sin(turn)) > 0.05:
        second = left / math.sin(turn)
        first = forward - second * math.cos(turn)
        if first > 0.05 and second > 0.05:
            tangent = min(first, second)
            if radius_m is not None:
                tangent = min(tangent, radius_m * math.tan(abs(turn) / 2))
            radius = tangent / math.tan(abs(turn) / 2)
            pieces = (
                (first - tangent, 0.0),
                (radius * abs(turn), math.copysign(1 / radius, turn)),
                (second - tangent, 0.0),
            )
            return Path(start, tuple(piece for piece in pieces if piece[0] > 1e-6))
    return _biarc(start, end)


def _biarc(start: Pose, end: Pose) -> Path:
    t0 = np.array([math.cos(start.heading_rad), math.sin(start.heading_rad)])
    t1 = np.array([math.cos(end.heading_rad), math.sin(end.heading_rad)])
    v = np.array([end.x - start.x, end.y - start.y])
    along, spread = float(v @ (t0 + t1)), 2 * (1 - float(t0 @ t1))
    if spread > 1e-9:
        d = (-along + math.sqrt(along * along + spread * float(v @ v))) / spread
    else:
        d = float(v @ v) / (4 * float(v @ t1))
    middle = (np.array([start.x, start.y]) + d * t0 + np.array([end.x, end.y]) - d * t1) / 2
    pieces, pose = [], start
    for target in (middle, np.array([end.x, end.y])):
        chord = target - np.array([pose.x, pose.y])
        direction = np.array([math.cos(pose.heading_rad), math.sin(pose.heading_rad)])
        cross = float(direction[0] * chord[1] - direction[1] * chord[0])
        distance = float(np.hypot(*chord))
        turn = 2 * math.atan2(cross, float(direction @ chord))
        straight = abs(turn) < 1e-7
        bend = 0.0 if straight else 2 * math.sin(turn / 2) / distance
        length = distance if straight else turn / bend
        pieces.append((length, bend))
        pose = _advance(pose, length, bend)
    return Path(start, tuple(pieces))
