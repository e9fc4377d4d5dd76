"""Lanes as strips of points in Unreal's axes: the input of meshes, heights, spawn points and signals."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.arrays import Ints
from headless_simulator.towns.network import PAVED, SHORTEST_SECTION_M, WALKABLE, Lane, Network, Road, Section
from headless_simulator.towns.planview import curvature_bounds, evaluate

KERB_M: Final = 0.15  # height of sidewalks and medians above the road if the file has no heights
_TOLERANCE_M: Final = 0.02  # largest deviation of a strip from the true lane
_LONGEST_STEP_M: Final = 12.0
RAISED: Final = WALKABLE | {"median", "curb"}


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """One lane of one section.

    Attributes:
        road, section, lane: its position in the network; ``kind`` is the lane's type.
        junction: id, "" outside junctions.
        s: (N,) stations, increasing.
        inner_m, outer_m: (N, 3) borders, the inner one towards the reference line; simulator axes.
        forward: +1 where traffic runs with growing s, -1 against.
        limit_kmh: speed limit.
        record: the file's lane.
        start_s: station of its lane section.
    """

    road: str
    section: int
    lane: int
    kind: str
    junction: str
    s: Float64
    inner_m: Float64
    outer_m: Float64
    forward: int
    limit_kmh: float
    record: Lane
    start_s: float

    @property
    def centre_m(self) -> Float64:
        """(N, 3) centre line of the lane, metres."""
        return (self.inner_m + self.outer_m) / 2

    @property
    def width_m(self) -> Float64:
        """(N,) horizontal width, metres."""
        return np.asarray(np.hypot(*(self.outer_m - self.inner_m)[:, :2].T), dtype=np.float64)


def limit_at(road: Road, s: float, default_kmh: float) -> float:
    """Return the speed limit of a road at a station, km/h."""
    limit = default_kmh
    for start, value in road.speeds:
        if start <= s + 1e-6:
            limit = value
    return limit


def road_points(road: Road, s: Float64, t: Float64, dz: Float64 | float = 0.0) -> Float64:
    """Return (N, 3) points at stations and lateral offsets of the reference line, Unreal's axes (y south), metres."""
    x, y, heading = evaluate(road.plan, s)
    tilt = road.superelevation.at(s)
    z = road.elevation.at(s) + t * np.sin(tilt) + dz
    flat = t * np.cos(tilt)
    return np.stack([x - np.sin(heading) * flat, -(y + np.cos(heading) * flat), z], axis=-1)


def yaw_deg_at(road: Road, s: float) -> float:
    """Return the heading of the reference line in Unreal's axes, degrees."""
    return float(-np.degrees(evaluate(road.plan, np.array([s]))[2][0]))


def _dense_stations(road: Road, low: float, high: float) -> Float64:
    """Return candidate stations: even steps, finer in curves, and the start of every record."""
    marks = [low, high]
    for piece in road.plan:
        bend = curvature_bounds(piece)
        step = 1.0 if bend < 1e-9 else float(np.clip(np.sqrt(8 * 0.01 / bend), 0.25, 1.0))
        end = piece.s + piece.length_m
        a, b = max(low, piece.s), min(high, end)
        if b > a:
            marks.extend(np.linspace(a, b, max(2, int(np.ceil((b - a) / step)) + 1)))
    inner = np.unique(np.array(marks, dtype=np.float64))
    inner = inner[(inner > low + 1e-3) & (inner < high - 1e-3)]
    stations = np.concatenate([[low], inner, [high]])
    keep = np.concatenate([[True], np.diff(stations) > 1e-3])  # keeps the last one, which is farther away
    return np.asarray(stations[keep], dtype=np.float64)


