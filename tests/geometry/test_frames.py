import numpy as np
from hypothesis import given

from tests.geometry.strategies import quaternions, transforms, vectors_m
from uavsim.geometry import frames, quaternion
from uavsim.geometry.se3 import SE3

FACING_NED_Y = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def test_drone_thirty_metres_up_facing_ned_y():
    ned_SE3_frd = SE3.from_rotation(FACING_NED_Y, np.array([10.0, 20.0, -30.0]))  # 30 m up: z points down

    map_SE3_flu = frames.map_SE3_flu_from_airsim(ned_SE3_frd)

    nose, left_wing = map_SE3_flu.apply(np.array([[1.0, 0, 0], [0, 1.0, 0]]))
    np.testing.assert_allclose(map_SE3_flu.translation_m, [10, -20, 30], atol=1e-12)
    np.testing.assert_allclose(nose, [10, -21, 30], atol=1e-12)  # NED y is minus map y
    np.testing.assert_allclose(left_wing, [11, -20, 30], atol=1e-12)  # facing NED y, left is NED x


def test_airsim_whose_player_start_is_not_the_origin():
    # PlayerStart at UE (100, 50, 2); a drone 3 m north, 4 m east of it and 5 m up is at UE (103, 54, 7): map (103, -54, 7)
    pose = SE3.from_rotation(np.eye(3), np.array([3.0, 4.0, -5.0]))
    map_SE3_flu = frames.map_SE3_flu_from_airsim(pose, airsim_origin_ue_m=np.array([100.0, 50.0, 2.0]))
    np.testing.assert_allclose(map_SE3_flu.translation_m, [103, -54, 7])
    np.testing.assert_allclose(map_SE3_flu.rotation, np.eye(3))


def test_homes_are_shifted():
    home = np.array([0.0, 20.0, -1.0])
    np.testing.assert_allclose(frames.ned_from_home(np.array([1.0, 2.0, -3.0]), ned_t_home_m=home), [1, 22, -4])
    np.testing.assert_allclose(frames.home_from_ned(np.array([1.0, 22.0, -4.0]), ned_t_home_m=home), [1, 2, -3])


@given(transforms, vectors_m)
def test_airsim_there_and_back(ned_SE3_frd, origin):
    there = frames.map_SE3_flu_from_airsim(ned_SE3_frd, airsim_origin_ue_m=origin)
    back = frames.airsim_from_map_SE3_flu(there, airsim_origin_ue_m=origin)
    np.testing.assert_allclose(back.matrix, ned_SE3_frd.matrix, atol=1e-8)


@given(quaternions)
def test_attitude_sign_flips_are_the_conjugation(q):
    q = quaternion.normalise(q)
    ned_SE3_frd = SE3.from_quat_wxyz(q, np.zeros(3))
    by_frames = frames.map_SE3_flu_from_airsim(ned_SE3_frd).quat_wxyz
    assert quaternion.angle_between(frames.quat_map_from_ned(q), by_frames) < 1e-7
    np.testing.assert_array_equal(frames.quat_ned_from_map(frames.quat_map_from_ned(q)), q)


def test_optical_axes():
    # what is right, down and ahead in the image is -y, -z and +x of the camera's body
    axes = frames.FLU_SE3_OPTICAL.apply(np.eye(3))
    np.testing.assert_array_equal(axes, [[0, -1, 0], [0, 0, -1], [1, 0, 0]])
    np.testing.assert_array_equal((frames.OPTICAL_SE3_FLU @ frames.FLU_SE3_OPTICAL).matrix, np.eye(4))
    np.testing.assert_array_equal((frames.NED_SE3_MAP @ frames.MAP_SE3_NED).matrix, np.eye(4))
    np.testing.assert_array_equal((frames.FLU_SE3_FRD @ frames.FRD_SE3_FLU).matrix, np.eye(4))
