"""Paint at junctions: lane arrows, and lane lines through junctions."""

from collections import defaultdict
from typing import Final

import numpy as np

from headless_simulator.scene import TAG, Float64
from headless_simulator.towns.lanes_index import Lanes, pose_on
from headless_simulator.towns.markings import LIFT_M, WHITE, paint_line
from headless_simulator.towns.network import DRIVABLE, Link, Mark
from headless_simulator.towns.strips import Strip
from headless_simulator.towns.triangle_soup import Appearance, TriangleSoup

_TURN_DEG: Final = 35.0  # connecting lanes that turn less count as straight
_ARROW_BEFORE_M: Final = 15.0  # from an arrow's foot to the end of its lane
_SHORTEST_M: Final = 32.0  # lanes shorter than this have no arrow
_THROUGH: Final = Mark(0.0, "broken", "white", 0.15)
_DOTS_M: Final = (0.6, 1.8)  # dash and gap through a junction with lights
_DASHES_M: Final = (3.0, 4.5)
_LaneKey = tuple[str, int]


def _turn_deg(strip: Strip) -> float:
    """Return the turn of a connecting lane, degrees, in the direction of traffic; right is positive."""
    line = strip.centre_m[:: strip.forward, :2]
    a, b = line[1] - line[0], line[-1] - line[-2]
    return float(np.degrees(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b)))


def _ends(lanes: Lanes, strip: Strip) -> tuple[_LaneKey | None, _LaneKey | None]:
    """Return (road, lane) of the origin and destination of a connecting lane."""
    road = lanes.network.roads[strip.road]
    links = ((road.predecessor, strip.record.predecessor), (road.successor, strip.record.successor))
    keys = [_key(link, number) for link, number in links[:: strip.forward]]
    return keys[0], keys[1]


def _key(link: Link | None, number: int | None) -> _LaneKey | None:
    return None if link is None or number is None or link.element != "road" else (link.number, number)


def paint_junction_marks(triangle_soup: TriangleSoup, lanes: Lanes) -> None:
    """Add the arrows and lines of all junctions."""
    turns: dict[_LaneKey, set[str]] = defaultdict(set)
    through: dict[tuple[str, str, str], list[tuple[_LaneKey, Strip]]] = defaultdict(list)
    for strip in lanes.strips:
        if not strip.junction or strip.kind not in DRIVABLE or len(strip.s) < 2:
            continue
        start, end = _ends(lanes, strip)
        if start is None or end is None:
            continue
        turn = _turn_deg(strip)
        turns[start].add("left" if turn < -_TURN_DEG else "right" if turn > _TURN_DEG else "ahead")
        if abs(turn) < _TURN_DEG:
            through[strip.junction, start[0], end[0]].append((start, strip))
    _arrows(triangle_soup, lanes, turns)
    for (junction, _, _), ways in through.items():
        lit = bool(lanes.network.junction_controllers.get(junction))
        for (_, one), (_, other) in _neighbours(ways):
            line = one.outer_m if _gap_m(one.outer_m, other) < _gap_m(one.inner_m, other) else one.inner_m
            paint_line(triangle_soup, one, line, _THROUGH, dash_m=_DOTS_M if lit else _DASHES_M)


def _neighbours(
    ways: list[tuple[_LaneKey, Strip]],
) -> list[tuple[tuple[_LaneKey, Strip], tuple[_LaneKey, Strip]]]:
    """Return pairs of connecting lanes that are neighbours from start to end."""
    pairs = [(a, b) for a in ways for b in ways if abs(a[0][1]) + 1 == abs(b[0][1]) and a[0][1] * b[0][1] > 0]
    return [(a, b) for a, b in pairs if min(_gap_m(a[1].outer_m, b[1]), _gap_m(a[1].inner_m, b[1])) < 0.6]


def _gap_m(line: Float64, other: Strip) -> float:
    """Return the greatest distance, metres, of a border's ends from the nearer border of another lane."""
    return min(
        max(float(np.linalg.norm((line[end] - border[end])[:2])) for end in (0, -1))
        for border in (other.inner_m, other.outer_m)
    )


def _arrows(triangle_soup: TriangleSoup, lanes: Lanes, turns: dict[_LaneKey, set[str]]) -> None:
    """Add an arrow before the end of each lane of road sides with several lanes and a turn."""
    sides: dict[tuple[str, bool], list[Strip]] = defaultdict(list)
    for strip in lanes.driving(junctions=False):
        if (strip.road, strip.lane) in turns and strip.s[-1] - strip.s[0] > _SHORTEST_M:
            sides[strip.road, strip.forward > 0].append(strip)
    for side in sides.values():
        known: set[str] = set().union(*(turns[strip.road, strip.lane] for strip in side))
        if len(side) < 2 or known <= {"ahead"}:
            continue
        for strip in side:
            end = float(strip.s[-1]) - _ARROW_BEFORE_M if strip.forward > 0 else float(strip.s[0]) + _ARROW_BEFORE_M
            _paint_arrow(triangle_soup, np.array(pose_on(strip, end)), turns[strip.road, strip.lane])


def _paint_arrow(triangle_soup: TriangleSoup, pose: Float64, turns: set[str]) -> None:
    """Add an arrow of 4.5 m on the lane, with its base at a pose."""
    parts = [
        [(0.0, -0.1), (2.6 if "ahead" in turns else 2.0, -0.1), (2.6 if "ahead" in turns else 2.0, 0.1), (0.0, 0.1)]
    ]
    if "ahead" in turns:
        parts.append([(2.6, -0.4), (4.5, 0.0), (4.5, 0.0), (2.6, 0.4)])
    for name, side in (("left", -1.0), ("right", 1.0)):
        if name in turns:
            parts.append([(1.6, 0.0), (2.0, 0.0), (2.5, 0.55 * side), (2.3, 0.7 * side)])
            parts.append([(1.9, 0.7 * side), (2.9, 0.45 * side), (3.0, 1.15 * side), (3.0, 1.15 * side)])
    flat = np.array(parts)
    yaw, rise = np.radians(pose[4]), np.tan(np.radians(pose[3]))
    world = np.empty((*flat.shape[:2], 3))
    world[..., 0] = pose[0] + np.cos(yaw) * flat[..., 0] - np.sin(yaw) * flat[..., 1]
    world[..., 1] = pose[1] + np.sin(yaw) * flat[..., 0] + np.cos(yaw) * flat[..., 1]
    world[..., 2] = pose[2] + rise * flat[..., 0] + LIFT_M
    triangle_soup.quads(world, Appearance(WHITE, TAG["road_line"]))
