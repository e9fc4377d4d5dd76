"""Size checks of an OpenDRIVE file before expensive work.

Clients send such texts, and a few hundred bytes can cause days of work: a straight road of 100 km, a thousand lanes, a
diverging polynomial. CARLA's street-sized towns stay under a tenth of every bound here and of ``limits.CLIENT``.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from headless_simulator.towns.errors import OpenDriveRefused
from headless_simulator.towns.limits import Limits
from headless_simulator.towns.network import Road
from headless_simulator.towns.planview import curvature_bounds
from headless_simulator.towns.strips import Strip
from headless_simulator.towns.xml_nodes import Node

MOST_LANES: Final = 64  # of one lane section
MOST_PIECES: Final = 200_000  # lane sections of a road times pieces of its reference line
MOST_HEIGHT_M: Final = 10_000.0
MOST_WIDTH_M: Final = 200.0
_FINEST_STEP_M: Final = 0.25


def check_counts(root: Node, roads: Mapping[str, Road], limits: Limits) -> None:
    """Refuse a file with too many elements of any kind.

    Args:
        root: element for the error message.
        roads: parsed roads.
        limits: largest counts.

    Raises:
        OpenDriveRefused: a count exceeds its limit.
    """
    if len(roads) > limits.roads:
        raise root.refuse(f"the map has {len(roads)} roads; at most {limits.roads} are allowed")
    for kind, most, count in (
        ("signals", limits.signals, sum(len(road.signals) for road in roads.values())),
        ("objects", limits.objects, sum(len(road.objects) for road in roads.values())),
    ):
        if count > most:
            raise root.refuse(f"the map has {count} {kind}; at most {most} are allowed")
    length_m = sum(max(road.length_m, 0.0) for road in roads.values())
    if length_m > limits.road_m:
        raise root.refuse(
            f"its roads are {length_m / 1000:.0f} km long; at most {limits.road_m / 1000:.0f} km are allowed"
        )
    stations = 0.0
    for road in roads.values():
        lanes = max(len(section.lanes) for section in road.sections)
        if lanes > MOST_LANES:
            raise root.refuse(f"road {road.number!r} has {lanes} lanes in a section; at most {MOST_LANES} are allowed")
        if len(road.sections) * len(road.plan) > MOST_PIECES:
            both = f"{len(road.sections)} lane sections and {len(road.plan)} pieces of geometry"
            raise root.refuse(f"road {road.number!r} has {both}; their product must be at most {MOST_PIECES}")
        stations += lanes * sum(_stations(piece.length_m, curvature_bounds(piece)) for piece in road.plan)
        if stations > limits.stations:
            raise root.refuse("its curved lanes are too long in total; leave some roads out")


def _stations(length_m: float, curvature_1pm: float) -> float:
    """Return an upper bound of the stations of a piece at which a lane is evaluated."""
    return 2.0 + length_m / (1.0 if curvature_1pm < 1e-9 else _FINEST_STEP_M)


def check_extent(strips: Sequence[Strip], source: str, limits: Limits) -> None:
    """Refuse lanes that are too far away, too high, too wide, or not finite.

    Raises:
        OpenDriveRefused: the ground under them would be too large, or a number is not finite.
    """
    if not strips:
        raise OpenDriveRefused(source, 1, "OpenDRIVE", "the map has no lane with an area")
    points_m = np.concatenate([side for strip in strips for side in (strip.inner_m, strip.outer_m)])
    if not np.isfinite(points_m).all():
        raise OpenDriveRefused(source, 1, "OpenDRIVE", "a lane has coordinates that are not finite")
    side_m = np.ptp(points_m[:, :2], axis=0)
    if side_m.max() > limits.side_m or side_m.prod() > limits.area_m2:
        size = f"{side_m[0] / 1000:.1f} x {side_m[1] / 1000:.1f} km"
        most = f"{limits.side_m / 1000:.0f} km a side and {limits.area_m2 / 1e6:.0f} square km"
        raise OpenDriveRefused(source, 1, "OpenDRIVE", f"its lanes cover {size}; at most {most} are allowed")
    if np.abs(points_m[:, 2]).max() > MOST_HEIGHT_M:
        raise OpenDriveRefused(source, 1, "OpenDRIVE", f"a lane lies more than {MOST_HEIGHT_M:.0f} m above or below 0")
    widest_m = max(float(strip.width_m.max()) for strip in strips)
    if widest_m > MOST_WIDTH_M:
        raise OpenDriveRefused(
            source, 1, "OpenDRIVE", f"a lane is {widest_m:.0f} m wide; at most {MOST_WIDTH_M:.0f} m are allowed"
        )
