from __future__ import annotations

import math

import numpy as np
import pytest
from headless_simulator.airsim import ned
from hypothesis import given
from hypothesis import strategies as st

from tests.airsim.paper_world import rotation

ANGLE = st.floats(-math.pi, math.pi)
UNIT = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(c * c for c in q) > 0.01).map(ned.quat_unit)


def test_north_east_down_and_unreal_on_paper() -> None:
    # A drone 30 m up over (10, 20), nose east (yaw 90), origin at Unreal's (100, 200, 5).
    pose = ned.ue_pose((10, 20, -30), ned.quat_from_euler(0, 0, math.pi / 2), origin_ue_m=(100, 200, 5))
    assert pose == pytest.approx((110, 220, 35, 0, 90, 0))
    # Nose up is pitch +, right wing down is roll +, on both sides.
    pose = ned.ue_pose((0, 0, 0), ned.quat_from_euler(0.1, 0.2, 0), origin_ue_m=(0, 0, 0))
    assert pose[3:] == pytest.approx((math.degrees(0.2), 0, math.degrees(0.1)))


@given(UNIT)
def test_the_same_turn_in_both_frames(quat) -> None:
    _, _, _, pitch, yaw, roll = ned.ue_pose((0, 0, 0), quat, origin_ue_m=(0, 0, 0))
    forward, right, up = rotation(pitch, yaw, roll).T  # Unreal's axes
    for axis, unreal in (((1, 0, 0), forward), ((0, 1, 0), right), ((0, 0, -1), up)):
        x, y, z = ned.rotate(quat, axis)
        np.testing.assert_allclose((x, y, -z), unreal, atol=1e-6)


@given(UNIT, st.tuples(*[st.floats(-1e4, 1e4)] * 3))
def test_there_and_back(quat, position) -> None:
    origin = (12.5, -7.25, 3.0)
    back_position, back = ned.ned_pose(ned.ue_pose(position, quat, origin_ue_m=origin), origin_ue_m=origin)
    assert back_position == pytest.approx(position, abs=1e-9)
    assert abs(sum(a * b for a, b in zip(quat, back, strict=True))) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
@given(yaw=ANGLE)
def test_straight_up_and_down_keep_the_heading(pitch, yaw) -> None:
    quat = ned.quat_from_euler(0, pitch, yaw)
    back = ned.quat_from_euler(*ned.euler_from_quat(quat))
    assert abs(sum(a * b for a, b in zip(quat, back, strict=True))) == pytest.approx(1, abs=1e-9)


@given(UNIT, UNIT, st.tuples(*[st.floats(-10, 10)] * 3))
def test_turns_compose(first, second, vector) -> None:
    both = ned.rotate(ned.quat_multiply(first, second), vector)
    np.testing.assert_allclose(both, ned.rotate(first, ned.rotate(second, vector)), atol=1e-9)
    np.testing.assert_allclose(ned.rotation_matrix(first) @ np.array(vector), ned.rotate(first, vector), atol=1e-9)


def test_wire_maps_are_single_precision() -> None:
    assert ned.vector_map((0.1, 0, 0))["x_val"] == float(np.float32(0.1))
