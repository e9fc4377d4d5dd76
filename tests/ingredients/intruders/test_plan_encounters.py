"""Encounters of scenes: from YAML to seeded paths, and refusals with alternatives."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from uavsim.config.library import Library
from uavsim.config.load import load
from uavsim.config.overrides import Overrides
from uavsim.errors import ConfigError
from uavsim.exports.formats.aot_encounters import Row, valid_encounters
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.images.codec import encode_png
from uavsim.ingredients.intruders import approach
from uavsim.ingredients.intruders.chart import draw_encounters
from uavsim.ingredients.intruders.encounters_config import EncountersConfig
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, intruders_of
from uavsim.ingredients.intruders.plan_encounters import EncounterScene, scene_intruders
from uavsim.ingredients.intruders.show import coverage
from uavsim.ingredients.intruders.sight import horizon_deg, is_valid, sighting
from uavsim.plan import plan_scenes
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import ScenePlan, SwarmTrajectory
from uavsim.records.sensors import CameraParams, SensorSpec
from uavsim.typing import FloatArray

HEAD = "profile: aot\ncamera: FRONT\n"
ONE = HEAD + "encounters: [{kind: aeroplane, range_m: 1500, cpa_m: 100, time_to_cpa_s: 30}]\n"


def scene_inputs(*, drones: int = 1, height_m: float = 100.0, y_m: float = 0.0, steps: int = 601) -> EncounterScene:
    """Return adjacent drones, 20 m apart, that fly east at 5 m/s over Town10HD; default: for a minute."""
    xyz = np.zeros((steps, drones, 3))
    xyz[..., 0] = 0.5 * np.arange(steps)[:, None] - 100.0
    xyz[..., 1] = y_m + 20.0 * np.arange(drones)
    xyz[..., 2] = height_m
    swarm = SwarmTrajectory(tuple(range(drones)), SE3(quaternion.IDENTITY, xyz))
    front = SensorSpec("FRONT", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), CameraParams(612, 512, 67.8), ("rgb", "instance"))
    return EncounterScene(Library.of().town("Town10HD").model, (front,), swarm, step_s=0.1)


def made_of(tmp_path: Path, text: str, where: EncounterScene) -> tuple[IntruderPlan, ...]:
    (tmp_path / "e.yaml").write_text(text)
    return scene_intruders(load(tmp_path / "e.yaml", EncountersConfig), where, seed=1, number=3)


def test_the_planned_path_matches_the_requested_encounter(tmp_path: Path) -> None:
    where = scene_inputs()
    (made,) = made_of(tmp_path, ONE, where)

    assert (made.name, made.kind, made.profile, made.collision_course) == ("Airplane1", "aeroplane", "aot", True)
    time_s: FloatArray = np.arange(601, dtype=np.float64) * 0.1
    own_m = where.swarm.map_SE3_flu.translation_m[:, 0]
    cpa = approach.closest_approach(time_s, own_m, made.map_SE3_flu.translation_m)
    assert (cpa.distance_m, cpa.time_s) == pytest.approx((100.0, 30.0), rel=1e-3)
    assert made.range_m == pytest.approx(1500.0)


def test_two_of_a_kind_have_two_names_and_keep_apart(tmp_path: Path) -> None:
    text = HEAD + (
        "separation_m: 60\nencounters:\n"
        "  - {kind: aeroplane, range_m: 1500, cpa_m: 100, time_to_cpa_s: 30, passing_deg: 0}\n"
        "  - {kind: aeroplane, range_m: 1500, cpa_m: 100, time_to_cpa_s: 30, passing_deg: 180, elevation_deg: 5}\n"
    )
    assert [made.name for made in made_of(tmp_path, text, scene_inputs(height_m=300.0))] == ["Airplane1", "Airplane2"]
    same_side = text.replace("passing_deg: 180, elevation_deg: 5", "passing_deg: 0")
    with pytest.raises(ConfigError, match=r"encounters\[1\].*within .* m of Airplane1 .*possible: "):
        made_of(tmp_path, same_side, scene_inputs(height_m=300.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("cpa_m: 100", "cpa_mm: 100"), r"e.yaml:3: encounters\[0\].cpa_mm: unknown key; did you mean 'cpa_m'\?"),
        (("aeroplane", "airplane"), r"unknown value 'airplane'; did you mean 'aeroplane'\?"),
        (
            ("cpa_m: 100, ", ""),
            r"set three of range_m, closing_mps, cpa_m, time_to_cpa_s; set now: range_m, time_to_cpa_s",
        ),
        (("time_to_cpa_s: 30", "time_to_cpa_s: 3"), r"scene 3: .*fly at 4\d\d\.. m/s, an aeroplane .*; possible: "),
        (("range_m: 1500", "path: turning, range_m: 1500"), r"path turning needs turn_dps"),
        (("range_m: 1500", "turn_dps: 2, range_m: 1500"), r"path rectilinear takes no turn_dps"),
        (
            ("camera: FRONT", "camera: FRNT"),
            r"e.yaml:2: camera: unknown camera of the rig 'FRNT'; did you mean 'FRONT'\?",
        ),
        (("camera: FRONT", "camera: FRONT\ndrone: 4"), r"drone: the formation has drones 0 to 0, not 4"),
    ],
)
def test_bad_input_is_one_line_with_a_remedy(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        made_of(tmp_path, ONE.replace(*change), scene_inputs())
    assert "\n" not in str(caught.value)


def test_encounters_keep_clear_of_buildings_and_other_drones(tmp_path: Path) -> None:
    low = HEAD + "encounters: [{kind: drone, range_m: 80, cpa_m: 8, time_to_cpa_s: 12, passing_deg: 0}]\n"
    with pytest.raises(ConfigError, match=r"within .* m of 'building \d'"):  # over the south-west of Town10HD
        made_of(tmp_path, low, scene_inputs(height_m=25.0, y_m=-60.0))
    beside = HEAD + "encounters: [{kind: drone, range_m: 300, cpa_m: 20, time_to_cpa_s: 12, passing_deg: 180}]\n"
    with pytest.raises(ConfigError, match="m of drone 1"):
        made_of(tmp_path, beside, scene_inputs(drones=2))


SCENES = 8


@pytest.fixture(scope="module")
def plans() -> list[ScenePlan]:
    """Return scenes of ``aot-mini``."""
    return plan_scenes("aot-mini", scenes=range(SCENES))


def test_draws_reach_the_target_shares(plans: list[ScenePlan]) -> None:
    made = [intruder for plan in plans for intruder in intruders_of(plan) if intruder.planned]

    assert 0.35 <= np.mean([i.collision_course for i in made]) <= 0.75  # 55 % are wanted
    assert max(i.azimuth_deg for i in made) - min(i.azimuth_deg for i in made) > 80.0  # of 120
    model = Library.of().of_ingredient("encounters", "aot").model
    report = {row.measure: row for row in coverage(plans, model.wanted, within_deg=model.horizon_within_deg)}
    assert report["on collision course"].wanted == "55 %"
    above = int(report["above the horizon, of images"].made.removesuffix(" %"))
    assert 55 <= above <= 100
    for plan in plans:
        assert all(sighting(plan, intruder).in_image.sum() * 0.1 >= 5.0 for intruder in intruders_of(plan))


def test_every_flight_has_an_encounter_that_aots_rule_takes(plans: list[ScenePlan]) -> None:
    for plan in plans:
        view = sighting(plan, intruders_of(plan)[0])
        rows = [
            Row("f", f"{k:05d}", k, k, "A", (), float(view.range_m[k]), 1)
            for k in np.flatnonzero(view.in_image).tolist()
        ]
        assert valid_encounters(rows), plan.scene_name


def test_some_flights_have_several_intruders_and_some_nothing_planned_beside_them(plans: list[ScenePlan]) -> None:
    planned = [sum(i.planned for i in intruders_of(plan)) for plan in plans]
    kinds = {i.kind for plan in plans for i in intruders_of(plan) if not i.planned}

    assert min(planned) == 1
    assert {2, 3} & set(planned)
    assert kinds & {"bird", "flock", "drone"}
    assert kinds & {"aeroplane", "helicopter"}


def test_further_encounters_come_from_far_above_and_below_and_leave_the_others_as_they_were() -> None:
    """They start outside of the camera's 28.4 degrees, and are in its image for a time."""
    source = Library.of().of_ingredient("encounters", "aot")
    steep = source.model.draw.further[0].model_copy(update={"intruders": {"1": 1.0}})
    flat = source.model.draw.model_copy(update={"further": ()})
    with_steep, without = (
        replace(source, model=source.model.model_copy(update={"draw": draw}))
        for draw in (flat.model_copy(update={"further": (steep,)}), flat)
    )
    where = scene_inputs(height_m=320.0, steps=901)
    alone = scene_intruders(without, where, seed=17, number=0)
    first, second = (scene_intruders(with_steep, where, seed=17, number=number) for number in (0, 2))
    assert [i.name for i in first[:-1]] == [i.name for i in alone]
    for one, same in zip(alone, first[:-1], strict=True):
        assert (one.map_SE3_flu.translation_m == same.map_SE3_flu.translation_m).all()
    assert first[-1].planned
    assert second[-1].planned
    assert min(first[-1].elevation_deg, second[-1].elevation_deg) < -28.4
    assert max(first[-1].elevation_deg, second[-1].elevation_deg) > 28.4


