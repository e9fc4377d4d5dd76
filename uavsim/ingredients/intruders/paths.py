"""Solve paths of intruders from the requested closest approach: pure functions, metres, seconds, the map frame.

An intruder flies at constant speed along the ground. A ``Profile`` gives its turn rate and change of vertical speed over time,
so its position is linear in its first velocity. The solver finds the point of closest approach: a point on the sphere of that
distance around the own drone at which the relative velocity is perpendicular to the line between both. This point and the
begin of the encounter determine the path.
"""

import cmath
import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.typing import FloatArray

__all__ = ["Chord", "Impossible", "OwnPath", "Profile", "profile", "solve_chord"]

ComplexArray: TypeAlias = npt.NDArray[np.complex128]
_HALVINGS: Final = 60
_LEAST_PROGRESS: Final = 0.2  # of a constant turn: beyond 4.5 rad the intruder returns to its start
_RAMP_S: Final = 2.0  # duration of the begin of a climb


class Impossible(Exception):
    """No path fulfils the request; internal to the search.

    Attributes:
        reason: the reason as text.
        on_any_side: whether the request is impossible on every side.
    """

    def __init__(self, reason: str, *, on_any_side: bool = False) -> None:
        """Store the reason."""
        super().__init__(reason)
        self.reason, self.on_any_side = reason, on_any_side


