"""Routes with trajectories from files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from uavsim.config.stored import CONFIG_FILE, pack
from uavsim.errors import ConfigError, InputError
from uavsim.plan.scenes import DatasetPlanner, plan_scenes
from uavsim.plan.trajectories import read_trajectory

_HEAD = "t,x,y,z,qx,qy,qz,qw\n"


def lines(x_m=0.0, speed_mps=5.0, seconds=60, z_m=60.0):
    """Fly along the map's y from y=-120 and face it: yaw 90 degrees."""
    return "\n".join(
        f"{100 + t} {x_m} {-120 + speed_mps * t} {z_m} 0 0 0.70710678 0.70710678" for t in range(seconds + 1)
    )


def write(folder: Path, *texts: str, route="", dataset=""):
    plans = folder / "flight_plans"
    (plans / "datasets").mkdir(parents=True)
    (plans / "formations").mkdir()
    names = [f"uav_{i}.txt" for i in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (plans / name).write_text(text)
    (plans / "town10hd.yaml").write_text(
        f"town: Town10HD\nroutes:\n  survey:\n    trajectories: {{files: [{', '.join(names)}], frame: map}}\n{route}"
    )
    (plans / "formations/two.yaml").write_text("{drones: 2, shape: line, spacing_m: 10, altitude_m: 60}\n")
    (plans / "datasets/mine.yaml").write_text(
        "{seed: 1, towns: {Town10HD: {scenes: 2}}, samples: 5, keyframe_s: 0.5, formation: two, rig: uav3d, "
        f"weather: {{fixed: clear_noon}}, splits: {{rule: uav3d}}{dataset}}}\n"
    )
    return plans / "datasets/mine.yaml"


def plan(folder: Path, *texts: str, **more):
    return plan_scenes(str(write(folder, *texts, **more)))


def test_drones_follow_their_files(tmp_path):
    first, second = plan(tmp_path, lines(-20), lines(20))
    poses = first.swarm.map_SE3_flu
    seconds = np.arange(len(poses.translation_m)) * first.step_us * 1e-6
    np.testing.assert_allclose(
        poses.translation_m[:, 0], np.stack([seconds * 0 - 20, -120 + 5 * seconds, seconds * 0 + 60], 1), atol=1e-9
    )
    np.testing.assert_allclose(poses.translation_m[:, 1, 0], 20, atol=1e-9)
    np.testing.assert_allclose(
        poses.apply(np.array([1.0, 0, 0])) - poses.translation_m,
        np.broadcast_to([0, 1, 0], poses.translation_m.shape),
        atol=1e-7,
    )
    assert second.swarm.map_SE3_flu.translation_m[0, 0, 1] > -120  # a later scene of the route begins later


def test_ned_rows_become_map_poses():
    # AirSim: 10 m north (x), 20 m east (y), 30 m up (z = -30), facing east: yaw +90 degrees about down
    text = _HEAD + "0,10,20,-30,0,0,0.70710678,0.70710678\n1,10,25,-30,0,0,0.70710678,0.70710678\n"
    pose = read_trajectory(text, frame="ned").map_SE3_flu
    np.testing.assert_allclose(pose.translation_m, [[10, -20, 30], [10, -25, 30]], atol=1e-9)
    np.testing.assert_allclose(pose[0].apply(np.array([1.0, 0, 0])), [10, -21, 30], atol=1e-7)  # east is minus y


def test_columns_are_found_by_name():
    text = "qw,x,y,z,qx,qy,qz,t,battery\n1,1,2,3,0,0,0,0,99\n1,4,5,6,0,0,0,1,98\n"
    np.testing.assert_allclose(read_trajectory(text, frame="map").map_SE3_flu.translation_m, [[1, 2, 3], [4, 5, 6]])


def test_a_dataset_keeps_its_trajectories(tmp_path):
    dataset = write(tmp_path, lines(-20), lines(20))
    planner = DatasetPlanner.open(str(dataset))
    flown = next(planner.plans()).swarm.map_SE3_flu.translation_m
    stored = tmp_path / CONFIG_FILE
    stored.write_text(json.dumps(pack(str(dataset), planner.library.used)))
    shutil.rmtree(tmp_path / "flight_plans")
    np.testing.assert_array_equal(plan_scenes(str(stored))[0].swarm.map_SE3_flu.translation_m, flown)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# nothing\n", "needs two rows"),
        ("0 0 0 60 0 0 0 1\n0 1 0 60 0 0 0 1\n", "line 2: time 0 s is not after 0 s"),
        ("0 0 0 60 0 0 0 1\n# c\n1 1 0 60 0 0 1\n", "line 3: expected 8 numbers"),
        ("0 0 0 nan 0 0 0 1\n", "line 1: has a number that is not finite"),
        ("0 0 0 60 0 0 0 2\n", "line 1: the quaternion qx qy qz qw has length 2.000"),
    ],
)
def test_a_bad_line_is_named(text, said):
    with pytest.raises(InputError, match=said):
        read_trajectory(text, frame="map")


@pytest.mark.parametrize(
    ("texts", "more", "said"),
    [
        ([lines()], {}, "1 trajectory files, but formation 'two' has 2 drones"),
        (
            [lines(-20), lines(20, speed_mps=45)],
            {},
            r"drone 1 flies 45.0 m/s at 0.00 s \(x=20.0 y=-120.0 z=60.0\); max_speed_mps is 20",
        ),
        ([lines(-20), lines(20, seconds=1)], {}, "the trajectory of drone 1 lasts 1 s, but a scene 2 s"),
        ([lines(0), lines(0.5)], {}, "drones 0 and 1 come within 0.50 m of each other at 0.00 s"),
        ([lines(-20), lines(20, z_m=1)], {}, r"drone 1 comes within 1.0 m of the ground at 0.00 s"),
        ([lines(-20), lines(5000)], {}, r"drone 1 reaches x=5000.0 y=-120.0 at 0.00 s, outside Town10HD"),
        ([lines(-20), "0 0 0 60 0 0 0 2"], {}, r"files\[1\]: uav_1.txt: line 1: the quaternion"),
        ([lines(-20), lines(20)], {"dataset": ", altitude_m: {fixed: 50}"}, "leave altitude_m out"),
        ([lines(-20), lines(20)], {"route": "    closed: true\n"}, "excludes closed, speed_mps and altitude_m"),
    ],
)
def test_what_cannot_be_flown_is_refused_with_time_and_place(tmp_path, texts, more, said):
    with pytest.raises(ConfigError, match=said):
        plan(tmp_path, *texts, **more)
