"""Town06's look-alike: suburbs along long roads of many lanes, level, with ramps and places to turn round."""

import math

from headless_simulator.towns.layouts.profiles import one_way, street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.paths import Pose
from headless_simulator.towns.streets import Node, Plan

_X = {"w": -364.0, "a": -130.0, "b": 110.0, "c": 390.0, "e": 666.0}
_Y = {"1": 145.5, "2": 12.0, "3": -142.0, "4": -280.0, "5": -406.5}


def plan() -> Plan:
    """Streets and junctions."""
    ring = street(2, sidewalk_m=2.5, speed_kmh=70.0, edge="solid", shoulder_m=1.0)
    highway = street(3, median_m=5.0, sidewalk_m=2.5, speed_kmh=80.0, edge="solid", shoulder_m=1.5)
    main = street(2, median_m=3.0, sidewalk_m=2.5, speed_kmh=60.0, edge="solid")
    local = street(1, sidewalk_m=2.5, speed_kmh=50.0, parking=(False, True))
    builder = StreetPlanBuilder(Plan("Town06"))
    lit = Node(corner_m=10.0, lights=True, crosswalks=True)
    names = "a1 b1 c1 w2 a2 b2 c2 e2 w3 a3 b3 c3 e3 b4 c4 a5 b5 c5"
    for name in names.split():
        builder.node(name, (_X[name[0]], _Y[name[1]]), lit)
    corner = {"nw": (_X["w"], _Y["1"]), "ne": (_X["e"], _Y["1"]), "sw": (_X["w"], _Y["5"]), "se": (_X["e"], _Y["5"])}
    builder.street("w2", "a1", ring, via=(corner["nw"],), radius_m=45.0)
    builder.street("c1", "e2", ring, via=(corner["ne"],), radius_m=45.0)
    builder.street("w3", "a5", ring, via=(corner["sw"],), radius_m=60.0)
    builder.street("c5", "e3", ring, via=(corner["se"],), radius_m=60.0)
    for names in ("a1 b1 c1", "a5 b5 c5", "w2 w3", "e2 e3"):
        builder.line(names, ring)
    slip = one_way(1, shoulder_m=1.5, left_shoulder_m=0.5, edge="solid", speed_kmh=50.0, lane_m=3.8)
    turning, merge = Node(corner_m=10.0, lights=True, u_turns=True), Node(corner_m=12.0)
    for name, x in {"t1": -250.0, "t2": -10.0, "t3": 500.0}.items():
        builder.node(name, (x, _Y["2"]), turning)
    for name, x in {"off": 180.0, "on": 590.0}.items():
        builder.node(name, (x, _Y["2"]), merge)
    for name, x in {"r": 290.0, "q": 480.0}.items():
        builder.node(name, (x, _Y["3"]), lit)
    builder.line("w2 t1 a2 t2 b2 off c2 t3 on e2", highway)
    builder.line("w3 a3 b3 r c3 q e3", main)
    beside = _Y["2"] - 2.5 - 3 * 3.5  # the outer edge of the eastbound lanes
    builder.slip("off", "r", slip, (Pose(180.0, beside, 0.0), ((275.0, -45.0),)), leaving=True)
    builder.slip("on", "q", slip, (Pose(590.0, beside, math.pi), ((495.0, -45.0),)), leaving=False)
    for names in ("a1 a2 a3", "a3 a5", "b1 b2 b3 b4 b5", "c1 c2 c3 c4 c5", "b4 c4"):
        builder.line(names, local)
    return builder.plan
