"""Corner cases depend on scene number and dataset seed, and are refused if no camera could show them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uavsim.config.overrides import Overrides
from uavsim.errors import ConfigError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.corner_cases.case_plans import CasePart, part_of_role, parts_outline_m, role_of_part
from uavsim.plan import plan_scenes
from uavsim.records.codec import pack_plan, unpack_plan

DATASET = """
towns: {Town10HD: {scenes: 8, routes: [town10_row3_col3]}}
samples: 2
formation: solo
rig: openad
weather: WEATHER
corner_cases: CASES
"""


def planned(tmp_path: Path, cases: str, *, weather: str = "clear_noon", extra: str = "", seed: int = 3) -> list[Any]:
    path = tmp_path / "cases.yaml"
    path.write_text(DATASET.replace("CASES", cases).replace("WEATHER", weather) + extra, encoding="utf-8")
    return plan_scenes(str(path), overrides=Overrides(seed=seed))


def test_kinds_come_in_turn(tmp_path: Path) -> None:
    plans = planned(tmp_path, "{from: road_hazards, kinds: [wire, manhole, ladder], per_scene: 2}")
    names = [[case.name for case in plan.ingredients["corner_cases"].cases] for plan in plans]
    assert names[:3] == [["wire", "manhole"], ["ladder", "wire"], ["manhole", "ladder"]]


def test_a_single_case_may_have_to_be_larger_than_the_others(tmp_path: Path) -> None:
    cases = "{from: road_hazards, kinds: [wire, manhole], min_visible_px: 90, min_visible_px_of: {manhole: 120}}"
    plans = planned(tmp_path, cases)
    assert [plan.ingredients["corner_cases"].cases[0].min_visible_px for plan in plans[:2]] == [90, 120]


def test_drawn_kinds_follow_the_seed(tmp_path: Path) -> None:
    cases = "{from: road_hazards, order: drawn}"
    first, again, other = (planned(tmp_path, cases, seed=seed) for seed in (5, 5, 6))
    names = [[plan.ingredients["corner_cases"].cases[0].name for plan in plans] for plans in (first, again, other)]
    assert names[0] == names[1] != names[2]


def test_a_plan_survives_the_way_to_the_client_and_one_without_keeps_its_bytes(tmp_path: Path) -> None:
    (plan,) = planned(tmp_path, "{from: road_hazards}")[:1]
    assert unpack_plan(pack_plan(plan)).ingredients["corner_cases"] == plan.ingredients["corner_cases"]
    (bare,) = plan_scenes("smoke", town="Town10HD", scenes=[0])
    assert b"corner_cases" not in pack_plan(bare)


@pytest.mark.parametrize(("weather", "in_nuscenes"), [("clear_noon", True), ("golden_hour", False)])
def test_the_domain_follows_from_town_and_weather(tmp_path: Path, weather: str, in_nuscenes: bool) -> None:
    plans = planned(tmp_path, "{from: road_hazards}", weather=weather)
    assert plans[0].ingredients["corner_cases"].in_domain == {"nuscenes": in_nuscenes, "kitti": False, "waymo": False}
    words = plans[0].ingredients["corner_cases"].words
    assert words["construction_barrier"].seen == {"nuscenes": True, "kitti": False, "waymo": False}
    assert words["car"].seen == {"nuscenes": True, "kitti": True, "waymo": True}


@pytest.mark.parametrize(
    ("cases", "extra", "message"),
    [
        (
            "{from: road_hazard}",
            "",
            "corner_cases.from: unknown file of corner cases 'road_hazard'; did you mean 'road_hazards'?",
        ),
        ("{from: road_hazards, kinds: [wire, manhol]}", "", "corner_cases.kinds[1]: unknown corner case"),
        (
            "{from: road_hazards, min_visible_px_of: {manhol: 9}}",
            "",
            "corner_cases.min_visible_px_of.manhol: unknown corner case of 'road_hazards': 'manhol'; did you mean 'manhole'?",
        ),
        ("{from: road_hazards}", "altitude_m: 150\nsplits: {rule: uav3d}", "excludes corner_cases"),
        (
            "{from: road_hazards, kinds: [tyres], min_visible_px: 4000}",
            "altitude_m: 20",
            "cases.tyres: is guaranteed only 726 px from 20 m up, but min_visible_px is 4000; fly at 8 m or lower",
        ),
    ],
)
def test_an_impossible_request_is_refused_with_the_nearest_possible(
    tmp_path: Path, cases: str, extra: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(tmp_path, cases, extra=extra)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_fallen_part_is_as_wide_as_it_was_high() -> None:
    lying = CasePart("static.prop.barrel", "barrel", (1.0, 2.0, 0.3), (0.0, 90.0, 0.0), (0.3, 0.3, 0.45))
    corners_m = parts_outline_m([lying], SE3.identity())
    # pitched nose up by 90 degrees, the barrel's top points backward
    np.testing.assert_allclose(corners_m.min(axis=0), [1.0 - 0.9, 1.7, 0.0], atol=1e-9)
    np.testing.assert_allclose(corners_m.max(axis=0), [1.0, 2.3, 0.6], atol=1e-9)


def test_a_role_names_the_part() -> None:
    assert part_of_role(role_of_part(2, 13)) == (2, 13)
    assert part_of_role("autopilot") is None
