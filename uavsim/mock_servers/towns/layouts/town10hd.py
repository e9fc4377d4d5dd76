"""Town10HD's look-alike: a dense down-town of a few blocks, avenues around it, everything level."""

from __future__ import annotations

from uavsim.mock_servers.towns.layouts.profiles import street
from uavsim.mock_servers.towns.paths import Point, rounded
from uavsim.mock_servers.towns.streets import Node, Plan, Street

_WEST, _MID_WEST, _MID_EAST, _EAST = -104.0, -42.0, 33.0, 99.0
_NORTH, _MIDDLE, _SOUTH = 58.0, -28.0, -130.0  # OpenDRIVE's y; the simulator's is the negative


def plan() -> Plan:
    """Streets and junctions."""
    avenue = street(2, speed_kmh=60.0, sidewalk_m=4.5)
    lane_street = street(1, parking=(True, True), speed_kmh=40.0, sidewalk_m=4.0)
    boulevard = street(2, median_m=3.0, sidewalk_m=4.5, speed_kmh=50.0)
    town = Plan("Town10HD")
    lit = Node(corner_m=7.0, lights=True, crosswalks=True)
    at: dict[str, Point] = {
        "n1": (_MID_WEST, _NORTH),
        "n2": (_MID_EAST, _NORTH),
        "w": (_WEST, _MIDDLE),
        "c1": (_MID_WEST, _MIDDLE),
        "c2": (_MID_EAST, _MIDDLE),
        "e": (_EAST, _MIDDLE),
        "s1": (_MID_WEST, _SOUTH),
        "s2": (_MID_EAST, _SOUTH),
    }
    town.nodes = dict.fromkeys(at, lit)

    def add(start: str, end: str, profile: object, via: tuple[Point, ...] = (), radius_m: float = 20.0) -> None:
        path = rounded([at[start], *via, at[end]], radius_m)
        town.streets.append(Street(start, end, path, profile))  # type: ignore[arg-type]

    add("w", "n1", avenue, ((_WEST, _NORTH),))
    add("n1", "n2", avenue)
    add("n2", "e", avenue, ((_EAST, _NORTH),))
    add("e", "s2", avenue, ((_EAST, _SOUTH),))
    add("s2", "s1", avenue)
    add("s1", "w", avenue, ((_WEST, _SOUTH),))
    add("w", "c1", lane_street)
    add("c1", "c2", boulevard)
    add("c2", "e", lane_street)
    add("n1", "c1", lane_street)
    add("c1", "s1", lane_street)
    add("n2", "c2", boulevard)
    add("c2", "s2", lane_street)
    return town
