"""Places of corner cases by CARLA's map and rays, with synthetic lanes and hits."""

from types import SimpleNamespace
from typing import Any, cast

import carla
import numpy as np
import pytest
from headless_simulator.towns.load import load_town

from tools.common.plans import scene_plan
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.carla.corner_cases import PlacedCases, WorldGround, finish, rows_on
from uavsim.ingredients.corner_cases.case_plans import CasePart, CornerCasePlan, CornerCasesPlan, role_of_part
from uavsim.records.recording import ActorInfo

Kind = carla.LaneType


def lanes(*kinds: tuple[Any, float], yaw: float = 90.0) -> Any:
    """Return the innermost of adjacent lanes of given widths along UE's y."""
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


@pytest.fixture(scope="module")
def town() -> carla.Map:
    return carla.Map("Town10HD", load_town("Town10HD").opendrive)


def places_m(town: carla.Map, on: Any, at: Any) -> Any:
    """Return (N, 2) places of a rule in a world with a map only, simulator frame, metres."""
    world = SimpleNamespace(get_map=lambda: town)
    cases = CornerCasesPlan("street", 1, (), {}, {})
    lanes = PlacedCases(cast("Any", None), cast("Any", world), scene_plan(samples=2), cases).lanes_for(on, at)
    return lanes.place_m[:, :2] * (1.0, -1.0)


@pytest.mark.parametrize("on", ["lane", "shoulder", "sidewalk"])
def test_a_case_at_a_crossing_is_near_one_of_carlas(town: carla.Map, on: str) -> None:
    corners = np.array([(corner.x, corner.y) for corner in town.get_crosswalks()])
    found = places_m(town, on, "crossing")
    assert 10 < len(found) < len(places_m(town, on, None)) / 2
    away = np.linalg.norm(found[:, None] - corners[None], axis=2).min(axis=1)
    assert away.max() < 5.0 + 6.0  # of a crossing with corners up to 12 m apart


def test_only_cases_at_junctions_are_in_or_before_one(town: carla.Map) -> None:
    def inside(xy_m: Any) -> bool:
        return bool(town.get_waypoint(carla.Location(x=xy_m[0], y=xy_m[1])).is_junction)

    at_junctions = places_m(town, "lane", "junction")
    within = [inside(xy_m) for xy_m in at_junctions]
    assert 0.5 < np.mean(within) < 1.0
    entries = np.array([xy_m for xy_m, is_in in zip(at_junctions, within, strict=True) if is_in])
    away = np.linalg.norm(at_junctions[:, None] - entries[None], axis=2).min(axis=1)
    assert away.max() < 5.0 + 3.5  # there is a place every two metres of lanes of 3.5 m
    between = [way.transform.location for way in town.generate_waypoints(2.0) if not way.is_junction]
    assert {(round(location.x, 3), round(location.y, 3)) for location in between} == {
        (round(x, 3), round(y, 3)) for x, y in places_m(town, "lane", None).tolist()
    }


ROAD, BUILDING = carla.CityObjectLabel.Roads, carla.CityObjectLabel.Buildings


class _Rays:
    """A world with ray hits from a function."""

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


def test_ray_hits_before_the_target_occlude_it() -> None:
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
