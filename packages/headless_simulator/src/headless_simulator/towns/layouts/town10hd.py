"""Town10HD's look-alike: a dense down-town of a few blocks, avenues around it, everything level."""

from headless_simulator.towns.layouts.profiles import street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.streets import Node, Plan

_WEST, _MID_WEST, _MID_EAST, _EAST = -109.5, -42.0, 33.0, 104.5
_NORTH, _MIDDLE, _SOUTH = 63.5, -28.0, -135.5  # OpenDRIVE's y; the simulator's is the negative


def plan() -> Plan:
    """Streets and junctions."""
    avenue = street(2, speed_kmh=60.0, sidewalk_m=4.5)
    lane_street = street(1, parking=(True, True), speed_kmh=40.0, sidewalk_m=4.0)
    boulevard = street(2, median_m=3.0, sidewalk_m=4.5, speed_kmh=50.0)
    builder = StreetPlanBuilder(Plan("Town10HD"))
    lit = Node(corner_m=7.0, lights=True, crosswalks=True)
    for row, y in (("n", _NORTH), ("c", _MIDDLE), ("s", _SOUTH)):
        builder.node(f"{row}1", (_MID_WEST, y), lit)
        builder.node(f"{row}2", (_MID_EAST, y), lit)
    builder.node("w", (_WEST, _MIDDLE), lit)
    builder.node("e", (_EAST, _MIDDLE), lit)
    builder.street("w", "n1", avenue, via=((_WEST, _NORTH),))
    builder.line("n1 n2", avenue)
    builder.street("n2", "e", avenue, via=((_EAST, _NORTH),))
    builder.street("e", "s2", avenue, via=((_EAST, _SOUTH),))
    builder.line("s2 s1", avenue)
    builder.street("s1", "w", avenue, via=((_WEST, _SOUTH),))
    builder.line("w c1", avenue)
    builder.line("c1 c2", boulevard)
    builder.line("c2 e", avenue)
    builder.line("n1 c1 s1", avenue)
    builder.line("n2 c2", boulevard)
    builder.line("c2 s2", lane_street)
    return builder.plan
