"""The solver against values calculated by hand, and against measurements of flights."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.common import encounters
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.intruders.paths import Impossible, OwnPath
from uavsim.ingredients.intruders.refusals import nearest_possible, refuse
from uavsim.ingredients.intruders.solve import EncounterSpec, solve
from uavsim.typing import FloatArray

TIME_S: FloatArray = np.arange(601, dtype=np.float64) * 0.1
EAST_10 = OwnPath(TIME_S, np.column_stack([10.0 * TIME_S, np.zeros(601), np.full(601, 100.0)]))
AHEAD = SE3(quaternion.IDENTITY, EAST_10.position_m)
HEAD_ON = EncounterSpec("aeroplane", "rectilinear", 0.0, 0.0, range_m=1500.0, cpa_m=0.0, time_to_cpa_s=30.0)


def test_head_on_at_forty_metres_a_second() -> None:
    made = solve(HEAD_ON, EAST_10, AHEAD)  # 1500 m in 30 s, of which the own drone flies 300

    assert made.speed_mps == pytest.approx(40.0)
    assert made.closing_mps[0] == pytest.approx(50.0)
    assert made.map_SE3_flu.translation_m[300] == pytest.approx([300.0, 0.0, 100.0])
    nose = made.map_SE3_flu[0].rotate(np.array([1.0, 0.0, 0.0]))
    assert nose == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize(("passing_deg", "offset_m"), [(0.0, [0, -50, 0]), (180.0, [0, 50, 0]), (90.0, [0, 0, 50])])
def test_an_intruder_passes_on_the_requested_side(passing_deg: float, offset_m: list[float]) -> None:
    made = solve(replace(HEAD_ON, cpa_m=50.0, passing_deg=passing_deg), EAST_10, AHEAD)

    apart = made.map_SE3_flu.translation_m[300] - EAST_10.position_m[300]
    assert apart == pytest.approx(offset_m, abs=2.0)  # to the right is minus y; a little ahead or behind
    assert np.linalg.norm(apart) == pytest.approx(50.0, abs=1e-3)


def test_three_magnitudes_give_the_fourth() -> None:
    passing = replace(HEAD_ON, cpa_m=100.0, passing_deg=0.0)
    closing = float(solve(passing, EAST_10, AHEAD).closing_mps[0])
    for name in ("range_m", "cpa_m", "time_to_cpa_s"):
        made = solve(replace(passing, closing_mps=closing, **{name: None}), EAST_10, AHEAD)  # type: ignore[arg-type]
        assert (made.range_m[0], made.cpa.distance_m, made.cpa.time_s) == pytest.approx((1500, 100, 30), rel=1e-3)


def test_a_turn_a_weave_and_a_climb_are_flown() -> None:
    turning = solve(replace(HEAD_ON, path="turning", turn_dps=2.0), EAST_10, AHEAD)
    course = np.degrees(np.unwrap(quaternion.yaw(turning.map_SE3_flu.quat_wxyz)))
    assert np.diff(course)[100:200] / 0.1 == pytest.approx(-2.0, abs=1e-3)  # to the right
    left_wing = turning.map_SE3_flu[150].rotate(np.array([0.0, 1.0, 0.0]))
    assert left_wing[2] > 0.05  # it leans to the right

    weaving = solve(replace(HEAD_ON, path="non_cooperative", turn_dps=5.0, weave_s=10.0), EAST_10, AHEAD)
    course = np.degrees(np.unwrap(quaternion.yaw(weaving.map_SE3_flu.quat_wxyz)))
    assert course[0] == pytest.approx(course[100], abs=0.5)  # one period later
    assert np.ptp(course[:101]) == pytest.approx(5.0 * 10.0 / np.pi, rel=0.02)

    climbing = solve(replace(HEAD_ON, path="climbing", climb_mps=5.0, climb_before_s=10.0), EAST_10, AHEAD)
    upwards = np.gradient(climbing.map_SE3_flu.translation_m[:, 2], TIME_S)
    assert upwards[290] - upwards[100] == pytest.approx(5.0)


def test_overtaking_is_the_same_way() -> None:
    slow = EncounterSpec("drone", "overtaking", 5.0, 0.0, range_m=60.0, cpa_m=8.0, time_to_cpa_s=20.0)
    made = solve(slow, EAST_10, AHEAD)
    assert made.map_SE3_flu[0].rotate(np.array([1.0, 0, 0]))[0] > 0.7

    with pytest.raises(Impossible, match="courses differ by"):
        solve(replace(slow, time_to_cpa_s=3.0), EAST_10, AHEAD)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"time_to_cpa_s": 5.0}, r"would have to fly at 290 m/s, an aeroplane flies at 25 to 90 m/s"),
        ({"time_to_cpa_s": 90.0}, r"90.0 s after the start, the flight lasts 60.0 s"),
        ({"cpa_m": 1600.0}, r"cpa_m 1600 is not below range_m 1500"),
        ({"closing_mps": 90.0}, r"closing_mps 90 contradicts .* which give 50"),
        ({"turn_dps": 20.0, "path": "turning"}, r"an aeroplane turns by 8 degrees a second at most"),
        ({"elevation_deg": 30.0}, r"would have to sink at 25 m/s"),
        ({"range_m": None}, r"set three of .*; set now: cpa_m, time_to_cpa_s"),
        ({"begin_s": 61.0}, r"begins at 61 s, the flight ends at 60 s"),
    ],
)
def test_what_is_impossible_has_a_reason(change: dict[str, float], reason: str) -> None:
    with pytest.raises(Impossible, match=reason):
        solve(replace(HEAD_ON, **change), EAST_10, AHEAD)  # type: ignore[arg-type]


def test_a_refusal_names_the_nearest_possible_request() -> None:
    too_fast = replace(HEAD_ON, time_to_cpa_s=12.0)  # 115 m/s
    refusal = refuse(too_fast, EAST_10, AHEAD)

    assert refusal is not None
    assert refusal.text(too_fast).startswith("it would have to fly at 115 m/s")
    assert refusal.text(too_fast).endswith(
        "; possible: range_m: 1196"
    )  # at 90 m/s it flies 1080 m, the own drone 120 m
    assert refuse(HEAD_ON, EAST_10, AHEAD) is None


def test_clearance_conflicts_are_refused() -> None:
    refusal = refuse(HEAD_ON, EAST_10, AHEAD, clearance=lambda places: "a wall" if places[0, 2] < 150 else None)

    assert refusal is not None
    assert refusal.reason == "a wall"
    assert refusal.nearest is not None
    assert refusal.nearest.elevation_deg >= 1.9  # 50 m higher at 1500 m
    impossible = refuse(HEAD_ON, EAST_10, AHEAD, clearance=lambda _: "everywhere")
    assert impossible is not None
    assert impossible.text(HEAD_ON) == "everywhere; no request near it is possible"


def test_a_begin_too_near_is_refused_without_trying_other_sides() -> None:
    lowest_m: list[float] = []

    def above_150_m(places_m: FloatArray) -> str | None:
        lowest_m.append(float(places_m[:, 2].min()))
        return "the ground" if lowest_m[-1] < 150.0 else None

    with pytest.raises(Impossible, match="the ground"):
        solve(replace(HEAD_ON, cpa_m=20.0), EAST_10, AHEAD, clearance=above_150_m)
    assert len(lowest_m) == 2  # of the first side's path, and of its begin alone
    assert lowest_m[1] == pytest.approx(100.0)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_request_is_flown_exactly_or_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    own_path, camera = encounters.own_flight(rng)
    spec = encounters.random_request(rng)
    try:
        made = solve(spec, own_path, camera, clearance=encounters.above_ground)
    except Impossible:
        return
    wrong, _ = encounters.compare(spec, encounters.flown(made, own_path, camera))
    assert not wrong
    assert made.map_SE3_flu.translation_m[:, 2].min() >= encounters.LOWEST_M


@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_nearest_possible_request_is_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    own_path, camera = encounters.own_flight(rng)
    spec = replace(encounters.random_request(rng), elevation_deg=-30.0)
    near = nearest_possible(spec, own_path, camera, clearance=encounters.above_ground)
    if near is not None:
        made = solve(near, own_path, camera, clearance=encounters.above_ground)
        assert not encounters.compare(near, encounters.flown(made, own_path, camera))[0]
