"""Cross-sections of streets."""

from headless_simulator.towns.streets import Profile
from headless_simulator.towns.xodr_writer import LaneSpec

LANE_M = 3.5
GUTTER_M = 0.5


def _side(
    lanes: int, *, lane_m: float, parking: bool, sidewalk_m: float, shoulder_m: float, edge: str
) -> tuple[LaneSpec, ...]:
    rows = []
    for number in range(lanes):
        if number < lanes - 1:
            # Each lane's mark applies to the border with its right neighbour, which both may cross.
            rows.append(LaneSpec("driving", lane_m, mark="broken", change="both"))
        else:
            rows.append(LaneSpec("driving", lane_m, mark=edge))
    if parking:
        rows.append(LaneSpec("parking", 2.3))
    if shoulder_m:
        rows.append(LaneSpec("shoulder", shoulder_m))
    if sidewalk_m:
        rows.append(LaneSpec("sidewalk", sidewalk_m))
    return tuple(rows)


def street(
    lanes: int,
    *,
    lane_m: float = LANE_M,
    parking: tuple[bool, bool] = (False, False),
    sidewalk_m: float = 3.5,
    shoulder_m: float = GUTTER_M,
    median_m: float = 0.0,
    edge: str = "none",
    speed_kmh: float = 50.0,
    kind: str = "town",
) -> Profile:
    """Return a two-way street with ``lanes`` each way; ``parking`` on the left and right side."""
    both = [
        _side(lanes, lane_m=lane_m, parking=has, sidewalk_m=sidewalk_m, shoulder_m=shoulder_m, edge=edge)
        for has in parking
    ]
    centre = "broken" if lanes == 1 else "solid solid"
    if not median_m:
        return Profile(both[0], both[1], speed_kmh, centre, kind)
    # One lane, not a half on each side: two median lanes would be each other's left neighbour, and clients that search
    # leftwards for a driving lane would loop endlessly between them.
    strip = LaneSpec("median", median_m, mark="solid", mark_colour="yellow")
    return Profile((strip, *both[0]), both[1], speed_kmh, "solid", kind, offset_m=-median_m / 2)


def one_way(
    lanes: int,
    *,
    lane_m: float = LANE_M,
    sidewalk_m: float = 0.0,
    shoulder_m: float = GUTTER_M,
    left_shoulder_m: float = 0.0,
    island_m: float = 0.0,
    edge: str = "none",
    speed_kmh: float = 40.0,
) -> Profile:
    """Return a one-way street; ``left_shoulder_m`` paves its left edge, or ``island_m`` is an island's kerb there."""
    right = _side(lanes, lane_m=lane_m, parking=False, sidewalk_m=sidewalk_m, shoulder_m=shoulder_m, edge=edge)
    left = (LaneSpec("shoulder", left_shoulder_m),) if left_shoulder_m else ()
    left = (LaneSpec("curb", island_m),) if island_m else left
    return Profile(left, right, speed_kmh, "none", "town")
