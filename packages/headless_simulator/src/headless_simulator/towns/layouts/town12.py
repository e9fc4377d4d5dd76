"""Town12's look-alike: one district of CARLA's large map, where and as high as the real one's; a highway goes round it.

CARLA's has 330 km of roads. The origin lies in open land 3 km north of the district: nothing is streamed there.
"""

from headless_simulator.towns.layouts.profiles import street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.streets import Node, Plan

_X = (-820.0, -500.0, -180.0, 140.0, 460.0, 780.0, 1100.0, 1420.0)
_Y = (-3500.0, -3920.0, -4310.0, -4740.0, -5120.0)
_RING = {"w": (-1300.0, -4310.0), "n": (140.0, -3000.0), "e": (1900.0, -4310.0), "s": (460.0, -5620.0)}
_CORNERS = {"w n": (-1300.0, -3000.0), "n e": (1900.0, -3000.0), "e s": (1900.0, -5620.0), "s w": (-1300.0, -5620.0)}
_GROUND_M = 370.0


def plan() -> Plan:
    """Streets and junctions."""
    highway = street(2, median_m=5.0, sidewalk_m=0.0, speed_kmh=90.0, edge="solid", shoulder_m=1.5)
    avenue = street(2, sidewalk_m=3.5, speed_kmh=60.0)
    local = street(1, sidewalk_m=3.5, speed_kmh=40.0, parking=(False, True))
    builder = StreetPlanBuilder(Plan("Town12"))
    lit = Node(corner_m=9.0, lights=True, crosswalks=True, z_m=_GROUND_M)
    for row, y in enumerate(_Y):
        for column, x in enumerate(_X):
            builder.node(f"{column}{row}", (x, y), lit)
    for name, xy_m in _RING.items():
        builder.node(name, xy_m, Node(corner_m=14.0, z_m=_GROUND_M))
    for row in range(len(_Y)):
        builder.line(" ".join(f"{column}{row}" for column in range(len(_X))), avenue if row % 2 == 0 else local)
    for column in range(len(_X)):
        builder.line(" ".join(f"{column}{row}" for row in range(len(_Y))), avenue if column in (0, 3, 7) else local)
    for names in ("w 02", "n 30", "72 e", "44 s"):
        builder.line(names, avenue)
    for names, corner in _CORNERS.items():
        start, end = names.split()
        builder.street(start, end, highway, via=(corner,), radius_m=250.0)
    return builder.plan