def _thin(points: Float64, s: Float64) -> Ints:
    """Return (K,) indices of the stations that keep every border within the tolerance.

    Args:
        points: (N, K, 3) K borders at N stations.
        s: (N,) stations.
    """
    keep = np.zeros(len(s), dtype=bool)
    keep[[0, -1]] = True
    stack = [(0, len(s) - 1)]
    while stack:
        first, last = stack.pop()
        if last - first < 2:
            continue
        share = ((s[first + 1 : last] - s[first]) / (s[last] - s[first]))[:, None, None]
        chord = points[first] + share * (points[last] - points[first])
        error = np.linalg.norm(points[first + 1 : last] - chord, axis=2).max(axis=1)
        middle = first + 1 + int(error.argmax())
        if error.max() <= _TOLERANCE_M:
            if s[last] - s[first] <= _LONGEST_STEP_M:
                continue
            middle = (first + last) // 2
        keep[middle] = True
        stack += [(first, middle), (middle, last)]
    return np.flatnonzero(keep)


def _borders(section: Section, s: Float64, offset: Float64) -> dict[int, Float64]:
    """Return the (N,) lateral offset t of each lane's outer border, by lane number; 0 is the centre line."""
    ds = s - section.s
    borders = {0: offset}
    for sign in (1, -1):
        edge = offset
        number = sign
        while number in section.lanes:
            lane = section.lanes[number]
            if len(lane.width.starts) or not len(lane.border.starts):
                edge = edge + sign * np.maximum(lane.width.at(ds), 0.0)
            else:
                edge = offset + lane.border.at(ds)
            borders[number] = edge
            number += sign
    return borders


def lift_m(lane: Lane, ds: Float64) -> Float64:
    """Return (N,) heights of a lane above the road, metres, at (N,) distances from the start of its section."""
    if len(lane.raised.starts):
        return lane.raised.at(ds)
    return np.full_like(ds, KERB_M if lane.kind in RAISED else 0.0)


def _section_strips(road: Road, number: int, end_s: float) -> list[Strip]:
    section = road.sections[number]
    if end_s - section.s < SHORTEST_SECTION_M:
        return []
    dense = _dense_stations(road, max(section.s, 0.0), end_s)
    if len(dense) < 2:
        return []
    borders = _borders(section, dense, road.lane_offset.at(dense))
    tracks = np.stack([road_points(road, dense, t) for t in borders.values()], axis=1)
    rows = _thin(tracks, dense)
    s = dense[rows]
    strips = []
    for lane_number in sorted(borders):
        if not lane_number:
            continue
        lane, sign = section.lanes[lane_number], 1 if lane_number > 0 else -1
        lift = lift_m(lane, s - section.s)
        pair = [road_points(road, s, borders[edge][rows], lift) for edge in (lane_number - sign, lane_number)]
        strips.append(
            Strip(
                road=road.number,
                section=number,
                lane=lane_number,
                kind=lane.kind,
                junction=road.junction,
                s=s,
                inner_m=pair[0],
                outer_m=pair[1],
                forward=-sign if not road.left_hand else sign,
                limit_kmh=limit_at(road, section.s, 50.0),
                record=lane,
                start_s=section.s,
            )
        )
    return strips


def lane_strips(network: Network) -> list[Strip]:
    """Return every lane of a network with a surface, without centre lanes."""
    strips: list[Strip] = []
    for road in network.roads.values():
        ends = [section.s for section in road.sections[1:]] + [road.length_m]
        for number, end in enumerate(ends):
            strips += _section_strips(road, number, min(end, road.length_m))
    return [strip for strip in strips if strip.kind in PAVED | RAISED and strip.width_m.max() > 0.02]


def outer_lanes(strips: list[Strip]) -> list[Strip]:
    """Return the outermost lane of every road side."""
    outermost: dict[tuple[str, int, int], Strip] = {}
    for strip in strips:
        key = (strip.road, strip.section, int(np.sign(strip.lane)))
        if key not in outermost or abs(strip.lane) > abs(outermost[key].lane):
            outermost[key] = strip
    return list(outermost.values())
