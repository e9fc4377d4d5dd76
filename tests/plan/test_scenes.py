import dataclasses
import re

import numpy as np
import pytest

from uavsim.annotate.options import AnnotateOptions, options_of_plan
from uavsim.config.dataset import Labels
from uavsim.config.overrides import Overrides
from uavsim.errors import ConfigError, InputError, UnknownNameError
from uavsim.plan import DatasetPlanner, plan_scenes
from uavsim.plan.weather import PRESETS
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import LabelPlan

FORMATION = "drones: 2\nshape: line\nspacing_m: 10\n"
RIG = "cameras: {FRONT: {pitch_deg: -30}}\n"
TOWN = "name: Flat\ncarla_map: Flat\nshort_name: flat\nx_m: [-100, 100]\ny_m: [-100, 100]\nground_z_m: 3\n"
ROUTES = (
    "town: Flat\nroutes:\n  flat_row1_col1: {path: [[-50, 0], [50, 0]], speed_mps: 10}\n  other: {path: [[0, 0]]}\n"
)
DATASET = "towns:\n  Flat: {scenes: 3}\nformation: two\nrig: one\nsamples: 3\n"


@pytest.fixture
def write_user_file(tmp_path, monkeypatch):
    """Make a user's folder with one file of each kind; ``own(name, text)`` writes further files."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    write("flight_plans/formations/two.yaml", FORMATION)
    write("flight_plans/rigs/one.yaml", RIG)
    write("town_configs/flat.yaml", TOWN)
    write("flight_plans/flat.yaml", ROUTES)
    write("flight_plans/datasets/mine.yaml", DATASET)
    monkeypatch.chdir(tmp_path)
    return write


def test_the_main_job():
    plans = plan_scenes("smoke", town="Town10HD", scenes=[0, 1], overrides=Overrides(samples=5))
    assert [p.scene_name for p in plans] == ["scene_0000", "scene_0001"]
    plan = plans[0]
    assert (plan.step_us, plan.keyframe_every_steps, plan.samples) == (50_000, 10, 5)
    assert list(plan.capture_steps) == [0, 10, 20, 30, 40]
    assert plan.swarm.map_SE3_flu.translation_m.shape == (41, 5, 3)
    assert plan.channels[:6] == (
        "CAMERA_FRONT_id_0", "CAMERA_BACK_id_0", "CAMERA_LEFT_id_0", "CAMERA_RIGHT_id_0", "CAMERA_BOTTOM_id_0",
        "CAMERA_FRONT_id_1",
    )  # fmt: skip
    assert len(plan.channels) == 25
    np.testing.assert_allclose(plan.swarm.map_SE3_flu.translation_m[..., 2], 60.0)
    from_centre = plan.swarm.map_SE3_flu.translation_m[:, 1:] - plan.swarm.map_SE3_flu.translation_m[:, :1]
    np.testing.assert_allclose(from_centre[7], [[20, 0, 0], [-20, 0, 0], [0, 20, 0], [0, -20, 0]], atol=1e-9)
    np.testing.assert_array_equal(plan.weather.values, [PRESETS["ClearNoon"]])
    assert plan.ingredients["traffic"].vehicles == 60
    flown_m = np.linalg.norm(np.diff(plan.swarm.map_SE3_flu.translation_m[:, 0], axis=0), axis=1).sum()
    assert flown_m == pytest.approx(10.0, abs=0.01)  # 2 s at 5 m/s


def test_uav3ds_profile():
    plans = plan_scenes("uav3d", town="Town06", scenes=[250, 259, 260, 300, 499])
    assert [p.route_name for p in plans] == [
        "town06_row1_col1", "town06_row1_col1", "town06_row1_col2", "town06_row2_col1", "town06_row5_col5"
    ]  # fmt: skip
    assert plans[0].notes.route_row == "town06_row1"
    assert plans[0].scene_name == "scene_0250"
    camera = plans[0].rig[4]
    assert (camera.name, camera.mount_rpy_deg) == ("BOTTOM", (0, -90, 0))
    assert (camera.camera.width_px, camera.camera.height_px) == (800, 450)
    assert plans[0].keyframe_every_steps == 40
    assert plans[0].ingredients["traffic"].vehicles == 200
    assert len(plans[0].ingredients["traffic"].blueprints) == 17
    first_m, second_m = (plan.swarm.map_SE3_flu[0].translation_m for plan in plans[:2])
    assert not np.allclose(first_m, second_m)  # elsewhere on the same route


def test_uav3ds_mini():
    plans = plan_scenes("uav3d-mini")
    assert [p.scene_name for p in plans] == [f"scene_{n:02d}" for n in range(20)]
    assert [p.scene_index for p in plans if p.splits == ("uav_val",)] == [1, 2, 11, 12]
    assert all(p.splits == ("uav_train",) for p in plans if p.scene_index not in {1, 2, 11, 12})


def test_the_same_arguments_give_the_same_bytes():
    def flown(**more):
        return [
            pack_plan(p)
            for p in plan_scenes("all-weather", town="Town03", scenes=[41, 45], overrides=Overrides(**more))
        ]

    assert flown() == flown()
    assert flown() != flown(seed=8)
    alone = pack_plan(plan_scenes("all-weather", town="Town03", scenes=[45])[0])
    assert alone == flown()[1]  # a scene does not depend on the other requested scenes


def test_scenes_never_overlap_in_time():
    planner = DatasetPlanner.open("coperception-uav")
    plans = [plan for town in planner.dataset.model.towns for plan in planner.plans(town)]
    starts = np.array([p.start_timestamp_us for p in plans])
    ends = starts + [p.capture_steps[-1] * p.step_us for p in plans]
    assert (starts[1:] > ends[:-1]).all()
    assert len({p.seed for p in plans}) == len(plans)
    assert {p.swarm.map_SE3_flu.translation_m[0, 0, 2] for p in plans if p.formation_name == "coperception"} == {
        40,
        60,
        80,
    }


@pytest.mark.parametrize(
    "formation", ["cross", "vee", "line", "column", "diamond", "grid", "circle", "free", "stacked", "dynamic"]
)
def test_every_formation_flies_the_smoke_test(formation):
    plan = plan_scenes("smoke", town="Town10HD", scenes=[0], overrides=Overrides(samples=20, formation=formation))[0]
    assert plan.formation_name == formation
    assert np.isfinite(plan.swarm.map_SE3_flu.translation_m).all()
    np.testing.assert_allclose(np.linalg.norm(plan.swarm.map_SE3_flu.quat_wxyz, axis=-1), 1.0)


def test_own_files_without_python(write_user_file):
    write_user_file("flight_plans/weather/murky.yaml", "preset: CloudyNoon\nfog_density: 60\n")
    plans = plan_scenes("mine", overrides=Overrides(weather="murky"))
    assert [p.scene_name for p in plans] == ["scene_0000", "scene_0001", "scene_0002"]
    first, second, third = plans
    assert (first.route_name, second.route_name, third.route_name) == ("flat_row1_col1", "other", "flat_row1_col1")
    np.testing.assert_allclose(first.swarm.map_SE3_flu.translation_m[-1], [[-40, 0, 63], [-40, 10, 63]], atol=1e-6)
    np.testing.assert_allclose(second.swarm.map_SE3_flu.translation_m[-1], [[0, 0, 63], [0, 10, 63]])
    assert first.weather.values[0, 6] == 60
    assert first.town.mask_origin_map_m == (-120.0, -120.0)
    assert first.description == "Flat, flat_row1_col1, 2 drones in two, 60 m up, murky"
    assert plan_scenes("flight_plans/datasets/mine.yaml")[0].dataset == "mine"


def test_altitudes_in_order_of_precedence(write_user_file):
    def height(**more):
        return float(
            plan_scenes("mine", scenes=[0], overrides=Overrides(**more))[0].swarm.map_SE3_flu.translation_m[0, 0, 2]
        )

    write_user_file("flight_plans/formations/high.yaml", FORMATION + "altitude_m: 90\n")
    assert height() == 63
    assert height(formation="high") == 93
    write_user_file("flight_plans/flat.yaml", ROUTES.replace("speed_mps: 10", "speed_mps: 10, altitude_m: 70"))
    assert height(formation="high") == 73
    write_user_file("flight_plans/datasets/mine.yaml", DATASET + "altitude_m: 40\n")
    assert height(formation="high") == 43


def test_choices_instead_of_the_datasets(write_user_file):
    plan = plan_scenes(
        "mine",
        scenes=[2],
        overrides=Overrides(samples=2, seed=9, topology="bridge", formation="cross", rig="uav3d", weather="ClearNight"),
    )[0]
    assert (plan.samples, plan.topology, plan.formation_name, plan.rig_name) == (2, "bridge", "cross", "uav3d")
    assert plan.weather.name == "ClearNight"
    assert plan.notes.dataset_seed == 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"datasets/mine.yaml": DATASET.replace("two", "tow")},
            "mine.yaml:3: formation: unknown formation 'tow'; did you mean 'two'?",
        ),
        ({"datasets/mine.yaml": DATASET.replace("rig: one", "rig: nine")}, "mine.yaml:4: rig: unknown rig 'nine'"),
        (
            {"datasets/mine.yaml": DATASET.replace("rig: one", "rig: nine"), "datasets/nine.yaml": ""},
            "unknown rig 'nine'; for the file beside flight_plans/datasets/mine.yaml, write nine.yaml",
        ),
        (
            {"datasets/mine.yaml": DATASET + "weather:\n  cycle:\n  - ClearNoon\n  - ClearNon\n"},
            "mine.yaml:9: weather.cycle[1]: unknown weather 'ClearNon'; did you mean 'ClearNoon'?",
        ),
        (
            {"datasets/mine.yaml": DATASET + "weather:\n  draw:\n    night: 1\n    nihgt: 1\n"},
            "mine.yaml:9: weather.draw.nihgt: unknown weather 'nihgt'; did you mean 'night'?",
        ),
        (
            {"datasets/mine.yaml": DATASET.replace("Flat", "Falt")},
            "mine.yaml:2: towns.Falt: unknown town 'Falt'; did you mean 'Flat'?",
        ),
        (
            {"datasets/mine.yaml": DATASET.replace("scenes: 3", "scenes: 3, routes: [othr]")},
            "mine.yaml:2: towns.Flat.routes[0]: unknown route 'othr'; did you mean 'other'?",
        ),
        ({"datasets/mine.yaml": DATASET.replace("samples: 3", "samples: 9000")}, "mine.yaml:5: samples: a scene of 4499.5 s"),
        (
            {"formations/two.yaml": FORMATION.replace("10", "200")},
            "with formation 'two' drone 1 reaches x=-50.0 y=200.0 at 0.00 s, outside Flat",
        ),
        (
            {"formations/two.yaml": FORMATION.replace("10", "2")},
            "two.yaml:3: spacing_m: drones 0 and 1 come within 2.00 m of each other at 0.00 s on route 'flat_row1_col1'",
        ),
        (
            {"../town_configs/flat.yaml": TOWN + "obstacles: [{name: mast, x_m: [-46, -45], y_m: [-1, 1], top_m: 90}]\n"},
            "routes.flat_row1_col1: with formation 'two' drone 0 comes within 0.0 m of 'mast' at 0.40 s (clearance_m is 5)",
        ),
        (
            {"weather/odd.yaml": "preset: Nice\n", "datasets/mine.yaml": DATASET + "weather: odd\n"},
            "odd.yaml:1: preset: CARLA has no preset 'Nice'",
        ),
    ],
)  # fmt: skip
def test_impossible_flights_are_refused_with_their_line(write_user_file, changes, message):
    for name, text in changes.items():
        write_user_file(f"flight_plans/{name}", text)
    with pytest.raises(ConfigError) as caught:
        plan_scenes("mine")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"overrides": {"seed": 2**63}}, InputError, "a seed is between"),
        ({"overrides": {"topology": "brige"}}, UnknownNameError, "did you mean 'bridge'"),
        ({"overrides": {"formation": "crss"}}, UnknownNameError, "did you mean 'cross'"),
        ({"overrides": {"weather": "foggy"}}, UnknownNameError, "unknown weather 'foggy'"),
        ({"overrides": {"rig": "uav3"}}, UnknownNameError, "did you mean 'uav3d'"),
        ({"town": "Town99"}, UnknownNameError, "unknown town of the dataset 'smoke'"),
        ({"scenes": [555]}, InputError, "Town10HD has no scene 555"),
    ],
)
def test_impossible_arguments_are_refused(arguments, error, message):
    more = {"overrides": Overrides(**arguments.pop("overrides", {}))}
    with pytest.raises(error, match=message):
        plan_scenes("smoke", **({"town": "Town10HD"} | arguments | more))


def test_degradations_in_microseconds_and_with_their_own_seed():
    first, second = plan_scenes("degraded")
    assert first.degradations.latency_us == 100_000
    assert first.degradations.clock_offset_us == 20_000
    assert first.degradations.position_bias_m == (0.5, 0.0, 0.0)
    assert first.degradations.seed != second.degradations.seed
    assert first.degradations.seed != first.seed
    assert plan_scenes("smoke", scenes=[0])[0].degradations is None


def test_a_scene_of_too_many_steps(write_user_file):
    write_user_file("flight_plans/datasets/mine.yaml", DATASET + "step_s: 0.001\nkeyframe_s: 60\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml:5: samples: a scene needs 120000 steps"):
        plan_scenes("mine")


def test_label_options_reach_the_labeller(write_user_file):
    write_user_file("flight_plans/datasets/mine.yaml", DATASET + "labels: {classes: [car, bus], range_m: 102.4}\n")
    plan = plan_scenes("mine", scenes=[0])[0]
    assert plan.labels == LabelPlan(classes=("car", "bus"), range_m=102.4)
    options = options_of_plan(unpack_plan(pack_plan(plan)))
    assert (options.classes, options.range_m) == (("car", "bus"), 102.4)
    assert options_of_plan(plan_scenes("smoke", scenes=[0])[0]) == AnnotateOptions()


def test_every_label_option_can_be_written():
    names = set(Labels.model_fields) - {"occupancy"}  # is no label of a recording, but of a whole dataset
    assert names == {field.name for field in dataclasses.fields(AnnotateOptions)}
    assert names == {field.name for field in dataclasses.fields(LabelPlan)}


TWO_CAMERAS = "cameras: {FRONT: {pitch_deg: -30}, BACK: {pitch_deg: -30, yaw_deg: 180%s}}\n"
CLIP = DATASET.replace("samples: 3\n", "") + "captures: {clip: {fps: 16, frames: 9, cameras: [%s]}}\nkeyframe_s: 0.25\n"


def test_chosen_cameras_of_a_clip_film_and_others_take_keyframes(write_user_file):
    write_user_file("flight_plans/rigs/one.yaml", TWO_CAMERAS % "")
    write_user_file("flight_plans/datasets/mine.yaml", CLIP % "BACK")
    plan = plan_scenes("mine", scenes=[0])[0]
    filmed = {step: [sensor.channel for sensor in plan.sensors_at(step)] for step in plan.capture_steps}
    every = ["CAMERA_FRONT_id_0", "CAMERA_BACK_id_0", "CAMERA_FRONT_id_1", "CAMERA_BACK_id_1"]
    assert filmed == {step: every if step in (0, 4, 8) else every[1::2] for step in range(9)}
    assert plan.image_count == sum(map(len, filmed.values())) == 3 * 4 + 6 * 2


@pytest.mark.parametrize(
    ("named", "more", "said"),
    [
        ("BAKC", "", "no rig has a camera 'BAKC'; did you mean 'BACK'?"),
        ("FRONT", ", sensors: [rgb, instance, optical_flow]", "optical_flow of camera BACK measures changes between"),
    ],
)
def test_cameras_that_cannot_be_chosen_are_refused(write_user_file, named, more, said):
    write_user_file("flight_plans/rigs/one.yaml", TWO_CAMERAS % more)
    write_user_file("flight_plans/datasets/mine.yaml", CLIP % named)
    with pytest.raises(ConfigError, match=re.escape(f"mine.yaml:5: captures.clip.cameras: {said}")):
        plan_scenes("mine", scenes=[0])


@pytest.mark.parametrize(
    ("twins", "said"),
    [
        ("{weather: [night, nigt]}", "twins.weather[1]: unknown weather 'nigt'; did you mean 'night'?"),
        ("{skins: [stret]}", "twins.skins[0]: unknown skin 'stret'; did you mean 'street'?"),
    ],
)
def test_unknown_twins_are_refused_before_anything_flies(write_user_file, twins, said):
    write_user_file("flight_plans/datasets/mine.yaml", DATASET + f"twins: {twins}\n")
    with pytest.raises(ConfigError, match=re.escape(f"mine.yaml:6: {said}")):
        plan_scenes("mine", scenes=[0])
