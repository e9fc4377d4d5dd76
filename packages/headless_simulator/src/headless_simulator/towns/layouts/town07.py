"""Town07's look-alike: narrow country roads over hills, farms, a hamlet in the middle."""

from headless_simulator.towns.layouts.profiles import street
from headless_simulator.towns.layouts.street_plan_builder import StreetPlanBuilder
from headless_simulator.towns.streets import Node, Plan

_PLACES = {  # x, y of OpenDRIVE, height
    "n": (-62.0, 196.0, 5.0),
    "ne": (62.0, 118.0, 8.0),
    "e": (66.0, -18.0, 3.0),
    "se": (12.0, -96.0, 0.5),
    "s": (-92.0, -108.0, -0.5),
    "w": (-178.0, -30.0, 2.0),
    "nw": (-176.0, 112.0, 7.0),
    "c1": (-96.0, 92.0, 4.0),
    "c2": (-22.0, 84.0, 4.0),
    "c3": (-28.0, -12.0, 1.0),
    "c4": (-102.0, -16.0, 1.0),
    "d": (24.0, 88.0, 4.5),
    "b": (-144.0, -22.0, 1.5),
    "p": (-142.0, 92.0, 5.0),
    "m": (8.0, 236.0, 7.5),
}
# Lights at nearly all crossings, as in the real town: at a busy crossing without lights the Traffic Manager's cars wait for
# each other indefinitely. Crossings have at most four arms: each is green alone, and the last of five would wait 60 s.
_SIGNED = "p"


def plan() -> Plan:
    """Streets and junctions."""
    country = street(1, lane_m=3.2, sidewalk_m=0.0, shoulder_m=0.5, edge="solid", speed_kmh=60.0, kind="rural")
    village = street(1, lane_m=3.2, sidewalk_m=2.0, speed_kmh=40.0)
    builder = StreetPlanBuilder(Plan("Town07"))
    for name, (x, y, z) in _PLACES.items():
        lit = name != _SIGNED
        builder.node(name, (x, y), Node(corner_m=6.0, lights=lit, crosswalks=True, stop_signs=True, z_m=z))
    builder.street("n", "m", country, via=((-18.0, 236.0),), radius_m=40.0)
    builder.street("m", "ne", country, via=((78.0, 222.0),), radius_m=36.0, heights=((0.5, 8.5),))
    builder.street("d", "m", country, via=((28.0, 160.0),), radius_m=60.0, heights=((0.5, 6.5),))
    builder.street("b", "p", country, via=((-150.0, 30.0),), radius_m=60.0)
    builder.street("ne", "e", country, via=((84.0, 60.0),), radius_m=60.0, heights=((0.5, 7.0),))
    builder.street("e", "se", country, via=((62.0, -92.0),), radius_m=28.0)
    builder.street("se", "s", country, via=((-40.0, -122.0),), radius_m=60.0)
    builder.street("s", "w", country, via=((-170.0, -112.0),), radius_m=34.0)
    builder.street("w", "nw", country, via=((-205.0, 40.0),), radius_m=90.0, heights=((0.5, 5.5),))
    builder.line("w b c4", country)
    builder.street("n", "c2", country, via=((-30.0, 150.0),), radius_m=40.0, heights=((0.5, 7.0),))
    builder.street("e", "d", country, via=((32.0, 36.0),), radius_m=50.0, heights=((0.5, 5.0),))
    builder.street(
        "nw", "n", country, via=((-168.0, 206.0), (-110.0, 224.0)), radius_m=[30.0, 40.0], heights=((0.5, 9.0),)
    )
    builder.line("nw p c1", country)
    builder.street("c1", "n", country, via=((-98.0, 150.0),), radius_m=40.0)
    builder.line("c2 d ne", country)
    builder.street("c3", "e", country, via=((20.0, -4.0),), radius_m=60.0)
    builder.street("c3", "se", country, via=((-20.0, -60.0),), radius_m=40.0)
    builder.street("c4", "s", country)
    for names in ("c1 c2", "c2 c3", "c3 c4", "c4 c1"):
        builder.line(names, village)
    return builder.plan
