from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.poses import planned_poses
from tools.common.plans import rig, scene_plan
from uavsim.capture.rig import sensor_poses
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan, SwarmTrajectory
from uavsim.records.recording import DroneState
from uavsim.records.sensors import CameraParams, SensorSpec


def _drone(t_m: list[float], q: np.ndarray) -> DroneState:
    map_SE3_flu = SE3(q, np.array(t_m))
    return DroneState(0, map_SE3_flu, np.zeros(3), map_SE3_flu)


def _of_one(plan: ScenePlan) -> ScenePlan:
    return replace(plan, swarm=SwarmTrajectory((0,), plan.swarm.map_SE3_flu[:, :1]))


def test_cameras_of_a_level_drone_facing_map_x() -> None:
    """FRONT looks forward and down, RIGHT looks to -y (the map's y is left), BOTTOM straight down."""
    poses = sensor_poses(_of_one(scene_plan()), [_drone([10.0, 20.0, 60.0], np.array([1.0, 0, 0, 0]))])
    look = {p.sensor.spec.name: p.map_SE3_optical.rotate(np.array([0.0, 0.0, 1.0])) for p in poses}
    h = np.sqrt(0.5)
    np.testing.assert_allclose(look["FRONT"], [h, 0, -h], atol=1e-12)
    np.testing.assert_allclose(look["BACK"], [-h, 0, -h], atol=1e-12)
    np.testing.assert_allclose(look["LEFT"], [0, h, -h], atol=1e-12)
    np.testing.assert_allclose(look["RIGHT"], [0, -h, -h], atol=1e-12)
    np.testing.assert_allclose(look["BOTTOM"], [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(poses[0].ue_location_m, [10, -20, 60], atol=0)
    up_in_bottom_image = poses[4].map_SE3_optical.rotate(np.array([0.0, -1.0, 0.0]))
    np.testing.assert_allclose(up_in_bottom_image, [1, 0, 0], atol=1e-12)


def test_mount_offset_rotates_with_the_drone() -> None:
    spec = SensorSpec("FRONT", (2.0, 0.0, 0.5), (0.0, 0.0, 0.0), CameraParams(320, 180, 90.0), ("rgb", "instance"))
    poses = sensor_poses(
        _of_one(scene_plan(cameras=(spec,))), [_drone([0.0, 0.0, 0.0], quaternion.from_yaw(np.pi / 2))]
    )
    np.testing.assert_allclose(poses[0].map_SE3_optical.translation_m, [0, 2, 0.5], atol=1e-7)


def test_channels_are_in_plan_order() -> None:
    plan = scene_plan()
    assert [p.channel for p in planned_poses(plan)] == list(plan.channels)


@given(yaw_deg=st.floats(-180, 180), roll_deg=st.floats(-20, 20), pitch_deg=st.floats(-20, 20), x=st.floats(-400, 700))
def test_recorded_pose_is_the_float32_pose_sent(yaw_deg: float, roll_deg: float, pitch_deg: float, x: float) -> None:
    """The simulator gets float32 values; the recorded pose has exactly these and is near the requested one."""
    from uavsim.geometry import unreal

    q = unreal.map_q_flu_from_ue_euler(np.array([roll_deg, pitch_deg, yaw_deg]))
    for pose in sensor_poses(_of_one(scene_plan(cameras=rig())), [_drone([x, -12.3, 61.7], q)]):
        for value in (*pose.ue_location_m, *pose.ue_euler_deg):
            assert float(np.float32(value)) == value
        again = unreal.map_q_optical_from_ue_euler(np.array(pose.ue_euler_deg))
        assert float(quaternion.angle_between(again, pose.map_SE3_optical.quat_wxyz)) == 0.0
        assert abs(pose.map_SE3_optical.translation_m[0] - x) < 1e-4
