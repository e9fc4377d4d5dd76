import math

import numpy as np
import pytest
from headless_simulator.airsim import ned
from hypothesis import example, given
from hypothesis import strategies as st

from tests.airsim.paper_world import rotation

ANGLE = st.floats(-math.pi, math.pi)
UNIT = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(c * c for c in q) > 0.01).map(ned.quat_unit)

POLE = math.sqrt(
    2e-12
)  # cosine of the pitch at which its sine is 1 - 1e-12: nearer to the vertical, roll is given as 0
NEAR_POLE = [
    ned.quat_from_euler(roll, math.pi / 2 - off, 1.0) for roll, off in ((2.2, 1.3e-6), (0.4, 1.5e-6), (0.4, 1e-4))
]


def euler_tolerance(quat):
    """Return the error bound of axes converted through roll, pitch and yaw, which are ill-conditioned near the vertical.

    With theta the angle of the nose from the vertical, all three come from numbers of size sin(theta) that carry a few
    rounding errors each: an error of about eps / sin(theta). Nearer than POLE the pose is taken for a vertical one: a turn
    of theta about the wings, and yaw from half angles whose error is at most tan(theta / 2), doubled: theta again. Turns
    add up at most.
    """
    w, x, y, z = quat
    sin_theta = math.hypot(1 - 2 * (y * y + z * z), 2 * (w * z + x * y))
    rounding = 32 * np.finfo(float).eps / max(sin_theta, POLE)
    return rounding + (2 * sin_theta if sin_theta < 1.01 * POLE else 0)


def test_ned_pose_in_unreal_axes() -> None:
    # A drone 30 m up over (10, 20), nose east (yaw 90), origin at Unreal's (100, 200, 5).
    pose = ned.ue_pose((10, 20, -30), ned.quat_from_euler(0, 0, math.pi / 2), origin_ue_m=(100, 200, 5))
    assert pose == pytest.approx((110, 220, 35, 0, 90, 0))
    # Nose up is pitch +, right wing down is roll +, on both sides.
    pose = ned.ue_pose((0, 0, 0), ned.quat_from_euler(0.1, 0.2, 0), origin_ue_m=(0, 0, 0))
    assert pose[3:] == pytest.approx((math.degrees(0.2), 0, math.degrees(0.1)))


@given(UNIT)
@example(NEAR_POLE[0])
@example(NEAR_POLE[1])
@example(NEAR_POLE[2])
def test_rotation_is_the_same_in_ned_and_unreal_axes(quat) -> None:
    _, _, _, pitch, yaw, roll = ned.ue_pose((0, 0, 0), quat, origin_ue_m=(0, 0, 0))
    forward, right, up = rotation(pitch, yaw, roll).T  # Unreal's axes
    for axis, unreal in (((1, 0, 0), forward), ((0, 1, 0), right), ((0, 0, -1), up)):
        x, y, z = ned.rotate(quat, axis)
        np.testing.assert_allclose((x, y, -z), unreal, rtol=0, atol=euler_tolerance(quat))


@given(UNIT, st.tuples(*[st.floats(-1e4, 1e4)] * 3))
def test_ned_and_unreal_poses_convert_back(quat, position) -> None:
    origin = (12.5, -7.25, 3.0)
    back_position, back = ned.ned_pose(ned.ue_pose(position, quat, origin_ue_m=origin), origin_ue_m=origin)
    assert back_position == pytest.approx(position, abs=1e-9)
    assert abs(sum(a * b for a, b in zip(quat, back, strict=True))) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
@given(yaw=ANGLE)
def test_vertical_pitch_keeps_the_rotation(pitch, yaw) -> None:
    quat = ned.quat_from_euler(0, pitch, yaw)
    back = ned.quat_from_euler(*ned.euler_from_quat(quat))
    assert abs(sum(a * b for a, b in zip(quat, back, strict=True))) == pytest.approx(1, abs=1e-9)


@given(UNIT, UNIT, st.tuples(*[st.floats(-10, 10)] * 3))
def test_quaternion_products_compose_rotations(first, second, vector) -> None:
    both = ned.rotate(ned.quat_multiply(first, second), vector)
    np.testing.assert_allclose(both, ned.rotate(first, ned.rotate(second, vector)), atol=1e-9)
    np.testing.assert_allclose(ned.rotation_matrix(first) @ np.array(vector), ned.rotate(first, vector), atol=1e-9)


def test_wire_maps_are_single_precision() -> None:
    assert ned.vector_map((0.1, 0, 0))["x_val"] == float(np.float32(0.1))
