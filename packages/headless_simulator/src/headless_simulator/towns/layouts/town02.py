"""Town02's look-alike: a handful of blocks, T junctions, one lane each way."""

from headless_simulator.towns.layouts.profiles import street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.streets import Node, Plan

_X = {"w": -5.0, "a": 43.0, "b": 134.0, "e": 191.5}
_Y = {"1": -107.0, "2": -189.5, "3": -239.0, "4": -304.5}  # OpenDRIVE's y; the simulator's is the negative


def plan() -> Plan:
    """Streets and junctions."""
    road = street(1, lane_m=4.0, sidewalk_m=2.5, speed_kmh=40.0)
    builder = StreetPlanBuilder(Plan("Town02"))
    lit = Node(corner_m=6.0, lights=True, crosswalks=True)
    for name in ["w2", "a2", "b2", "e2", "a3", "b3", "e3", "a4"]:
        builder.node(name, (_X[name[0]], _Y[name[1]]), lit)
    builder.street("w2", "e2", road, via=((_X["w"], _Y["1"]), (_X["e"], _Y["1"])), radius_m=17.0)
    builder.street("w2", "a4", road, via=((_X["w"], _Y["4"]),), radius_m=17.0)
    builder.street("a4", "e3", road, via=((_X["e"], _Y["4"]),), radius_m=17.0)
    for names in ("w2 a2 b2 e2", "a3 b3 e3", "a2 a3 a4", "b2 b3", "e2 e3"):
        builder.line(names, road)
    return builder.plan