@dataclass(frozen=True, slots=True, eq=False)
class OwnPath:
    """The camera drone's own path, sampled evenly.

    Args:
        time_s: (K,) times from 0.
        position_m: (K, 3) positions in the map frame.
    """

    time_s: FloatArray
    position_m: FloatArray

    @property
    def step_s(self) -> float:
        """Time between two samples."""
        return float(self.time_s[1] - self.time_s[0])

    def at(self, time_s: float) -> tuple[FloatArray, FloatArray]:
        """Return the (3,) position, metres, and (3,) velocity, m/s, at a time within the path."""
        last = len(self.time_s) - 1
        sample = min(max(time_s / self.step_s, 0.0), last)
        first = min(int(sample), last - 1)
        share, p = sample - first, self.position_m
        before, after = self._velocity(first), self._velocity(first + 1)
        return p[first] + share * (p[first + 1] - p[first]), before + share * (after - before)

    def _velocity(self, sample: int) -> FloatArray:
        low, high = max(sample - 1, 0), min(sample + 1, len(self.time_s) - 1)
        return np.asarray((self.position_m[high] - self.position_m[low]) / ((high - low) * self.step_s))


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The changes of an intruder's course and vertical speed since the encounter's begin.

    Args:
        turned_rad: (K,) course less the first course, counter-clockwise.
        way: (K,) complex displacements along the ground, x + i y, for a first velocity of 1 m/s along x.
        climb_mps: (K,) vertical speed less the first vertical speed.
        climbed_m: (K,) integral of ``climb_mps``.
    """

    turned_rad: FloatArray
    way: ComplexArray
    climb_mps: FloatArray
    climbed_m: FloatArray


def profile(
    time_s: FloatArray, *, begin: int, turn_dps: float, weave_s: float, climb_mps: float, climb_from_s: float
) -> Profile:
    """Return a path's profile.

    Args:
        time_s: (K,) evenly spaced times.
        begin: index of the encounter's first sample.
        turn_dps: turn rate to the right, degrees per second; the maximum for a weave.
        weave_s: period of a weave, in which the turn rate oscillates; 0 for a constant turn rate.
        climb_mps: gain of vertical speed.
        climb_from_s: time at which the gain begins.
    """
    since_s = time_s - time_s[begin]
    rate = -math.radians(turn_dps)
    if weave_s > 0.0:
        pace = 2.0 * math.pi / weave_s
        turned = rate / pace * (1.0 - np.cos(pace * since_s))
    else:
        turned = rate * since_s
    ramp = np.clip((time_s - climb_from_s) / _RAMP_S, 0.0, 1.0)
    gain = climb_mps * ramp * ramp * (3.0 - 2.0 * ramp)
    gain -= gain[begin]
    step_s = float(time_s[1] - time_s[0])
    way = _integral(np.exp(1j * turned), step_s)
    climbed = _integral(gain, step_s)
    return Profile(turned, way - way[begin], gain, (climbed - climbed[begin]).real)


def _integral(values: FloatArray | ComplexArray, step_s: float) -> ComplexArray:
    """Return (K,) integrals since the first sample, by the trapezoidal rule."""
    summed = np.zeros(len(values), dtype=np.complex128)
    np.cumsum((values[1:] + values[:-1]) * (step_s / 2.0), out=summed[1:])
    return summed


@dataclass(frozen=True, slots=True, eq=False)
class Chord:
    """A solved path: begin and first velocity.

    Args:
        begin_m: (3,) position at the encounter's begin, map frame.
        course: first velocity along the ground, x + i y, m/s.
        climb_mps: first vertical speed.
    """

    begin_m: FloatArray
    course: complex
    climb_mps: float

    def places(self, shape: Profile, time_s: FloatArray, *, begin: int) -> FloatArray:
        """Return (K, 3) positions at all times, map frame, metres."""
        ground = self.course * shape.way
        height = self.begin_m[2] + self.climb_mps * (time_s - time_s[begin]) + shape.climbed_m
        return np.column_stack([self.begin_m[0] + ground.real, self.begin_m[1] + ground.imag, height])


def _at(values: npt.NDArray[Any], sample: float) -> complex:
    """Interpolate (K,) values at a fractional sample."""
    first = min(int(sample), len(values) - 2)
    return complex(values[first] + (sample - first) * (values[first + 1] - values[first]))


def solve_chord(
    own_path: OwnPath, shape: Profile, *, begin: int, sight: FloatArray, distance_m: float, cpa_m: float, lasts_s: float,
    passing_deg: float,
) -> Chord:  # fmt: skip
    """Return the path that begins on a line of sight and passes at a given distance after a given time.

    Args:
        own_path: the camera drone's path.
        shape: profile of the intruder's path.
        begin: index of the encounter's first sample.
        sight: (3,) unit vector from the own drone to the intruder at the start, map frame.
        distance_m: range at the start.
        cpa_m: distance at the closest approach.
        lasts_s: time from the begin to the closest approach.
        passing_deg: side on which it passes, for an observer who faces the oncoming intruder: 0 right, 90 above, 180 left.

    Raises:
        Impossible: no such path exists.
    """
    begin_s = float(own_path.time_s[begin])
    sample = (begin_s + lasts_s) / own_path.step_s
    begin_m = own_path.position_m[begin] + distance_m * sight
    own_m, own_mps = own_path.at(begin_s + lasts_s)
    way, turned = _at(shape.way, sample), _at(shape.turned_rad, sample).real
    if abs(way) < _LEAST_PROGRESS * lasts_s:
        degrees = math.degrees(abs(turned))
        raise Impossible(f"it turns by {degrees:.0f} degrees and returns to its start", on_any_side=True)
    gain, climbed = _at(shape.climb_mps, sample).real, _at(shape.climbed_m, sample).real
    turn = cmath.exp(1j * turned) / way
    need = own_m - begin_m
    ground = turn * complex(need[0], need[1])
    relative = np.array([ground.real, ground.imag, (need[2] - climbed) / lasts_s + gain]) - own_mps
    offset = _offset(relative, along=turn.real, upwards=1.0 / lasts_s, cpa_m=cpa_m, passing_deg=passing_deg)
    moved = need + offset
    return Chord(begin_m, complex(moved[0], moved[1]) / way, float((moved[2] - climbed) / lasts_s))


def _offset(relative: FloatArray, *, along: float, upwards: float, cpa_m: float, passing_deg: float) -> FloatArray:
    """Return the (3,) position q of the intruder relative to the own drone at the closest approach, metres.

    The relative velocity there is ``relative + M q``, with M a rotation and scaling along the ground and a scaling upwards; q
    is perpendicular to it. With q = cpa (cos t a + sin t b) and a along ``relative``, bisection finds t.
    """
    speed = float(np.linalg.norm(relative))
    if cpa_m == 0.0:
        return np.zeros(3)
    if speed <= cpa_m * max(abs(along), upwards):
        raise Impossible("its closest point of approach is already at the start")
    a = relative / speed
    side, over = _across(a)
    b = math.cos(math.radians(passing_deg)) * side + math.sin(math.radians(passing_deg)) * over
    weight = np.array([along, along, upwards])
    aa, ab, bb = float(a @ (weight * a)), float(a @ (weight * b)), float(b @ (weight * b))
    low, high = 0.0, math.pi
    for _ in range(_HALVINGS):
        t = (low + high) / 2.0
        c, s = math.cos(t), math.sin(t)
        if speed * c + cpa_m * (aa * c * c + 2.0 * ab * c * s + bb * s * s) > 0.0:
            low = t
        else:
            high = t
    return np.asarray(cpa_m * (math.cos(low) * a + math.sin(low) * b))


def _across(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the (3,) unit vectors right and up for a view against ``a``."""
    level = math.hypot(a[0], a[1])
    if level < 1e-9:
        return np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    side = np.array([-a[1], a[0], 0.0]) / level
    return side, np.array([-side[1] * a[2], side[0] * a[2], side[1] * a[0] - side[0] * a[1]])
