"""Town01's look-alike: a small town of T junctions, one lane each way, with a river through it."""

from headless_simulator.towns.layouts.profiles import street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.streets import Node, Plan

_X = {"w": -1.0, "a": 90.0, "b": 157.0, "c": 336.0, "e": 394.0}
_Y = {"0": 0.0, "1": -57.0, "2": -131.0, "3": -197.0, "4": -328.0}  # OpenDRIVE's y; the simulator's is the negative
RIVER_M = (  # simulator axes; it crosses six streets far from their junctions
    (252.0, -620.0),
    (250.0, -60.0),
    (254.0, 60.0),
    (246.0, 131.0),
    (232.0, 197.0),
    (170.0, 255.0),
    (90.0, 264.0),
    (-1.0, 268.0),
    (-120.0, 300.0),
    (-620.0, 330.0),
)


def plan() -> Plan:
    """Streets and junctions."""
    road = street(1, lane_m=4.0, sidewalk_m=2.5, speed_kmh=50.0)
    builder = StreetPlanBuilder(Plan("Town01"))
    lit = Node(corner_m=6.0, lights=True, crosswalks=True)
    for name in ["a0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "c3", "a4", "c4"]:
        builder.node(name, (_X[name[0]], _Y[name[1]]), lit)
    west = ((_X["w"], _Y["0"]), (_X["w"], _Y["4"]))
    east = ((_X["e"], _Y["0"]), (_X["e"], _Y["4"]))
    builder.street("a0", "a4", road, via=west, radius_m=22.0)
    builder.street("c0", "c4", road, via=east, radius_m=22.0)
    # The fifth street is road 4, as in CARLA's town: OpenSCENARIO files name it, 48.58 m and 98.58 m from its western end.
    for names in ("a0 c0", "a4 c4", "b2 c2", "a1 b1 c1", "a2 b2", "a3 c3", "a0 a1 a2 a3 a4", "c0 c1 c2 c3 c4", "b1 b2"):
        builder.line(names, road)
    return builder.plan
