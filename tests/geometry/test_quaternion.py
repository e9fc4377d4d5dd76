import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.strategies import many_vectors_m, quaternions
from uavsim.errors import FrameError
from uavsim.geometry import quaternion

HALF = np.sqrt(0.5)


@given(quaternions, quaternions, quaternions)
def test_multiplication_is_associative(a, b, c):
    a, b, c = map(quaternion.normalise, (a, b, c))
    left = quaternion.multiply(quaternion.multiply(a, b), c)
    right = quaternion.multiply(a, quaternion.multiply(b, c))
    assert quaternion.angle_between(left, right) < 1e-12


@given(quaternions)
def test_identity_and_inverse(q):
    q = quaternion.normalise(q)
    assert quaternion.angle_between(quaternion.multiply(q, quaternion.IDENTITY), q) < 1e-12
    assert quaternion.angle_between(quaternion.multiply(q, quaternion.conjugate(q)), quaternion.IDENTITY) < 1e-12


@given(quaternions, quaternions, many_vectors_m)
def test_rotate_equals_matrix_product(a, b, vectors):
    a, b = quaternion.normalise(a), quaternion.normalise(b)
    by_matrix = vectors @ (quaternion.to_matrix(a) @ quaternion.to_matrix(b)).T
    np.testing.assert_allclose(quaternion.rotate(quaternion.multiply(a, b), vectors), by_matrix, atol=1e-9)


@given(quaternions)
def test_matrix_round_trip(q):
    q = quaternion.normalise(q)
    matrix = quaternion.to_matrix(q)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix) == pytest.approx(1.0)
    assert quaternion.angle_between(quaternion.from_matrix(matrix), q) < 1e-7


@pytest.mark.parametrize("pivot", range(4))
def test_from_matrix_with_each_component_as_pivot(pivot):
    q = np.full(4, 0.1)
    q[pivot] = 1.0
    q = quaternion.normalise(q)
    np.testing.assert_allclose(quaternion.from_matrix(quaternion.to_matrix(q)), q, atol=1e-15)


def test_worked_on_paper():
    quarter_left = np.array([HALF, 0, 0, HALF])  # nose from x to y
    np.testing.assert_allclose(quaternion.rotate(quarter_left, np.array([1.0, 0, 0])), [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(quaternion.to_matrix(quarter_left), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(quaternion.from_yaw(np.pi / 2), quarter_left, atol=1e-15)
    # z-turn after x-turn: x stays under the x-turn and then goes to y; y goes to z and stays there
    quarter_roll = np.array([HALF, HALF, 0, 0])
    both = quaternion.multiply(quarter_left, quarter_roll)
    np.testing.assert_allclose(both, [0.5, 0.5, 0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(quaternion.rotate(both, np.eye(3)), [[0, 1, 0], [0, 0, 1], [1, 0, 0]], atol=1e-15)


@given(quaternions)
def test_q_and_minus_q_normalise_to_the_same_numbers(q):
    np.testing.assert_array_equal(quaternion.normalise(q), quaternion.normalise(-q))
    assert quaternion.normalise(q)[0] >= 0


def test_sign_where_w_is_zero():
    np.testing.assert_array_equal(quaternion.normalise(np.array([0.0, 0.0, -2.0, 0.0])), [0, 0, 1, 0])
    minus_zero = quaternion.normalise(np.array([-0.0, 0.0, 0.0, -1.0]))
    assert not np.signbit(minus_zero).any()


@pytest.mark.parametrize("bad", [np.zeros(4), np.ones(3), np.array([np.nan, 0, 0, 1]), np.float64(1)])
def test_normalise_refuses(bad):
    with pytest.raises(FrameError):
        quaternion.normalise(bad)


@given(st.floats(-3.1, 3.1))
def test_yaw_round_trip(angle):
    assert quaternion.yaw(quaternion.from_yaw(angle)) == pytest.approx(angle, abs=1e-12)


def test_angle_between_is_accurate_for_tiny_angles():
    tiny = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), 1e-9)
    assert quaternion.angle_between(tiny, quaternion.IDENTITY) == pytest.approx(1e-9, rel=1e-6)
