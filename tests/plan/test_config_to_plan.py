"""What a rig asks for, and a dataset cannot give, is reported before anything flies."""

from __future__ import annotations

from pathlib import Path

import pytest

from uavsim.config.overrides import Overrides
from uavsim.errors import ConfigError
from uavsim.plan import plan_scenes
from uavsim.records.sensors import LidarParams

CAMERAS = "cameras: {FRONT: {pitch_deg: -45}}\n"


def _plan(folder: Path, rig: str, **choices):
    (folder / "rig.yaml").write_text(rig)
    overrides = Overrides(samples=2, rig=str(folder / "rig.yaml"), **choices)
    return plan_scenes("smoke", town="Town10HD", scenes=[0], overrides=overrides)[0]


def test_a_lidar_turns_once_a_step(tmp_path: Path) -> None:
    """The smoke dataset's step is 0.05 s: 20 turns a second, and 640,000 points a second are 32,000 a turn."""
    plan = _plan(tmp_path, CAMERAS + "lidar: {mount_m: [0.5, 0, -0.1], yaw_deg: 30}\n")
    lidar = plan.rig[-1]
    assert isinstance(lidar.params, LidarParams)
    assert lidar.params.rotation_hz * plan.step_us / 1e6 == 1.0
    assert lidar.params.points_per_second / lidar.params.rotation_hz == 32_000
    assert lidar.mount_rpy_deg == (0.0, 0.0, 30.0)
    assert [sensor.channel for sensor in plan.sensors][-5:] == [f"LIDAR_id_{drone}" for drone in range(5)]
    assert len(_plan(tmp_path, CAMERAS).sensors) == 5


def test_several_sensors_of_a_kind_have_names(tmp_path: Path) -> None:
    more = "lidar: {}\nmounted: {NOSE: {lidar: {channels: 16, upper_fov_deg: 10}}, TAIL: {lidar: {yaw_deg: 180}}}\n"
    channels = [sensor.channel for sensor in _plan(tmp_path, CAMERAS + more).sensors if sensor.agent.number == 3]
    assert channels == ["CAMERA_FRONT_id_3", "LIDAR_id_3", "LIDAR_NOSE_id_3", "LIDAR_TAIL_id_3"]


@pytest.mark.parametrize(
    ("mounted", "error"),
    [
        ("{NOSE: {lidr: {}}}", "unknown sensor 'lidr'; did you mean 'lidar'"),
        ("{NOSE: {}}", "one modality with its block"),
        ("{NOSE: {lidar: {channels: 0}}}", "greater than or equal to 1"),
        ("{NOSE: {lidar: {rotation_hz: 3}}}", "mounted.NOSE.lidar.rotation_hz: 3 turns a second"),
    ],
)
def test_a_mounted_sensor_that_cannot_be_is_refused(mounted: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        _plan(tmp_path, f"{CAMERAS}mounted: {mounted}\n")


@pytest.mark.parametrize(
    ("rig", "error"),
    [
        ("lidar: {rotation_hz: 10}\n", "rig.yaml:2: lidar.rotation_hz: 10 turns a second are not one a step of 0.05 s"),
        ("lidar: {points_per_second: 600}\n", "lidar.points_per_second: 600 are less than one a channel and turn"),
    ],
)
def test_a_lidar_that_makes_no_whole_turns_is_refused(rig: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        _plan(tmp_path, CAMERAS + rig)


def test_a_sensor_that_the_topology_cannot_give_is_refused(tmp_path: Path) -> None:
    rig = CAMERAS + "sensors: [rgb, instance, optical_flow]\n"
    assert _plan(tmp_path, rig, topology="bridge").rig[0].modalities[-1] == "optical_flow"
    with pytest.raises(
        ConfigError,
        match=r"rig.yaml:2: sensors: topology merged cannot give 'optical_flow'; its cameras give rgb, instance, depth, sem",
    ):
        _plan(tmp_path, rig, topology="merged")
