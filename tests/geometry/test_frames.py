import numpy as np
from hypothesis import given

from tests.geometry.strategies import quaternions, transforms, vectors_m
from uavsim.geometry import frames, quaternion
from uavsim.geometry.se3 import SE3

FACING_NED_Y = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def to_map(ned_SE3_frd, airsim_origin_ue_m=(0.0, 0.0, 0.0)):
    """Return the drone's pose in the map frame; neighbouring frame names cancel."""
    return frames.map_SE3_ned(airsim_origin_ue_m=airsim_origin_ue_m) @ ned_SE3_frd @ frames.FLU_SE3_FRD.inverse()


def test_drone_thirty_metres_up_facing_ned_y():
    ned_SE3_frd = SE3.from_rotation(FACING_NED_Y, np.array([10.0, 20.0, -30.0]))  # 30 m up: z points down

    map_SE3_flu = to_map(ned_SE3_frd)

    nose, left_wing = map_SE3_flu.apply(np.array([[1.0, 0, 0], [0, 1.0, 0]]))
    np.testing.assert_allclose(map_SE3_flu.translation_m, [10, -20, 30], atol=1e-12)
    np.testing.assert_allclose(nose, [10, -21, 30], atol=1e-12)  # NED y is minus map y
    np.testing.assert_allclose(left_wing, [11, -20, 30], atol=1e-12)  # facing NED y, left is NED x


def test_airsim_origin_shifts_the_pose():
    # PlayerStart at UE (100, 50, 2); a drone 3 m north, 4 m east of it and 5 m up is at UE (103, 54, 7): map (103, -54, 7)
    pose = SE3.from_rotation(np.eye(3), np.array([3.0, 4.0, -5.0]))
    map_SE3_flu = to_map(pose, [100.0, 50.0, 2.0])
    np.testing.assert_allclose(map_SE3_flu.translation_m, [103, -54, 7])
    np.testing.assert_allclose(map_SE3_flu.rotation, np.eye(3))


@given(transforms, vectors_m)
def test_drone_nose_is_the_same_point_in_both_worlds(ned_SE3_frd, origin):
    map_SE3_flu = to_map(ned_SE3_frd, origin)
    nose = np.array([1.0, 0.0, 0.0])  # ahead is ahead in frd and in flu
    by_hand = ned_SE3_frd.apply(nose) * [1, -1, -1] + origin * [1, -1, 1]
    np.testing.assert_allclose(map_SE3_flu.apply(nose), by_hand, atol=1e-8)


@given(quaternions)
def test_attitude_sign_flips_are_the_conjugation(q):
    q = quaternion.normalise(q)
    ned_SE3_frd = SE3.from_quat_wxyz(q, np.zeros(3))
    by_frames = to_map(ned_SE3_frd).quat_wxyz
    assert quaternion.angle_between(frames.quat_map_from_ned(q), by_frames) < 1e-7
    np.testing.assert_array_equal(frames.quat_ned_from_map(frames.quat_map_from_ned(q)), q)


def test_optical_axes():
    # what is right, down and ahead in the image is -y, -z and +x of the camera's body
    axes = frames.FLU_SE3_OPTICAL.apply(np.eye(3))
    np.testing.assert_array_equal(axes, [[0, -1, 0], [0, 0, -1], [1, 0, 0]])
    np.testing.assert_array_equal((frames.NED_SE3_MAP @ frames.MAP_SE3_NED).matrix, np.eye(4))
