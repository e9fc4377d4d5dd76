"""What CARLA's map and rays say of places for corner cases, with lanes and hits on paper."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import carla
import numpy as np
import pytest

from uavsim.geometry.se3 import SE3
from uavsim.ingredients.corner_cases.carla import WorldGround, finish, rows_on
from uavsim.ingredients.corner_cases.records import CasePart, CornerCasePlan, CornerCasesPlan, role_of_part
from uavsim.records.recording import ActorInfo

Kind = carla.LaneType


def lanes(*kinds: tuple[Any, float], yaw: float = 90.0) -> Any:
    """Return the innermost of lanes side by side, each with its width, heading along UE's y."""
    here: Any = None
    for kind, width in reversed(kinds):
        pose = carla.Transform(carla.Location(10.0, 20.0, 0.5), carla.Rotation(yaw=yaw))
        here = SimpleNamespace(
            transform=pose, lane_width=width, lane_type=kind, get_right_lane=lambda to_the_right=here: to_the_right
        )
    return here


def Rays(*arguments: Any) -> Any:
    return _Rays(*arguments)


def test_the_middle_of_a_lane_is_a_place() -> None:
    assert rows_on(lanes((Kind.Driving, 3.5)), "lane") == [(10.0, 20.0, 0.5, 90.0, 3.5)]


def test_a_pavement_is_found_beyond_a_shoulder() -> None:
    street = lanes((Kind.Driving, 3.5), (Kind.Shoulder, 1.0), (Kind.Sidewalk, 2.5))
    assert rows_on(street, "sidewalk") == [(10.0, 20.0, 0.5, 90.0, 2.5)]
    assert rows_on(lanes((Kind.Driving, 3.5)), "sidewalk") == []


def test_a_shoulder_is_the_last_lane_with_its_shoulder_and_that_lane_alone() -> None:
    wide, alone = rows_on(lanes((Kind.Driving, 3.5), (Kind.Shoulder, 1.0)), "shoulder")
    # heading along UE's y, right is minus x: half of the shoulder's metre to that side, and as wide as both
    np.testing.assert_allclose(wide, (9.5, 20.0, 0.5, 90.0, 4.5))
    assert alone == (10.0, 20.0, 0.5, 90.0, 3.5)
    assert rows_on(lanes((Kind.Driving, 3.5), (Kind.Driving, 3.5)), "shoulder") == []  # not the last one


ROAD, BUILDING = carla.CityObjectLabel.Roads, carla.CityObjectLabel.Buildings


class _Rays:
    """A world whose rays meet what a function says."""

    def __init__(self, hit: Any) -> None:
        self._hit = hit

    def cast_ray(self, start: Any, end: Any) -> list[Any]:
        found = self._hit(start, end)
        return [] if found is None else [SimpleNamespace(location=found[0], label=found[1])]


@pytest.mark.parametrize(
    ("hit", "height_m"),
    [
        (lambda start, _: (carla.Location(start.x, start.y, 1.25), ROAD), 1.25),
        (lambda start, _: (carla.Location(start.x, start.y, 5.0), BUILDING), None),
        (lambda start, _: (carla.Location(start.x, start.y, 0.15 * (start.x > 0.5)), ROAD), None),  # a kerb
        (lambda *_: None, None),
    ],
)
def test_ground_is_level_and_free_or_none(hit: Any, height_m: float | None) -> None:
    points_m = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    assert WorldGround(Rays(hit)).level(points_m) == (pytest.approx(height_m) if height_m is not None else None)


def test_what_is_met_on_the_way_hides_and_what_is_met_at_the_end_does_not() -> None:
    eye_m, target_m = np.array([0.0, 0.0, 20.0]), np.array([0.0, 0.0, 0.3])
    tree = Rays(lambda *_: (carla.Location(0.0, 0.0, 6.0), BUILDING))
    road = Rays(lambda *_: (carla.Location(0.0, 0.0, 0.35), ROAD))
    assert not WorldGround(tree).sees(eye_m, target_m)
    assert WorldGround(road).sees(eye_m, target_m)
    assert WorldGround(Rays(lambda *_: None)).sees(eye_m, target_m)


def test_open_doors_widen_the_box_of_the_part_that_has_them() -> None:
    nowhere = (0.0, 0.0, 0.0)
    parts = tuple(
        CasePart("vehicle.ford.crown", "car", nowhere, nowhere, (2.6, 0.9, 0.8), doors_open=opened)
        for opened in (False, True)
    )
    case = CornerCasePlan("doors", "car", "lane", "along", 1.0, 1, parts)
    plan = CornerCasesPlan("street", 1, (case,), {}, {})
    infos = [
        ActorInfo(
            k + 1,
            50 + k,
            "case_vehicle",
            "vehicle.ford.crown",
            "car",
            (2.6, 0.9, 0.8),
            SE3.identity(),
            14,
            {"role_name": role},
        )
        for k, role in enumerate((role_of_part(0, 0), role_of_part(0, 1), "autopilot", role_of_part(3, 0)))
    ]
    opened: list[int] = []
    actors = [SimpleNamespace(open_door=lambda _doors, k=k: opened.append(k)) for k in range(4)]
    widths_m = [
        finish(plan, cast("Any", actor), info).half_extent_m[1] for actor, info in zip(actors, infos, strict=True)
    ]
    np.testing.assert_allclose(widths_m, [0.9, 1.8, 0.9, 0.9])
    assert opened == [1]
