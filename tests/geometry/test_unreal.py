"""Conversions against CARLA's own client: ``carla.Transform`` computes in C++, independently of our code."""

import carla
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.strategies import eulers_deg, many_vectors_m, quaternions
from uavsim.geometry import quaternion, unreal

FLIP = np.diag([1.0, -1.0, 1.0])


def carla_matrix(euler_deg, location=(0.0, 0.0, 0.0)):
    roll, pitch, yaw = (float(a) for a in euler_deg)
    rotation = carla.Rotation(pitch=pitch, yaw=yaw, roll=roll)
    return np.array(carla.Transform(carla.Location(*map(float, location)), rotation).get_matrix())


def float32(euler_deg):
    return np.asarray(euler_deg).astype(np.float32).astype(np.float64)


@given(eulers_deg)
def test_matrix_is_carlas_own(euler):
    euler = float32(euler)
    np.testing.assert_allclose(unreal.ue_matrix(euler), carla_matrix(euler)[:3, :3], atol=2e-6)


@given(eulers_deg)
def test_map_rotation_is_carlas_mirrored(euler):
    euler = float32(euler)
    rotation = quaternion.to_matrix(unreal.map_q_flu_from_ue_euler(euler))
    np.testing.assert_allclose(rotation, FLIP @ carla_matrix(euler)[:3, :3] @ FLIP, atol=2e-6)
    assert np.linalg.det(rotation) == pytest.approx(1.0)


@given(eulers_deg, many_vectors_m)
def test_body_points_match_carla(euler, points):
    euler, points = float32(euler), float32(points / 100)
    ue = points @ carla_matrix(euler)[:3, :3].T
    q = unreal.map_q_flu_from_ue_euler(euler)
    rotated = quaternion.rotate(q, unreal.map_vector_from_ue(points))  # a body's flu is its ue with y flipped too
    np.testing.assert_allclose(rotated, unreal.map_vector_from_ue(ue), atol=1e-4)


@given(st.floats(-180, 180), st.floats(-89, 89), st.floats(-180, 180))
def test_euler_round_trip(roll, pitch, yaw):
    euler = np.array([roll, pitch, yaw])
    back = unreal.ue_euler_from_map_q_flu(unreal.map_q_flu_from_ue_euler(euler))
    turns = (back - euler + 180.0) % 360.0 - 180.0
    np.testing.assert_allclose(turns, 0.0, atol=1e-6)


@given(quaternions)
def test_rotation_round_trip_at_the_poles(q):
    q = quaternion.normalise(q)
    back = unreal.map_q_flu_from_ue_euler(unreal.ue_euler_from_map_q_flu(q))
    assert quaternion.angle_between(back, q) < 1e-7


@given(st.floats(-180, 180), st.sampled_from([-90.0, 90.0, -89.9999999, -89.99]))
def test_looking_straight_down_keeps_its_heading(yaw, pitch):
    q = unreal.map_q_flu_from_ue_euler(np.array([0.0, pitch, yaw]))
    roll, pitch_back, yaw_back = unreal.ue_euler_from_map_q_flu(q)
    assert pitch_back == pytest.approx(pitch, abs=2e-6)
    back = unreal.map_q_flu_from_ue_euler(np.array([roll, pitch_back, yaw_back]))
    assert quaternion.angle_between(back, q) < 3e-8
    if abs(pitch) == 90.0:
        assert roll == 0.0
        assert abs((yaw_back - yaw + 180) % 360 - 180) < 1e-6


def test_worked_on_paper():
    # UE yaw 90 turns the nose from x to UE y (right); UE y is minus map y
    nose_right = unreal.map_q_flu_from_ue_euler(np.array([0.0, 0.0, 90.0]))
    np.testing.assert_allclose(quaternion.rotate(nose_right, np.array([1.0, 0, 0])), [0, -1, 0], atol=1e-15)
    # UE pitch 90 lifts the nose
    nose_up = unreal.map_q_flu_from_ue_euler(np.array([0.0, 90.0, 0.0]))
    np.testing.assert_allclose(quaternion.rotate(nose_up, np.array([1.0, 0, 0])), [0, 0, 1], atol=1e-15)
    # UE roll 90 dips the right side: the left wing points up
    banked = unreal.map_q_flu_from_ue_euler(np.array([90.0, 0.0, 0.0]))
    np.testing.assert_allclose(quaternion.rotate(banked, np.array([0.0, 1, 0])), [0, 0, 1], atol=1e-15)


def test_camera_looking_down_worked_on_paper():
    # nadir camera, yaw 0: ahead is down, the image's right is UE +y = map -y, the image's bottom is behind: -x
    q = unreal.map_q_optical_from_ue_euler(np.array([0.0, -90.0, 0.0]))
    right, down, ahead = quaternion.rotate(q, np.eye(3))
    np.testing.assert_allclose(right, [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(down, [-1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(ahead, [0, 0, -1], atol=1e-15)


@given(eulers_deg)
def test_optical_round_trip(euler):
    q = unreal.map_q_optical_from_ue_euler(euler)
    flu = unreal.map_q_flu_from_ue_euler(euler)
    np.testing.assert_allclose(unreal.optical_from_flu(flu), q, atol=1e-15)
    back = unreal.map_q_optical_from_ue_euler(unreal.ue_euler_from_map_q_optical(q))
    assert quaternion.angle_between(back, q) < 1e-7


@given(many_vectors_m)
def test_flips_are_their_own_inverse(vectors):
    np.testing.assert_array_equal(unreal.ue_vector_from_map(unreal.map_vector_from_ue(vectors)), vectors)
    np.testing.assert_array_equal(unreal.map_axial_from_ue(unreal.map_axial_from_ue(vectors)), vectors)
    assert not np.signbit(unreal.map_vector_from_ue(np.zeros(3))).any()  # -0.0 is written differently in tables


def test_angular_velocity_is_an_axial_vector():
    # velocity of a point r of a spinning body is w x r in a right-handed frame and mirrored in a left-handed one
    w_ue, r_ue = np.array([0.1, -0.2, 0.3]), np.array([2.0, 3.0, -1.0])
    yaw_before, yaw_after = np.array([0.0, 0.0, 0.0]), np.array([0.0, 0.0, np.degrees(1e-6)])
    ahead = np.array([1.0, 0, 0])
    turned = quaternion.rotate(unreal.map_q_flu_from_ue_euler(np.stack([yaw_before, yaw_after])), ahead)
    velocity_map = (turned[1] - turned[0]) / 1e-6  # yaw rate 1 rad/s in UE
    np.testing.assert_allclose(
        velocity_map, np.cross(unreal.map_axial_from_ue(np.array([0.0, 0.0, 1.0])), ahead), atol=1e-5
    )
    np.testing.assert_allclose(unreal.map_axial_from_ue(w_ue), [-0.1, -0.2, -0.3])
    mirrored = np.cross(unreal.map_axial_from_ue(w_ue), unreal.map_vector_from_ue(r_ue))
    np.testing.assert_allclose(mirrored, unreal.map_vector_from_ue(np.cross(w_ue, r_ue)))