def test_a_run_of_images_is_valid_by_aots_rule() -> None:
    """30 images within 700 m, at most three apart, one of them within 330 m."""
    visible = np.ones(40, dtype=bool)
    near = np.linspace(500.0, 320.0, 40)
    assert is_valid(near, visible)
    assert not is_valid(near, visible, spare=1.2)
    assert not is_valid(near + 20.0, visible)
    assert not is_valid(near[-29:], visible[-29:])
    gap = visible.copy()
    gap[20:22] = False
    assert is_valid(near, gap)
    gap[20:23] = False
    assert not is_valid(near, gap)


def test_each_encounter_is_drawn_in_a_row_of_its_own(plans: list[ScenePlan]) -> None:
    one, two = draw_encounters(plans[:1]), draw_encounters(plans[:2])

    assert two.shape[0] - one.shape[0] > 340
    assert one[: one.shape[0] - 46].std() > 1.0
    assert encode_png(two)


def test_the_same_seed_gives_the_same_encounters_whichever_scenes_are_made(plans: list[ScenePlan]) -> None:
    (again,) = plan_scenes("aot-mini", scenes=[5])
    (other,) = plan_scenes("aot-mini", scenes=[5], overrides=Overrides(seed=99))

    assert pack_plan(plans[5]) == pack_plan(again) == pack_plan(unpack_plan(pack_plan(again)))
    assert intruders_of(plans[5])[0].range_m != intruders_of(other)[0].range_m


