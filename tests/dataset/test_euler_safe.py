"""Written quaternions survive UAV3D's conversion to Euler angles, also straight down."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uavsim.dataset.euler_safe import ned_quaternions, uav3d_euler_deg
from uavsim.geometry import frames, quaternion, unreal

DEGREES = st.floats(-180, 180)


def attitude(euler_deg):
    """Return the true (3, 3) attitude of (roll, pitch, yaw), degrees, by uavsim's matrices."""
    return frames.quat_ned_from_map(unreal.map_q_flu_from_ue_euler(np.atleast_2d(euler_deg)))


def test_a_level_camera_that_looks_east_of_north():
    read = uav3d_euler_deg(ned_quaternions(np.array([[0.0, 0.0, 30.0]])))
    np.testing.assert_allclose(read, [[0, 0, 30]], atol=1e-9)


@given(st.tuples(DEGREES, st.floats(-89, 89), DEGREES))
def test_away_from_the_pole_the_attitude_is_exact(euler_deg):
    written = ned_quaternions(np.array([euler_deg]))
    np.testing.assert_array_equal(written, attitude(euler_deg) + 0.0)


@given(DEGREES, DEGREES)
def test_straight_down_what_is_read_is_what_was_meant(roll, yaw):
    euler_deg = [roll, -90.0, yaw]
    read = attitude(uav3d_euler_deg(ned_quaternions(np.array([euler_deg]))))
    assert float(quaternion.angle_between(read, attitude(euler_deg))[0]) < 1e-5
