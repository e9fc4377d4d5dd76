"""Town03's look-alike: a town round a large roundabout, avenues, side streets, one gentle hill."""

from headless_simulator.towns.layouts.profiles import street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.streets import Node, Plan

_X = {"w": -143.5, "a": -76.0, "b": 0.0, "c": 85.0, "d": 164.0, "e": 240.5}
_Y = {"1": 202.5, "2": 128.0, "3": 0.0, "4": -126.0, "5": -202.5}


def plan() -> Plan:
    """Streets and junctions."""
    avenue = street(2, speed_kmh=60.0, sidewalk_m=4.0)
    side_street = street(1, parking=(True, False), speed_kmh=40.0, sidewalk_m=3.0)
    both_parked = street(1, parking=(True, True), speed_kmh=40.0, sidewalk_m=3.0)
    boulevard = street(2, median_m=3.0, sidewalk_m=4.0, speed_kmh=50.0)
    builder = StreetPlanBuilder(Plan("Town03"))
    lit = Node(corner_m=7.0, lights=True, crosswalks=True)
    hill = Node(corner_m=7.0, lights=True, crosswalks=True, z_m=4.0)
    places = "a1 b1 c1 d1 w2 a2 b2 c2 d2 e2 w3 a3 c3 d3 e3 w4 a4 b4 c4 d4 e4 a5 b5 c5 d5"
    for name in places.split():
        builder.node(name, (_X[name[0]], _Y[name[1]]), hill if name in ("d2", "e2") else lit)
    builder.roundabout("r", (0.0, 0.0), radius_m=22.0, arms_deg=(0.0, 90.0, 180.0, 270.0), node=Node(corner_m=9.0))
    corner = {"nw": (_X["w"], _Y["1"]), "ne": (_X["e"], _Y["1"]), "sw": (_X["w"], _Y["5"]), "se": (_X["e"], _Y["5"])}
    builder.street("w2", "a1", avenue, via=(corner["nw"],))
    builder.street("d1", "e2", avenue, via=(corner["ne"],))
    builder.street("w4", "a5", avenue, via=(corner["sw"],))
    builder.street("d5", "e4", avenue, via=(corner["se"],))
    for names in ("a1 b1 c1 d1", "a5 b5 c5 d5", "w2 w3 w4", "e2 e3 e4", "c1 c2 c3 c4 c5"):
        builder.line(names, avenue)
    for names in ("w3 a3", "c3 d3 e3", "w2 a2 b2", "c4 d4 e4"):
        builder.line(names, both_parked)
    for names in ("b2 c2 d2 e2", "w4 a4 b4 c4", "a1 a2 a3 a4 a5", "d1 d2 d3 d4 d5"):
        builder.line(names, side_street)
    builder.line("b1 b2", boulevard)
    builder.line("b4 b5", boulevard)
    for arm, end in enumerate(("c3", "b2", "a3", "b4")):
        builder.spoke(f"r{arm}", end, boulevard, (0.0, 0.0))
    return builder.plan
