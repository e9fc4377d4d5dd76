"""Places for corner cases and the cameras that see them: pure, seeded and independent of the simulator.

Everything is in the map frame, metres. ``SolidGround`` queries the simulator: whether the ground is level and free, and
whether a line of sight is free.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from uavsim.errors import SceneVoid
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.corner_cases.case_plans import COVERED_SHARE, CornerCasePlan, own_parts, parts_outline_m
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import SensorSpec
from uavsim.typing import BoolArray, FloatArray, IntArray

_MARGIN_PX: Final = 6.0
_MOST_QUERIED: Final = 400  # queried places for each case
_MOST_EYES: Final = 6  # queried lines of sight for each place
_AROUND_M: Final = 0.5  # checked margin around an outline: traffic starts farther away
_EDGE_M: Final = 0.2
_FARTHEST_M: Final = 150.0


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """N places of a rule: (N, 3) positions on the ground, (N,) headings, (N,) free metres to either side.

    ``at_right_edge``: a case stands at the right edge of its strip, not in the middle.
    """

    place_m: FloatArray
    yaw_rad: FloatArray
    half_width_m: FloatArray
    at_right_edge: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Eye:
    """One camera at one keyframe."""

    map_SE3_optical: SE3
    spec: SensorSpec


@dataclass(frozen=True, slots=True, eq=False)
class CasePlace:
    """A case's place, the reach of its outline, and its expected number of pixels."""

    map_SE3_case: SE3
    radius_m: float
    expected_px: float


class SolidGround(Protocol):
    """Queries to the simulator about a place; map frame, metres."""

    def level(self, points_m: FloatArray) -> float | None:
        """Return the height of the ground under (N, 3) points; None if it is uneven or occupied."""

    def sees(self, eye_m: FloatArray, target_m: FloatArray) -> bool:
        """Return whether the line between two (3,) points is free of the town's obstacles."""


def eyes_of_plan(plan: ScenePlan) -> list[Eye]:
    """Return every camera of every drone at every keyframe."""
    steps = range(0, (plan.samples - 1) * plan.keyframe_every_steps + 1, plan.keyframe_every_steps)
    drones = range(len(plan.swarm.drone_ids))
    return [
        Eye(plan.swarm.map_SE3_flu[step, drone] @ spec.flu_SE3_sensor, spec)
        for step in steps
        for drone in drones
        for spec in plan.cameras
    ]


