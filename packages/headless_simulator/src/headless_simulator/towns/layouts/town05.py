"""Town05's look-alike: a grid of wide streets with cross junctions, and an expressway round it."""

from headless_simulator.towns.layouts.profiles import street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.streets import Node, Plan

_X = {"w": -268.0, "a": -190.0, "b": -120.0, "c": -50.0, "d": 30.0, "e": 102.0, "f": 200.0}
_Y = {"1": 196.0, "2": 90.0, "3": 0.0, "4": -88.0, "5": -196.0}


def plan() -> Plan:
    """Streets and junctions."""
    expressway = street(3, median_m=3.0, sidewalk_m=0.0, shoulder_m=2.0, edge="solid", speed_kmh=85.0, kind="motorway")
    boulevard = street(2, median_m=3.0, sidewalk_m=4.0, speed_kmh=60.0)
    avenue = street(2, sidewalk_m=3.5, speed_kmh=50.0)
    side_street = street(1, parking=(True, True), sidewalk_m=3.0, speed_kmh=40.0)
    builder = StreetPlanBuilder(Plan("Town05"))
    lit = Node(corner_m=8.0, lights=True, crosswalks=True)
    access = Node(corner_m=12.0, lights=True)
    for name in ["c1", "c5", "w3", "f3", "d1"]:
        builder.node(name, (_X[name[0]], _Y[name[1]]), access)
    for name in ["b2", "c2", "d2", "e2", "b3", "c3", "d3", "e3", "b4", "c4", "d4", "e4"]:
        builder.node(name, (_X[name[0]], _Y[name[1]]), lit)
    corner = {"nw": (_X["w"], _Y["1"]), "ne": (_X["f"], _Y["1"]), "sw": (_X["w"], _Y["5"]), "se": (_X["f"], _Y["5"])}
    builder.street("w3", "c1", expressway, via=(corner["nw"],), radius_m=120.0)
    builder.line("c1 d1", expressway)
    builder.street("d1", "f3", expressway, via=(corner["ne"],), radius_m=120.0)
    builder.street("f3", "c5", expressway, via=(corner["se"],), radius_m=120.0)
    builder.street("c5", "w3", expressway, via=(corner["sw"],), radius_m=120.0)
    builder.line("w3 b3 c3 d3 e3 f3", boulevard)
    builder.line("c1 c2 c3 c4 c5", boulevard)
    for names in ("b2 c2 d2 e2", "b4 c4 d4 e4", "b2 b3 b4", "d1 d2 d3 d4"):
        builder.line(names, avenue)
    builder.line("e2 e3 e4", side_street)
    return builder.plan