def test_fewer_samples_are_the_begin_of_the_same_flight(plans: list[ScenePlan]) -> None:
    (short,) = plan_scenes("aot-mini", scenes=[3], overrides=Overrides(samples=20))
    longer = plans[3]

    assert len(short.swarm.map_SE3_flu) == len(intruders_of(short)[0].map_SE3_flu) == 20
    for a, b in (
        (longer.swarm.map_SE3_flu, short.swarm.map_SE3_flu),
        (intruders_of(longer)[0].map_SE3_flu, intruders_of(short)[0].map_SE3_flu),
    ):
        np.testing.assert_array_equal(a.translation_m[:20], b.translation_m)
    assert intruders_of(longer)[0].cpa_s == intruders_of(short)[0].cpa_s


def test_a_scene_may_have_both_an_encounter_and_a_corner_case(tmp_path: Path) -> None:
    (tmp_path / "near.yaml").write_text(
        "profile: swarm\ncamera: FRONT\nground_clearance_m: 10\n"
        "encounters: [{kind: drone, range_m: 40, cpa_m: 8, time_to_cpa_s: 5, elevation_deg: 4}]\n"
    )
    (tmp_path / "both.yaml").write_text(
        "towns: {Town10HD: {scenes: 1, routes: [town10_row3_col3]}}\nsamples: 60\nkeyframe_s: 0.1\nstep_s: 0.1\n"
        "formation: solo\nrig: swarm\nencounters: near.yaml\ncorner_cases: {from: road_hazards, min_visible_px: 60}\n"
    )
    (plan,) = plan_scenes(str(tmp_path / "both.yaml"))

    assert [intruder.kind for intruder in intruders_of(plan)] == ["drone"]
    assert [case.name for case in plan.ingredients["corner_cases"].cases] == ["roof_bicycle"]


def test_the_horizon_of_the_land_is_lower_from_higher_up() -> None:
    assert horizon_deg(0.0) == 0.0
    assert horizon_deg(6000.0) == pytest.approx(-45.0)