def find_place(
    case: CornerCasePlan,
    lanes: Lanes,
    eyes: Sequence[Eye],
    *,
    ground: SolidGround,
    taken: Sequence[CasePlace],
    rng: np.random.Generator,
    refused: frozenset[int] = frozenset(),
) -> tuple[int, CasePlace]:
    """Return the first suitable place in random order, and its row in ``lanes``.

    Args:
        case: the case, which must fit and be visible.
        lanes: places that the case's rule allows.
        eyes: cameras, of which at least one must see the case.
        ground: queries to the simulator.
        taken: places of other cases.
        rng: generator; its draws do not depend on refused places.
        refused: rows that the simulator refused.

    Raises:
        SceneVoid: no place is suitable; the message counts the reasons.
    """
    rows = _near(lanes, eyes)
    order = rng.permutation(len(rows))
    turns_rad = rng.uniform(-np.pi, np.pi, len(rows))
    rejections = _Rejections()
    queries = 0
    for k in order.tolist():
        row = int(rows[k])
        if row in refused:
            rejections.count["refused by the simulator"] += 1
            continue
        pose = _pose(case, lanes, row, turn_rad=float(turns_rad[k]))
        outline_m = parts_outline_m(case.parts, pose)
        spare_m = float(lanes.half_width_m[row]) - _width_m(outline_m, pose, float(lanes.yaw_rad[row]))
        if lanes.at_right_edge:
            right = np.array([np.sin(lanes.yaw_rad[row]), -np.cos(lanes.yaw_rad[row]), 0.0])
            pose = SE3(pose.quat_wxyz, pose.translation_m + right * max(spare_m - _EDGE_M, 0.0))
            outline_m = parts_outline_m(case.parts, pose)
        radius_m = float(np.linalg.norm((outline_m - pose.translation_m)[:, :2], axis=1).max())
        if spare_m < 0.0:
            rejections.narrow(float(lanes.half_width_m[row]), spare_m)
        elif (apart_m := min((_apart_m(pose, radius_m, other) for other in taken), default=np.inf)) < case.clearance_m:
            rejections.taken(apart_m)
        elif not (views := _eyes_that_show(case, pose, outline_m, eyes)) or views[0][0] < case.min_visible_px:
            rejections.small(views[0][0] if views else 0.0)
        elif queries >= _MOST_QUERIED:
            break
        else:
            queries += 1
            around_m = 0.0 if case.on == "shoulder" else min(case.clearance_m, _AROUND_M)  # a kerb is beside a shoulder
            height_m = ground.level(_footprint(outline_m, pose, around_m))
            if height_m is None:
                rejections.count["uneven or occupied"] += 1
                continue
            pose = SE3(pose.quat_wxyz, np.array([*pose.translation_m[:2], height_m]))
            targets_m = _looked_at(case, pose)
            for expected_px, eye in views[:_MOST_EYES]:
                eye_m = eye.map_SE3_optical.translation_m
                if expected_px >= case.min_visible_px and all(ground.sees(eye_m, target_m) for target_m in targets_m):
                    return row, CasePlace(pose, radius_m, expected_px)
            rejections.count["hidden from the camera"] += 1
    rule = case.on if case.at is None else f"{case.on} at a {case.at}"
    raise SceneVoid(
        f"no place for corner case {case.name!r} on a {rule}: of {len(rows)} places {rejections.text()}; "
        f"{rejections.possible(case.on)}"
    )


@dataclass(slots=True)
class _Rejections:
    """Rejected places by reason, and the nearest possible requests."""

    count: Counter[str] = field(default_factory=Counter)
    largest_px: float = 0.0
    widest_m: float = 0.0
    needed_m: float = np.inf
    farthest_m: float = 0.0

    def narrow(self, half_width_m: float, spare_m: float) -> None:
        self.count["too narrow"] += 1
        self.widest_m = max(self.widest_m, 2.0 * half_width_m)
        self.needed_m = min(self.needed_m, 2.0 * (half_width_m - spare_m))

    def taken(self, apart_m: float) -> None:
        self.count["taken by another case"] += 1
        self.farthest_m = max(self.farthest_m, apart_m)

    def small(self, best_px: float) -> None:
        self.count["below min_visible_px in every image"] += 1
        self.largest_px = max(self.largest_px, best_px)

    def text(self) -> str:
        return ", ".join(f"{count} {reason}" for reason, count in self.count.most_common()) or "none is near the flight"

    def possible(self, rule: str) -> str:
        """Return the nearest possible request for each reason that has one."""
        requests = []
        if self.largest_px >= 1.0:
            requests.append(f"min_visible_px: {int(self.largest_px)}")
        if self.farthest_m > 0.0:
            requests.append(f"clearance_m: {np.floor(10.0 * self.farthest_m) / 10.0:g}")
        if self.widest_m > 0.0:
            requests.append(
                f"an object of {self.widest_m:.1f} m across the {rule} (this one is {self.needed_m:.1f} m wide)"
            )
        return (
            f"possible there: {', or '.join(requests)}"
            if requests
            else "fly another route, or choose another rule (on)"
        )


def _near(lanes: Lanes, eyes: Sequence[Eye]) -> IntArray:
    """Return (K,) rows of places near any camera."""
    eyes_m = np.unique(np.round([eye.map_SE3_optical.translation_m for eye in eyes], 1), axis=0)
    if not len(lanes.place_m):
        return np.zeros(0, dtype=np.int64)
    away_m = np.min([np.linalg.norm(lanes.place_m - eye_m, axis=1) for eye_m in eyes_m], axis=0)
    return np.flatnonzero(away_m < _FARTHEST_M).astype(np.int64)


