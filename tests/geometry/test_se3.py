import numpy as np
import pytest
from hypothesis import given

from tests.geometry.strategies import many_vectors_m, quaternions, transforms, vectors_m
from uavsim.errors import FrameError
from uavsim.geometry.se3 import SE3

QUARTER_LEFT = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def same(a: SE3, b: SE3) -> None:
    np.testing.assert_allclose(a.matrix, b.matrix, atol=1e-8)


@given(transforms, transforms, transforms)
def test_composition_is_associative(a, b, c):
    same((a @ b) @ c, a @ (b @ c))


@given(transforms)
def test_identity_and_inverse(a):
    same(a @ SE3.identity(), a)
    same(SE3.identity() @ a, a)
    same(a @ a.inverse(), SE3.identity())
    same(a.inverse() @ a, SE3.identity())


@given(transforms, transforms, many_vectors_m)
def test_applying_the_product_is_applying_one_after_the_other(a, b, points):
    np.testing.assert_allclose((a @ b).apply(points), a.apply(b.apply(points)), atol=1e-8)
    homogeneous = np.concatenate([points, np.ones((7, 1))], axis=1) @ (a @ b).matrix.T
    np.testing.assert_allclose((a @ b).apply(points), homogeneous[:, :3], atol=1e-8)


@given(quaternions, vectors_m)
def test_quaternion_there_and_back(q, t):
    a = SE3.from_quat_wxyz(q, t)
    same(SE3.from_quat_wxyz(a.quat_wxyz, a.translation_m), a)


@given(transforms, many_vectors_m)
def test_rotate_is_the_difference_of_points(a, vectors):
    np.testing.assert_allclose(a.rotate(vectors), a.apply(vectors) - a.apply(np.zeros(3)), atol=1e-8)


def test_worked_on_paper():
    dst_SE3_src = SE3(QUARTER_LEFT, np.array([10.0, 20.0, 30.0]))
    np.testing.assert_allclose(dst_SE3_src.apply(np.array([1.0, 2.0, 3.0])), [8, 21, 33])
    np.testing.assert_allclose(dst_SE3_src.inverse().apply(np.array([8.0, 21.0, 33.0])), [1, 2, 3])


@pytest.mark.parametrize(
    ("rotation", "translation"),
    [
        (np.diag([1.0, -1.0, 1.0]), np.zeros(3)),  # a mirror
        (2 * np.eye(3), np.zeros(3)),
        (np.full((3, 3), np.nan), np.zeros(3)),
        (np.eye(3), np.array([0.0, np.inf, 0.0])),
        (np.eye(4), np.zeros(3)),
        (np.eye(3), np.zeros(2)),
        (np.array([[1.0, 0.1, 0], [0, 1, 0], [0, 0, 1]]), np.zeros(3)),
    ],
)
def test_what_is_no_rigid_transform_is_refused(rotation, translation):
    with pytest.raises(FrameError):
        SE3(rotation, translation)


def test_frozen_to_the_last_number():
    given_translation = np.zeros(3)
    a = SE3(np.eye(3), given_translation)
    given_translation[0] = 5.0
    assert a.translation_m[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        a.rotation[0, 0] = 2.0
