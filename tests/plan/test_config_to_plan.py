"""Sensors that a dataset does not support are reported before the flight."""

from pathlib import Path

import numpy as np
import pytest

from uavsim.config.overrides import Overrides
from uavsim.errors import ConfigError
from uavsim.geometry.shutter import Shutter
from uavsim.plan import plan_scenes
from uavsim.plan.check import check_paths
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import LEAST_WARMUP_TICKS
from uavsim.records.sensors import CameraParams, Exposure, LidarParams, Settle

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
        ("{NOSE: {}}", "needs exactly one modality"),
        ("{NOSE: {lidar: {channels: 0}}}", "greater than or equal to 1"),
        ("{NOSE: {lidar: {rotation_hz: 3}}}", "mounted.NOSE.lidar.rotation_hz: 3 turns per second"),
        ("{NOSE: {radar: {range_m: 0}}}", "mounted.NOSE.radar.range_m: must be greater than 0, got 0"),
        ("{NOSE: {radar: {range: 90}}}", "mounted.NOSE.radar.range: unknown key; did you mean 'range_m'?"),
    ],
)
def test_an_impossible_mounted_sensor_is_refused(mounted: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        _plan(tmp_path, f"{CAMERAS}mounted: {mounted}\n")


@pytest.mark.parametrize(
    ("rig", "error"),
    [
        ("lidar: {rotation_hz: 10}\n", "rig.yaml:2: lidar.rotation_hz: 10 turns per second are not one turn per step"),
        ("lidar: {points_per_second: 600}\n", "lidar.points_per_second: 600 is less than one point per channel and"),
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
        match=r"rig.yaml:2: sensors: topology merged does not provide 'optical_flow'; its cameras provide rgb, inst",
    ):
        _plan(tmp_path, rig, topology="merged")


FISHEYE = "{model: equidistant, coefficients: [-0.01, 0.002, -0.001, 0.0002]"
BROWN = "{model: brown_conrady, coefficients: [-0.28, 0.07, 0.0002, 0.00002]"


def test_a_lens_by_field_of_view_shows_as_much(tmp_path: Path) -> None:
    """The radial part spans 100 degrees along the central row, from the left edge to the right one."""
    for lens in (FISHEYE, BROWN.replace("0.0002, 0.00002", "0, 0")):
        camera = _plan(tmp_path, f"cameras: {{FRONT: {{fov_deg: 100, lens: {lens}}}}}}}\n").rig[0].camera
        rays = camera.rays(np.array([[0.0, 225.0], [800.0, 225.0]]))
        np.testing.assert_allclose(np.degrees(np.arctan(rays[:, 0])), [-50, 50], atol=1e-6)
        assert camera.fov_deg == 100.0


def test_a_calibration_stays_unchanged(tmp_path: Path) -> None:
    rig = f"lens: {FISHEYE}, focal_px: [380, 381.5], centre_px: [396.2, 231]}}\n{CAMERAS}"
    plan = _plan(tmp_path, rig)
    camera = plan.rig[0].camera
    np.testing.assert_array_equal(camera.intrinsic, [[380, 0, 396.2], [0, 381.5, 231], [0, 0, 1]])
    left, right = np.degrees(np.arctan(camera.rays(np.array([[0.0, 231.0], [800.0, 231.0]]))[:, 0])).tolist()
    assert camera.fov_deg == pytest.approx(right - left, abs=1e-6)
    assert unpack_plan(pack_plan(plan)).rig == plan.rig


@pytest.mark.parametrize(
    ("rig", "error"),
    [
        (
            f"cameras:\n  FRONT:\n    fov_deg: 170\n    lens: {FISHEYE}}}\n",
            r"rig.yaml:3: cameras.FRONT.fov_deg: 170 degrees are not supported by this lens: it sees nothing at the "
            r"image's corners: they are more than 85 degrees off its axis, .*; the nearest fov_deg is 138.2 ",
        ),
        (
            "cameras:\n  FRONT:\n    lens: {model: equidistant, coefficients: [-0.01, -1.0e+39, 0, 0]}\n",
            r"rig.yaml:3: cameras.FRONT.lens.coefficients\[1\]: this lens supports no fov_deg: it folds back",
        ),
        (
            f"lens: {BROWN}}}\nfov_deg: 165\n{CAMERAS}",
            r"rig.yaml:2: fov_deg: 165 degrees are not supported .*; the nearest fov_deg is 1\d\d",
        ),
        (
            f"cameras:\n  FRONT:\n    lens: {FISHEYE}, focal_px: [200, 200]}}\n",
            r"rig.yaml:3: cameras.FRONT.lens.focal_px: this lens cannot be rendered: .*; the nearest is \[3\d\d\.?\d?, 3\d\d",
        ),
        (
            f"cameras: {{FRONT: {{lens: {FISHEYE}, centre_px: [900, 225]}}}}}}\n",
            r"cameras.FRONT.lens.centre_px: is outside of the image of 800x450; the nearest is \[799, 225\]",
        ),
        (
            f"lens: {FISHEYE}, focal_px: [380, 380]}}\ncameras: {{FRONT: {{fov_deg: 90}}}}\n",
            "camera FRONT has both fov_deg and focal_px of its lens; leave one out",
        ),
        (
            f"lens: {FISHEYE}}}\nsensors: [rgb, instance, events]\n{CAMERAS}",
            "camera FRONT: a lens does not support the sensor 'events', only rgb, instance, depth, semantic",
        ),
        (f"lens: {BROWN.replace('0.07, ', '')}}}\n{CAMERAS}", "lens.coefficients: the list must have at least 4 items"),
        (f"lens: {FISHEYE.replace(']', ', 0.1]')}}}\n{CAMERAS}", "equidistant has 4 coefficients, not 5"),
    ],
)
def test_an_impossible_lens_is_refused_with_the_nearest_possible(rig: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        _plan(tmp_path, rig)
    path = tmp_path / "rig.yaml"
    path.write_text("# yaml-language-server: $schema=.schemas/rig.json\n" + rig)
    (found,) = check_paths([path])
    assert found.kind == "rig"
    assert found.error is not None


def test_what_the_message_calls_nearest_is_good(tmp_path: Path) -> None:
    wrong = f"cameras: {{FRONT: {{fov_deg: 170, lens: {FISHEYE}}}}}}}\n"
    with pytest.raises(ConfigError) as caught:
        _plan(tmp_path, wrong)
    nearest = float(str(caught.value).rpartition("nearest fov_deg is ")[2].split()[0])
    assert _plan(tmp_path, wrong.replace("170", str(nearest))).rig[0].camera.fov_deg == nearest
    with pytest.raises(ConfigError):
        _plan(tmp_path, wrong.replace("170", str(nearest + 0.2)))


SHUTTER = "shutter: {readout_s: 0.1, exposure_s: 0.05}\n"


def test_a_shutter_is_whole_steps_and_the_scene_is_as_much_longer(tmp_path: Path) -> None:
    """0.15 s are three steps of 0.05 s after each image, including the last one."""
    plain, plan = _plan(tmp_path, CAMERAS), _plan(tmp_path, SHUTTER + CAMERAS)
    assert plan.rig[0].camera.shutter == Shutter(exposure_us=50_000, readout_us=100_000, step_us=50_000)
    assert (plain.shutter_steps, plan.shutter_steps) == (0, 3)
    assert len(plan.swarm.map_SE3_flu) == len(plain.swarm.map_SE3_flu) + 3
    assert plan.capture_steps == plain.capture_steps
    assert plain.rendered_steps == tuple(plain.capture_steps)
    assert plan.rendered_steps[:5] == (0, 1, 2, 3, plan.image_every_steps)
    assert unpack_plan(pack_plan(plan)).rig == plan.rig


@pytest.mark.parametrize(
    ("rig", "error"),
    [
        (
            f"shutter: {{readout_s: 0.02}}\n{CAMERAS}",
            r"rig.yaml:1: shutter.readout_s: 0.02 is not a multiple of step_s=0.05, at which images are taken; possible: "
            r"0.05, or step_s: 0.02 ",
        ),
        (
            f"shutter: {{readout_s: 0.05, exposure_s: 0.13}}\n{CAMERAS}",
            r"shutter.exposure_s: 0.13 is not a multiple of step_s=0.05, .* possible: 0.1 or 0.15, or step_s: 0.01 ",
        ),
        (
            "cameras:\n  FRONT:\n    shutter: {readout_s: 0.5}\n",
            r"rig.yaml:3: cameras.FRONT.shutter.readout_s: the shutter is open for 0.5 s, but the next image begins after "
            r"0.5 s; the nearest readout_s is 0.45",
        ),
        (
            f"shutter: {{}}\n{CAMERAS}",
            "a shutter needs readout_s or exposure_s above 0; otherwise remove it",
        ),
        (
            f"{SHUTTER}sensors: [rgb, instance, events]\n{CAMERAS}",
            "rig: events measure changes since the previous image and exclude a shutter",
        ),
        (
            f"vignetting: [-1, -0.9, 0]\n{CAMERAS}",
            r"vignetting: leaves -0.9 of the light .*; the nearest is \[-0.5, -0.45, 0\]",
        ),
        (
            f"vignetting: [0.2, -0.4, 0]\n{CAMERAS}",
            r"vignetting: brightens the image by 0.025 .*; the nearest is \[0, 0, 0\]",
        ),
    ],
)
def test_an_impossible_shutter_is_refused_with_the_nearest_possible(rig: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        _plan(tmp_path, rig)


def test_cameras_expose_as_the_rig_says_and_as_their_own_block_does(tmp_path: Path) -> None:
    rig = "exposure: {speed: 4}\ncameras: {FRONT: {}, DOWN: {exposure: {mode: manual, iso: 400, compensation: -1}}}\n"
    front, down = (camera.camera.exposure for camera in _plan(tmp_path, rig).cameras)
    assert front == Exposure(speed=4.0)
    assert down == Exposure("manual", compensation=-1.0, iso=400.0)
    assert _plan(tmp_path, CAMERAS).cameras[0].camera.exposure == Exposure("histogram", speed=10.0)


@pytest.mark.parametrize(
    ("rig", "topology", "error"),
    [
        ("exposure: {iso: 400}\ncameras: {FRONT: {}}\n", "carla", "exposure: iso has no effect in mode histogram"),
        ("exposure: {mode: manual, speed: 3}\ncameras: {FRONT: {}}\n", "carla", "speed has no effect in mode manual"),
        (
            "cameras:\n  FRONT:\n    exposure: {mode: manual}\n",
            "merged",
            r"rig.yaml:3: cameras.FRONT.exposure.mode: topology merged has no manual exposure: AirSim's settings",
        ),
    ],
)
def test_an_exposure_that_changes_nothing_is_refused(rig: str, topology: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        _plan(tmp_path, rig, topology=topology)


@pytest.mark.parametrize(
    ("dataset", "settle", "ticks"),
    [
        ("smoke", "{}", 30),  # steps of 0.05 s
        ("airswarm-async", "{}", 120),  # 0.6 s in steps of 0.005 s
        ("airswarm-async", "{first_ticks: 0}", 0),
        ("airswarm-async", "{first_s: 0}", 30),
    ],
)
def test_exposure_has_time_to_settle_before_the_first_image(
    dataset: str, settle: str, ticks: int, tmp_path: Path
) -> None:
    (tmp_path / "rig.yaml").write_text(f"{CAMERAS}settle: {settle}\n")
    plan = plan_scenes(dataset, scenes=[0], overrides=Overrides(samples=2, rig=str(tmp_path / "rig.yaml")))[0]
    (camera,) = plan.rig
    assert isinstance(camera.params, CameraParams)
    assert camera.params.settle == Settle(3, ticks)
    assert plan.warmup_ticks >= ticks


def test_scene_without_warmup_has_ticks_to_find_the_first_image(tmp_path: Path) -> None:
    text = Path("flight_plans/datasets/smoke.yaml").read_text()
    (tmp_path / "still.yaml").write_text(text + "\nwarmup_s: 0\n")
    plan = plan_scenes(str(tmp_path / "still.yaml"), town="Town10HD", scenes=[0])[0]
    assert plan.warmup_ticks == LEAST_WARMUP_TICKS
