"""A route as a function of time with smooth position, speed and heading.

The waypoints become a cubic spline in the plane (heading has no kinks) and a monotone one in height (no dips between equal
heights). It is sampled densely by length; along it runs a speed that never asks for more than ``_ACCELERATION`` between
legs of different speed, before stops and after them.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

from uavsim.config.routes import Orbit, PathItem, Route
from uavsim.typing import FloatArray, IntArray

_ACCELERATION: Final = 2.0  # m/s^2: a camera drone reaches this without visible tilt
_STEP_M: Final = 0.1
_MOST_SAMPLES: Final = 100_000
_ORBIT_STEP_RAD: Final = np.pi / 12


@dataclass(frozen=True, slots=True, eq=False)
class FlightPath:
    """A route sampled along its length.

    Attributes:
        time_s: (N,) non-decreasing; equal positions at increasing times are stops.
        speed_mps: (N,) piecewise linear in time.
        position_m: (N, 3) x, y in the map frame, z above the town's ground.
        heading_rad: (N,) counter-clockwise from the map's x, unwrapped.
        closed: the last sample connects to the first.
    """

    time_s: FloatArray
    speed_mps: FloatArray
    position_m: FloatArray
    heading_rad: FloatArray
    closed: bool

    @property
    def duration_s(self) -> float:
        """Duration of one pass along the path."""
        return float(self.time_s[-1])

    def start_s(self, share: float, *, scene_s: float) -> float:
        """Return the start time of a scene at the fraction ``share`` (0..1) of the route's scenes."""
        free_s = self.duration_s if self.closed else max(self.duration_s - scene_s, 0.0)
        return share * free_s

    def at(self, time_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (K, 3) positions, metres, and (K,) headings, radians, at (K,) times; an open path stops at its end."""
        time_s = np.asarray(time_s, dtype=np.float64)
        lap_rad = self.heading_rad[-1] - self.heading_rad[0]
        turns = np.zeros_like(time_s)
        if self.closed and self.duration_s > 0.0:
            laps, time_s = np.divmod(time_s, self.duration_s)
            turns = laps * lap_rad
        sample = self._samples_at(time_s)
        places = np.arange(len(self.time_s))
        columns = [np.interp(sample, places, self.position_m[:, i]) for i in range(3)]
        return np.stack(columns, axis=1), np.interp(sample, places, self.heading_rad) + turns

    def _samples_at(self, time_s: FloatArray) -> FloatArray:
        """Return (K,) fractional sample numbers at (K,) times under constant acceleration between samples."""
        if len(self.time_s) == 1:
            return np.zeros_like(time_s)
        first = np.clip(np.searchsorted(self.time_s, time_s, side="right") - 1, 0, len(self.time_s) - 2)
        lasts_s = np.maximum(np.diff(self.time_s)[first], 1e-12)
        past = np.clip((time_s - self.time_s[first]) / lasts_s, 0.0, 1.0)
        before, after = self.speed_mps[first], self.speed_mps[first + 1]
        mean = (before + after) / 2.0
        way = before * past + (after - before) * past**2 / 2.0
        return np.asarray(first + np.where(mean > 0.0, way / np.where(mean > 0.0, mean, 1.0), past))


@dataclass(frozen=True, slots=True)
class _Knot:
    """A point that the path goes through; ``speed_mps`` holds on the way to it."""

    x_m: float
    y_m: float
    altitude_m: float
    speed_mps: float
    hover_s: float


def fly_route(route: Route, *, altitude_m: float, fixed_altitude: bool = False) -> FlightPath:
    """Return the path of a route.

    Args:
        route: waypoints, orbits, speeds and stops.
        altitude_m: default altitude.
        fixed_altitude: ``altitude_m`` overrides the route's altitudes.
    """
    knots = _knots(route, altitude_m=altitude_m, fixed_altitude=fixed_altitude)
    if route.closed:
        if _near(knots[-1], knots[0]):
            knots.pop()
        knots.append(replace(knots[0], hover_s=0.0))
    if len(knots) == 1:
        point_m = np.array([[knots[0].x_m, knots[0].y_m, knots[0].altitude_m]])
        return FlightPath(np.zeros(1), np.zeros(1), point_m, np.zeros(1), closed=False)
    position_m, heading_rad, knot_at = _sampled(knots, closed=route.closed)
    step_m = np.linalg.norm(np.diff(position_m, axis=0), axis=1)
    time_s, speed_mps = _times(knots, step_m, knot_at, closed=route.closed)
    stops = np.array([knot.hover_s for knot in knots])
    return _with_stops(FlightPath(time_s, speed_mps, position_m, heading_rad, route.closed), knot_at, stops)


def _knots(route: Route, *, altitude_m: float, fixed_altitude: bool) -> list[_Knot]:
    knots: list[_Knot] = []
    for item in route.path:
        height_m = altitude_m if fixed_altitude else (item.altitude_m or route.altitude_m or altitude_m)
        speed_mps = item.speed_mps or route.speed_mps
        places = _orbit_positions_m(item.orbit, knots) if item.orbit is not None else _place(item)
        new = [_Knot(x, y, height_m, speed_mps, 0.0) for x, y in places]
        new[-1] = replace(new[-1], hover_s=item.hover_s)
        for knot in new:
            if knots and _near(knots[-1], knot):  # where an orbit begins or ends at a waypoint
                knot = replace(knot, hover_s=knot.hover_s + knots.pop().hover_s)
            knots.append(knot)
    return knots


def _near(a: _Knot, b: _Knot) -> bool:
    return bool(np.hypot(a.x_m - b.x_m, a.y_m - b.y_m) < _STEP_M)


def _place(item: PathItem) -> list[tuple[float, float]]:
    return [item.at] if item.at is not None else []


def _orbit_positions_m(orbit: Orbit, before: list[_Knot]) -> list[tuple[float, float]]:
    """Return points of the circle, metres, from the one nearest to the previous knot; without one, from the east."""
    (cx, cy), start_rad = orbit.centre, 0.0
    if before:
        start_rad = float(np.arctan2(before[-1].y_m - cy, before[-1].x_m - cx))
    sign = 1.0 if orbit.direction == "left" else -1.0
    count = max(2, int(np.ceil(orbit.turns * 2 * np.pi / _ORBIT_STEP_RAD)) + 1)
    angle = start_rad + sign * np.linspace(0.0, orbit.turns * 2 * np.pi, count)
    x_m, y_m = cx + orbit.radius_m * np.cos(angle), cy + orbit.radius_m * np.sin(angle)
    return list(zip(x_m.tolist(), y_m.tolist(), strict=True))


def _sampled(knots: list[_Knot], *, closed: bool) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return (N, 3) positions, metres, (N,) headings, radians, and each knot's sample number."""
    xy = np.array([[k.x_m, k.y_m] for k in knots])
    height_m = np.array([k.altitude_m for k in knots])
    chord = np.linalg.norm(np.diff(xy, axis=0), axis=1)
    at_knot = np.concatenate([[0.0], np.cumsum(chord)])
    plane = CubicSpline(at_knot, xy, bc_type="periodic" if closed else "natural")
    pieces = np.maximum(1, np.ceil(chord / max(_STEP_M, at_knot[-1] / _MOST_SAMPLES))).astype(np.int64)
    knot_at = np.concatenate([[0], np.cumsum(pieces)])
    u = np.interp(np.arange(knot_at[-1] + 1), knot_at, at_knot)
    slope = plane(u, 1)
    heading_rad = np.unwrap(np.arctan2(slope[:, 1], slope[:, 0]))
    level = PchipInterpolator(at_knot, height_m)(u)
    return np.column_stack([plane(u), level]), heading_rad, knot_at


def _times(knots: list[_Knot], step_m: FloatArray, knot_at: IntArray, *, closed: bool) -> tuple[FloatArray, FloatArray]:
    """Return the (N,) times of the samples without stops, seconds, and (N,) speeds, m/s."""
    samples = len(step_m) + 1
    leg = np.searchsorted(knot_at, np.arange(samples), side="left")
    speeds = np.array([k.speed_mps for k in knots])
    limit = speeds[np.maximum(leg, 1)]
    inner = knot_at[1:-1]
    limit[inner] = np.minimum(speeds[1:-1], speeds[2:])  # slow down before a slower leg, not in it
    limit[knot_at[[k.hover_s > 0 for k in knots]]] = 0.0
    if not closed or knots[0].hover_s > 0:
        limit[-1] = 0.0
    speed = _reachable(limit, step_m, closed=closed)
    pace = speed[:-1] + speed[1:]
    # between two stops in neighbouring samples: speed up half way, slow down half way
    seconds = np.where(
        pace > 0.0, 2.0 * step_m / np.where(pace > 0.0, pace, 1.0), 2.0 * np.sqrt(step_m / _ACCELERATION)
    )
    return np.concatenate([[0.0], np.cumsum(seconds)]), speed


def _reachable(limit_mps: FloatArray, step_m: FloatArray, *, closed: bool) -> FloatArray:
    """Return the (N,) largest speeds, m/s, within the limits and ``_ACCELERATION``.

    v^2 grows by at most 2 a ds: a running minimum of v^2 - 2 a s, once forwards and once backwards. A closed path is run
    three times, and the middle lap taken.
    """
    laps = 3 if closed else 1
    square = np.concatenate([*[limit_mps[:-1] ** 2] * laps, limit_mps[-1:] ** 2])
    gain = 2.0 * _ACCELERATION * np.concatenate([[0.0], np.cumsum(np.tile(step_m, laps))])
    square = np.minimum.accumulate(square - gain) + gain
    square = (np.minimum.accumulate((square + gain)[::-1]))[::-1] - gain
    start = len(step_m) if closed else 0
    return np.asarray(np.sqrt(np.maximum(square[start : start + len(limit_mps)], 0.0)))


def _with_stops(path: FlightPath, knot_at: IntArray, stops_s: FloatArray) -> FlightPath:
    """Insert the stops: repeat the sample of each stop at its end."""
    stop_at, stop_s = knot_at[stops_s > 0], stops_s[stops_s > 0]
    waited = np.zeros(len(path.time_s))
    waited[stop_at] = stop_s
    late = path.time_s + np.cumsum(waited) - waited
    order = np.sort(np.concatenate([np.arange(len(late)), stop_at]))
    second = np.concatenate([[False], order[1:] == order[:-1]])
    return FlightPath(
        late[order] + np.where(second, waited[order], 0.0),
        path.speed_mps[order],
        path.position_m[order],
        path.heading_rad[order],
        path.closed,
    )
