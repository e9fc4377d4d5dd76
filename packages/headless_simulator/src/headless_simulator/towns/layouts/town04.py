"""Town04's look-alike: a motorway in a loop over hills, slip roads, a small town inside it."""

import math

from headless_simulator.towns.layouts.profiles import one_way, street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.paths import Pose
from headless_simulator.towns.streets import Node, Plan

_WEST, _EAST, _SOUTH, _NORTH = -500.0, 402.0, -424.0, 382.0


def plan() -> Plan:
    """Streets and junctions."""
    motorway = street(3, median_m=4.0, sidewalk_m=0.0, shoulder_m=2.6, edge="solid", speed_kmh=90.0, kind="motorway")
    slip = one_way(1, shoulder_m=1.5, left_shoulder_m=0.5, edge="solid", speed_kmh=50.0, lane_m=3.8)
    avenue = street(2, sidewalk_m=3.0, speed_kmh=50.0)
    local = street(1, sidewalk_m=3.0, speed_kmh=40.0, parking=(True, True))
    builder = StreetPlanBuilder(Plan("Town04"))
    level, lit = Node(corner_m=12.0), Node(corner_m=8.0, lights=True, crosswalks=True)
    crossing = Node(corner_m=14.0, lights=True)
    builder.node("south", (-40.0, _SOUTH), crossing)
    builder.node("north", (60.0, _NORTH), Node(corner_m=14.0, lights=True, z_m=9.0))
    builder.node("off", (_WEST, -120.0), level)  # the carriageway with the town on its right runs clockwise
    builder.node("on", (_WEST, 150.0), Node(corner_m=12.0, z_m=4.0))
    builder.node("off2", (_EAST, 160.0), Node(corner_m=12.0, z_m=6.0))
    builder.node("on2", (_EAST, -140.0), level)
    for name, xy_m in {"a": (-160.0, 120.0), "b": (60.0, 120.0), "c": (200.0, 120.0), "d": (-160.0, -60.0)}.items():
        builder.node(name, xy_m, lit)
    for name, xy_m in {"e": (-40.0, -60.0), "f": (200.0, -60.0), "g": (-40.0, -200.0), "h": (-160.0, -200.0)}.items():
        builder.node(name, xy_m, lit)
    builder.node("k", (200.0, -200.0), lit)
    builder.node("m", (60.0, -60.0), lit)
    builder.street(
        "south",
        "off",
        motorway,
        via=((_WEST, _SOUTH),),
        radius_m=150.0,
        heights=((0.35, 6.0), (0.7, 3.0)),
        level_m=60.0,
    )
    builder.street("off", "on", motorway, heights=((0.5, -1.5),), level_m=60.0)
    builder.street(
        "on",
        "north",
        motorway,
        via=((_WEST, _NORTH),),
        radius_m=150.0,
        heights=((0.4, 11.0), (0.75, 5.0)),
        level_m=60.0,
    )
    builder.street(
        "north", "off2", motorway, via=((_EAST, _NORTH),), radius_m=150.0, heights=((0.5, 12.0),), level_m=60.0
    )
    builder.street("off2", "on2", motorway, heights=((0.5, 1.0),), level_m=60.0)
    builder.street(
        "on2", "south", motorway, via=((_EAST, _SOUTH),), radius_m=150.0, heights=((0.4, 4.0),), level_m=60.0
    )
    beside = 2.0 + 3 * 3.5  # from the motorway's middle to the edge of its outer lane
    north, south = math.pi / 2, -math.pi / 2
    builder.slip("off", "d", slip, (Pose(_WEST + beside, -120.0, north), ((-420.0, -60.0),)), leaving=True)
    builder.slip(
        "on", "a", slip, (Pose(_WEST + beside, 150.0, south), ((-420.0, 60.0), (-330.0, 120.0))), leaving=False
    )
    builder.slip(
        "off2", "c", slip, (Pose(_EAST - beside, 160.0, south), ((330.0, 100.0), (280.0, 120.0))), leaving=True
    )
    builder.slip("on2", "f", slip, (Pose(_EAST - beside, -140.0, north), ((330.0, -60.0),)), leaving=False)
    builder.line("a b c", avenue)
    builder.line("d e m f", avenue)
    builder.line("h g k", local)
    for names in ("a d h", "e g", "c f k", "b m"):
        builder.line(names, local)
    builder.line("south g", avenue)
    builder.street("b", "north", avenue, heights=((0.5, 3.0),))
    return builder.plan
