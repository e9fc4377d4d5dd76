"""Drones, a traffic car and a pole with sensors: from YAML to a dataset that validator and devkit accept."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from headless_simulator.testing import RunningSimulator

from tests.e2e.command import hashes, succeed, uavsim
from uavsim.access import Scene, open_folder
from uavsim.config.overrides import Overrides
from uavsim.dataset.schema import AGENT, EGO_POSE, INSTANCE, SAMPLE_ANNOTATION, SAMPLE_DATA, VISIBILITY_DETAIL
from uavsim.errors import InputError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.opv2v import export_opv2v
from uavsim.geometry import quaternion
from uavsim.plan.scenes import plan_scenes
from uavsim.records.codec import pack_plan
from uavsim.validate.devkit_process import run_judge
from uavsim.validate.validator import validate_version

DATASET = """\
towns: {Town10HD: {scenes: 1, routes: [town10_row3_col3]}}
formation: stair.yaml
rig: nadir_small
samples: 2
warmup_s: 1
settle: false
seed: 8
traffic: {vehicles: 40}
vehicles: {count: 1, image_px: [160, 90]}
roadside: {count: 1, image_px: [160, 90]}
drone_bodies: {}
flight_sensors: {imu: {}, vehicles: {imu: {gyroscope: {}, accelerometer: {}}}}
"""
STAIR = """\
drones: 5
shape: line
spacing_m: 8
altitude_m: 60
altitude_offsets_m: [0, -15, -15, 15, 15]
"""
CAMERAS = ["FRONT", "FRONT_RIGHT", "BACK_RIGHT", "BACK", "BACK_LEFT", "FRONT_LEFT"]


@pytest.fixture(scope="module")
def yaml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("airground") / "airground.yaml"
    path.write_text(DATASET)
    (path.parent / "stair.yaml").write_text(STAIR)
    return path


@pytest.fixture(scope="module")
def out(yaml: Path, simulator: RunningSimulator) -> Path:
    return generated(yaml, yaml.parent / "out", "--simulator", simulator.carla)


@pytest.fixture(scope="module")
def scene(out: Path) -> Scene:
    return open_folder(out, "v1.0-mini").scene("scene_0000")


def generated(yaml: Path, out: Path, *more: str) -> Path:
    succeed("generate", "--dataset", yaml, "--out", out, *more)
    return out


def test_validator_and_devkit_accept_it(out: Path) -> None:
    assert validate_version(out, "v1.0-mini", workers=1).findings == ()
    report = run_judge("devkit_check", str(out), "v1.0-mini", "--only=tables", "--only=lidar")
    assert report["ok"], report


def test_channels_and_tables_name_the_agents(scene: Scene) -> None:
    assert [row["id"] for row in scene.rows(AGENT)] == ["0", "1", "2", "3", "4", "v0", "r0"]
    sample = scene.samples[1]
    drones = [f"CAMERA_BOTTOM_id_{n}" for n in range(5)]
    ground = [*(f"CAM_{name}_id_v0" for name in CAMERAS), "CAM_LEFT_id_r0", "CAM_RIGHT_id_r0"]
    assert [image.channel for image in sample.images] == [*drones, *ground]
    assert {scan.channel for scan in sample.lidars} == {"LIDAR_TOP", "LIDAR_TOP_id_v0", "LIDAR_TOP_id_r0"}
    assert len({image.timestamp_us for image in sample.images}) == 1
    assert (sample.boxes.lidar_points > 0).any()


def test_an_imu_on_the_car_moves_as_the_car_does(scene: Scene) -> None:
    streams = {stream.channel: stream for stream in scene.streams}
    assert {name: (s.motion, s.rate_hz) for name, s in streams.items()} == {
        **{f"IMU_id_{n}": ("planned", 200.0) for n in range(5)},
        "IMU_id_v0": ("reported", 20.0),
    }
    found = streams["IMU_id_v0"].readings()
    cars = [next(s for s in sample.lidars if s.channel == "LIDAR_TOP_id_v0").map_SE3_flu for sample in scene.samples]
    assert found["timestamp_us"][[0, -1]].tolist() == [sample.timestamp_us for sample in scene.samples]
    np.testing.assert_allclose(found["position_map_m"][[0, -1]], [car.translation_m for car in cars], atol=1e-4)
    acceleration_mps2 = quaternion.rotate(found["quat_wxyz"], found["accelerometer_mps2"]) - [0.0, 0.0, 9.81]
    position_m, velocity_mps = found["position_map_m"][0], found["velocity_map_mps"][0]
    for before, after in itertools.pairwise(acceleration_mps2):  # it is linear between two ticks
        position_m = position_m + velocity_mps * 0.05 + (2 * before + after) * 0.05**2 / 6
        velocity_mps = velocity_mps + (before + after) / 2 * 0.05
    np.testing.assert_allclose(position_m, cars[1].translation_m, atol=1e-3)


def test_the_cars_pose_is_its_own_boxs_at_the_tick(scene: Scene) -> None:
    car = next(row for row in scene.rows(AGENT) if row["id"] == "v0")
    assert car["instance_token"] in {row["token"] for row in scene.rows(INSTANCE)}
    for sample in scene.samples:
        (row,) = np.flatnonzero(np.array(sample.boxes.instance_tokens) == car["instance_token"])
        box = sample.boxes.map_SE3_box[int(row)]
        for image in (image for image in sample.images if image.channel.endswith("_v0")):
            origin_m = box.apply_inverse(image.map_SE3_flu.translation_m)
            assert np.abs(origin_m[:2]).max() < 0.3
            turn = quaternion.angle_between(box.quat_wxyz, image.map_SE3_flu.quat_wxyz)
            assert turn < np.radians(0.01)
    assert car["size"] == pytest.approx(sample.boxes.size_lwh_m[int(row)][[1, 0, 2]].tolist())


def test_a_car_has_a_box_for_all_others_and_none_in_its_own_images(scene: Scene) -> None:
    car = next(row for row in scene.rows(AGENT) if row["id"] == "v0")
    tracks = [scene.tracks[i] for i in range(len(scene.tracks))]
    car_track = next(track for track in tracks if track.instance_token == car["instance_token"])
    assert len(car_track.sample_numbers) == len(scene)
    boxes = {
        sample.boxes.tokens[row]
        for sample in scene.samples
        for row in np.flatnonzero(np.array(sample.boxes.instance_tokens) == car["instance_token"])
    }
    views = [view for row in scene.rows(VISIBILITY_DETAIL) if row["token"] in boxes for view in row["views"]]
    assert any(view["channel"].startswith("CAMERA_") for view in views)
    assert not any(view["channel"].endswith("_v0") for view in views)


def test_drones_are_seen_where_they_fly_and_not_by_themselves(scene: Scene) -> None:
    names = {row["instance_token"]: row["id"] for row in scene.rows(AGENT)}
    sample, visible_view_count = scene.samples[1], 0
    poses = {image.drone_id: image for image in sample.images if image.channel.startswith("CAMERA_")}
    for row, instance in enumerate(sample.boxes.instance_tokens):
        if sample.boxes.categories[row] == "vehicle.ego":
            number = int(names[instance])
            place_m = poses[number].map_SE3_flu.apply_inverse(sample.boxes.map_SE3_box.translation_m[row])
            assert place_m == pytest.approx([0.0, 0.0, 0.3], abs=2e-3)
            assert sample.boxes.velocity_map_mps[row] == pytest.approx(poses[number].drone_velocity_map_mps)
            views = [view for view in sample.boxes.views[row] if view["visible_px"]]
            assert not any(view["channel"].endswith(f"_id_{number}") for view in views)
            visible_view_count += len(views)
    assert visible_view_count >= 2


def test_each_agent_says_what_it_measures(scene: Scene) -> None:
    channels: set[str] = set()
    for row, box in zip(scene.rows(VISIBILITY_DETAIL), scene.rows(SAMPLE_ANNOTATION), strict=True):
        agents = {entry["agent"]: entry for entry in row["agents"]}
        visible_views = [view for view in row["views"] if view["visible_px"]]
        assert sum(e["visible_px"] for e in agents.values()) == sum(v["visible_px"] for v in visible_views)
        assert sum(e["num_lidar_pts"] for e in agents.values()) == box["num_lidar_pts"]
        assert {v["channel"].rpartition("_")[2] for v in visible_views} <= set(agents)
        channels |= {e["agent"] for e in agents.values() if e["num_lidar_pts"]}
    assert channels == {"v0", "r0"}


def test_the_pole_stands(scene: Scene) -> None:
    poses = {row["token"]: row for row in scene.rows(EGO_POSE)}
    of_pole = [poses[row["ego_pose_token"]] for row in scene.rows(SAMPLE_DATA) if "_r0/" in row["filename"]]
    assert len(of_pole) == 6
    assert {row["uav_agent"] for row in of_pole} == {"r0"}
    places = np.array([row["translation"] for row in of_pole])
    assert np.ptp(places, axis=0).max() < 1e-4
    assert 4 < places[0, 2] < 7


@pytest.mark.release
def test_each_agent_alone_is_a_plain_nuscenes_dataset(out: Path) -> None:
    done = succeed("export", out, out.parent / "alone", "--format", "agents")
    alone = out.parent / "alone/all"
    assert "converters of nuScenes (docs/converters.md) will fail on: drone_0, drone_1" in done.stdout
    folders = {path.name for path in alone.iterdir() if path.is_dir()}
    assert folders == {*(f"drone_{n}" for n in range(5)), "vehicle_0", "roadside_0"}
    for agent in ("vehicle_0", "roadside_0", "drone_3"):
        assert validate_version(alone / agent, "v1.0-mini", workers=1).errors == 0
        report = run_judge("devkit_check", str(alone / agent), "v1.0-mini", "--only=tables", "--only=lidar")
        assert report["ok"], report
    car, complete = (open_folder(root, "v1.0-mini") for root in (alone / "vehicle_0", out))
    (scene,), (source,) = car, complete
    assert scene.name == "scene-0061"
    pole = open_folder(alone / "roadside_0", "v1.0-mini").scene("scene-0061")
    for view, name in ((scene, "LIDAR_TOP_id_v0"), (pole, "LIDAR_TOP_id_r0")):
        scan, same = view.scans_of("LIDAR_TOP")[0], source.scans_of(name)[0]
        np.testing.assert_allclose(scan.points_map_m(), same.points_map_m(), atol=1e-4)
        np.testing.assert_allclose(scan.flu_SE3_sensor.rotation[:, 1], [1.0, 0.0, 0.0], atol=1e-6)  # y points ahead
    for agent, speed_mps in (("vehicle_0", None), ("roadside_0", 0.0)):
        poses = json.loads((alone / agent / "can_bus/scene-0061_pose.json").read_bytes())
        assert list(poses[0]) == ["utime", "accel", "orientation", "pos", "rotation_rate", "vel"]
        assert speed_mps is None or np.allclose([pose["vel"] for pose in poses], speed_mps)
    assert [i.channel for i in scene.samples[1].images] == [f"CAM_{name}" for name in CAMERAS]
    car_instance = next(row["instance_token"] for row in source.rows(AGENT) if row["id"] == "v0")
    boxes = {token for sample in scene for token in sample.boxes.instance_tokens}
    assert boxes
    assert car_instance not in boxes
    measured = {
        row["token"]: entry["num_lidar_pts"]
        for row in source.rows(VISIBILITY_DETAIL)
        for entry in row["agents"]
        if entry["agent"] == "v0"
    }
    for row in scene.rows(SAMPLE_ANNOTATION):
        assert row["num_lidar_pts"] == measured.get(row["token"], 0)


@pytest.mark.release
def test_the_same_seed_gives_the_same_bytes_and_a_replay_the_same_images(
    yaml: Path, out: Path, scene: Scene, simulator: RunningSimulator
) -> None:
    again = generated(yaml, yaml.parent / "again", "--no-check")  # equal bytes need no second check
    where = ("--simulator", simulator.carla)
    succeed("replay", out, "--out", yaml.parent / "replay", "--sensors", "+depth", *where)
    assert hashes(again) == hashes(out)
    assert hashes(yaml.parent / "replay", "samples/**/*.png") == hashes(out, "samples/**/*.png")
    first, last = (next(i for i in sample.images if i.channel.endswith("_v0")).map_SE3_flu for sample in scene.samples)
    assert np.linalg.norm(last.translation_m - first.translation_m) > 1.0, "the car stands: the test shows nothing"


def test_cars_and_poles_without_clocks_are_not_exported_as_received(out: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"v0.* have no clock"):
        export_opv2v(ExportRequest(out, tmp_path, received=True))
    assert not list(tmp_path.rglob("*.yaml"))


def test_the_uav3d_dialect_refuses_it_in_one_line(out: Path) -> None:
    done = uavsim("convert", out, out.parent / "uav3d", "--dialect", "uav3d")
    assert done.returncode == 2
    assert "scene_0000 has agents on the ground" in done.stderr


VANISHING = """
import sys
from pathlib import Path
import carla
from uavsim.capture.record import record_scene
from uavsim.errors import MissedTick
from uavsim.records.codec import unpack_plan
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.session import open_session

session = open_session("carla", {"carla": Endpoint.parse(sys.argv[1], what="carla")})
def gone(samples, images):
    world = session.world._client.get_world()
    for sensor in world.get_actors().filter("sensor.camera.rgb"):
        if sensor.parent is not None:
            world.get_actor(sensor.parent.id).destroy()
            return
try:
    record_scene(session, unpack_plan(Path(sys.argv[2]).read_bytes()), Path(sys.argv[3]),
                 heartbeat=lambda phase, tick: None, sample_taken=gone)
except MissedTick as error:
    print(error)
session.close()
"""


@pytest.mark.release
def test_a_car_that_vanishes_voids_the_scene_in_one_line(
    yaml: Path, simulator: RunningSimulator, tmp_path: Path
) -> None:
    (plan,) = plan_scenes(str(yaml), overrides=Overrides(samples=4))
    (tmp_path / "plan").write_bytes(pack_plan(plan))
    words = [simulator.carla, str(tmp_path / "plan"), str(tmp_path / "rec")]
    done = subprocess.run(
        [sys.executable, "-c", VANISHING, *words], capture_output=True, text=True, timeout=200, check=False
    )
    assert "the vehicle of agent v0" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("\n") == 1
    assert done.returncode == 0