def _pose(case: CornerCasePlan, lanes: Lanes, row: int, *, turn_rad: float) -> SE3:
    relative_yaw_rad = {"along": 0.0, "across": np.pi / 2, "any": turn_rad}[case.facing]
    return SE3(quaternion.from_yaw(float(lanes.yaw_rad[row]) + relative_yaw_rad), lanes.place_m[row])


def _width_m(outline_m: FloatArray, pose: SE3, yaw_rad: float) -> float:
    """Return the maximum distance of an outline's (N, 3) points from the lane's middle, across the lane, metres."""
    away_m = (outline_m - pose.translation_m)[:, :2]
    return float(np.abs(away_m @ (-np.sin(yaw_rad), np.cos(yaw_rad))).max())


def _apart_m(pose: SE3, radius_m: float, other: CasePlace) -> float:
    between_m = float(np.linalg.norm((pose.translation_m - other.map_SE3_case.translation_m)[:2]))
    return between_m - radius_m - other.radius_m


def _footprint(outline_m: FloatArray, pose: SE3, around_m: float) -> FloatArray:
    """Return (9, 3) map points on the ground under an outline and its margin: corners, middles of the sides, centre."""
    corners_case_m = pose.apply_inverse(outline_m)
    low, high = corners_case_m[:, :2].min(axis=0), corners_case_m[:, :2].max(axis=0)
    x = np.array([low[0] - around_m, (low[0] + high[0]) / 2, high[0] + around_m])
    y = np.array([low[1] - around_m, (low[1] + high[1]) / 2, high[1] + around_m])
    points_m = np.array([(a, b, 0.0) for a in x for b in y])
    return pose.apply(points_m)


def _looked_at(case: CornerCasePlan, pose: SE3) -> FloatArray:
    """Return (5, 3) map points that must be visible: the object's centre and its corners at half its height."""
    corners_case_m = pose.apply_inverse(parts_outline_m(own_parts(case), pose))
    low, high = corners_case_m.min(axis=0), corners_case_m.max(axis=0)
    middle = (low + high) / 2
    corners = [(x, y, middle[2]) for x in (low[0], high[0]) for y in (low[1], high[1])]
    return pose.apply(np.array([middle, *corners]))


def _eyes_that_show(
    case: CornerCasePlan, pose: SE3, outline_m: FloatArray, eyes: Sequence[Eye]
) -> list[tuple[float, Eye]]:
    """Return (pixels, camera) of the images that hold the whole case, the largest view first."""
    object_m = parts_outline_m(own_parts(case), pose)
    found: list[tuple[float, Eye]] = []
    for eye in eyes:
        if np.linalg.norm(eye.map_SE3_optical.translation_m - pose.translation_m) > _FARTHEST_M:
            continue
        camera = eye.spec.camera
        outline_optical_m = eye.map_SE3_optical.apply_inverse(outline_m)
        if (outline_optical_m[:, 2] < 1.0).any() or not _all_inside(camera.project(outline_optical_m), eye.spec).all():
            continue
        pixels = camera.project(eye.map_SE3_optical.apply_inverse(object_m))
        found.append((COVERED_SHARE * _outlined_px(pixels), eye))
    return sorted(found, key=lambda row: -row[0])


def _outlined_px(corners_px: FloatArray) -> float:
    """Return the area inside the outlines of N boxes, each a parallelepiped in the image, by their (8 N, 2) corners."""
    boxes = corners_px.reshape(-1, 2, 2, 2, 2)
    x, y, z = (np.diff(boxes, axis=axis).mean(axis=(1, 2, 3)) for axis in (1, 2, 3))
    area_px = sum(np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) for a, b in ((x, y), (y, z), (z, x)))
    return float(np.sum(area_px))


def _all_inside(pixels: FloatArray, spec: SensorSpec) -> BoolArray:
    size = (spec.camera.width_px - _MARGIN_PX, spec.camera.height_px - _MARGIN_PX)
    return np.asarray(((pixels > _MARGIN_PX) & (pixels < size)).all(axis=1), dtype=np.bool_)
