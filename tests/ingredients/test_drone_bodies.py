"""Drone bodies are outside of their sensors' views; invalid settings are refused with their line."""

from pathlib import Path

import pytest

from uavsim.config.overrides import Overrides
from uavsim.errors import ConfigError
from uavsim.ingredients.drone_bodies import AIRSIM_BODY, DroneBodiesPlan, sees_own_body
from uavsim.plan.scenes import plan_scenes
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import CameraParams, LidarParams, SensorSpec

DATASET = """\
towns: {Town10HD: {scenes: 1}}
formation: cross
"""


def plan(folder: Path, more: str, overrides: Overrides | None = None) -> ScenePlan:
    path = folder / "own.yaml"
    path.write_text(DATASET + more)
    (found,) = plan_scenes(str(path), overrides=overrides or Overrides())
    return found


def camera(pitch_deg: float) -> SensorSpec:
    return SensorSpec("AHEAD", (0.0, 0.0, 0.0), (0.0, pitch_deg, 0.0), CameraParams(800, 450, 90.0), ("rgb",))


def test_the_body_is_as_low_as_its_cameras_allow(tmp_path: Path) -> None:
    found = unpack_plan(pack_plan(plan(tmp_path, "rig: uav3d\ndrone_bodies: {}\n")))
    assert found.of(DroneBodiesPlan) == DroneBodiesPlan("static.prop.drone", (1.2, 1.2, 0.5), 0.3)
    assert plan(tmp_path, "rig: uav3d\n").of(DroneBodiesPlan) is None


def test_a_merged_build_has_airsims_own_bodies(tmp_path: Path) -> None:
    found = plan(tmp_path, "rig: aot\ntopology: merged\ntraffic: {walkers: 0}\ndrone_bodies: {size_m: [1, 1, 0.3]}\n")
    assert found.of(DroneBodiesPlan) == DroneBodiesPlan(AIRSIM_BODY, (1.0, 1.0, 0.3), 0.0)


@pytest.mark.parametrize(
    ("pitch_deg", "above_m", "is_visible"), [(0, 0.3, True), (0, 0.7, False), (-30, 0.3, False), (60, 3, True)]
)
def test_a_camera_sees_the_body_from_below(pitch_deg: float, above_m: float, is_visible: bool) -> None:
    # level, half of 58.7 degrees up: the rim 0.6 m ahead is out of sight 0.34 m up, and the body reaches 0.25 m down
    assert sees_own_body(camera(pitch_deg), size_lwh_m=(1.2, 1.2, 0.5), above_m=above_m) is is_visible


@pytest.mark.parametrize(("upper_deg", "is_visible"), [(2.0, False), (10.0, True)])
def test_a_lidar_sees_the_body_if_a_beam_rises_to_it(upper_deg: float, is_visible: bool) -> None:
    lidar = SensorSpec(
        "", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), LidarParams(32, 50.0, 1000, 20.0, upper_deg, -30.0), ("lidar",)
    )
    assert sees_own_body(lidar, size_lwh_m=(1.2, 1.2, 0.5), above_m=0.3) is is_visible  # its corner is 3.4 degrees up


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (
            "rig: aot\ndrone_bodies: {above_m: 0.1}",
            r"own.yaml:4: drone_bodies: \w+ of the rig would see its own",
        ),
        (
            "rig: uav3d\ntopology: merged\ndrone_bodies:\n  blueprint: static.prop.drone",
            r"own.yaml:6: drone_bodies.blueprint: topology merged shows AirSim's own bodies",
        ),
        ("rig: uav3d\ntopology: cosys\ndrone_bodies: {}", r"own.yaml:5: drone_bodies: topology cosys has no bodies"),
    ],
)
def test_impossible_values_are_refused_with_their_line(tmp_path: Path, more: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        plan(tmp_path, more)
