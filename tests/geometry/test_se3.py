import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.strategies import batches, many_vectors_m, quaternions, transforms, vectors_m
from uavsim.errors import FrameError
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3

QUARTER_LEFT = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
HALF = np.sqrt(0.5)
LEFT_WXYZ = np.array([HALF, 0.0, 0.0, HALF])  # the same rotation as a quaternion: cos 45, sin 45 about z
SHAPES = ((), (1,), (5,), (2, 5), (3, 1, 5))  # they broadcast with one another
any_batch = st.sampled_from(SHAPES).flatmap(batches)


def same(a: SE3, b: SE3, atol: float = 1e-8) -> None:
    one, other = np.broadcast_arrays(a.matrix, b.matrix)
    np.testing.assert_allclose(one, other, atol=atol)


def identical(a: SE3, b: SE3) -> None:
    np.testing.assert_array_equal(a.quat_wxyz, b.quat_wxyz)
    np.testing.assert_array_equal(a.translation_m, b.translation_m)


@given(any_batch, any_batch, any_batch)
def test_composition_is_associative(a: SE3, b: SE3, c: SE3) -> None:
    same((a @ b) @ c, a @ (b @ c))


@given(any_batch)
def test_identity_and_inverse(a: SE3) -> None:
    same(a @ SE3.identity(), a)
    same(SE3.identity() @ a, a)
    same(a @ a.inverse(), SE3.identity(a.shape))
    same(a.inverse() @ a, SE3.identity(a.shape))
    same(a.inverse().inverse(), a)


@given(any_batch, any_batch)
def test_the_inverse_of_the_product_is_the_product_of_the_inverses(a: SE3, b: SE3) -> None:
    same((a @ b).inverse(), b.inverse() @ a.inverse())


@given(batches((3, 1)), batches((4,)))
def test_broadcasting_equals_a_loop(a: SE3, b: SE3) -> None:
    """The tolerance is 64 roundings of the largest number, because the order of sums depends on the processor."""
    points_m = np.linspace(-7, 7, 36).reshape(3, 4, 3)
    together = a @ b
    within = 64 * np.finfo(float).eps * (np.abs(a.translation_m).max() + np.abs(b.translation_m).max() + 20.0)
    for row, column in np.ndindex(3, 4):
        one = a[row, 0] @ b[column]
        for batch, alone in ((together, one), (together.inverse(), one.inverse())):
            found = np.concatenate([part[row, column] for part in numbers(batch, points_m)])
            np.testing.assert_allclose(
                found, np.concatenate(numbers(alone, points_m[row, column])), rtol=0, atol=within
            )
        same(together.right_divide(b)[row, column], one.right_divide(b[column]), atol=within)


def numbers(a: SE3, points_m: np.ndarray) -> list[np.ndarray]:
    """Return the arrays of a batch of transforms and the results of its methods on (..., 3) points, metres."""
    return [a.quat_wxyz, a.translation_m, a.rotation.reshape(*a.shape, 9), a.apply(points_m), a.apply_inverse(points_m),
            a.rotate(points_m)]  # fmt: skip


@given(transforms, transforms, many_vectors_m)
def test_apply_of_a_product_is_the_composition(a: SE3, b: SE3, points: np.ndarray) -> None:
    np.testing.assert_allclose((a @ b).apply(points), a.apply(b.apply(points)), atol=1e-8)
    homogeneous = np.concatenate([points, np.ones((7, 1))], axis=1) @ (a @ b).matrix.T
    np.testing.assert_allclose((a @ b).apply(points), homogeneous[:, :3], atol=1e-8)


@given(any_batch, vectors_m)
def test_apply_inverse_inverts_apply(a: SE3, point_m: np.ndarray) -> None:
    np.testing.assert_allclose(a.apply_inverse(a.apply(point_m)), np.broadcast_to(point_m, (*a.shape, 3)), atol=1e-8)
    np.testing.assert_allclose(a.apply_inverse(point_m), a.inverse().apply(point_m), atol=1e-8)


@given(any_batch, any_batch)
def test_right_divide_removes_the_last_transform(a_SE3_b: SE3, b_SE3_c: SE3) -> None:
    same((a_SE3_b @ b_SE3_c).right_divide(b_SE3_c), a_SE3_b @ SE3.identity(b_SE3_c.shape))


@given(quaternions, vectors_m)
def test_quaternion_is_stored_unchanged_and_equals_its_matrix(q: np.ndarray, t: np.ndarray) -> None:
    q = q / np.linalg.norm(q)
    a = SE3(q, t)
    assert a.quat_wxyz.tobytes() == q.tobytes()  # also with w < 0
    assert a.translation_m.tobytes() == t.tobytes()
    same(SE3.from_rotation(a.rotation, t), a)
    same(SE3.from_quat_wxyz(3.5 * q, t), a)
    assert quaternion.angle_between(SE3.from_rotation(a.rotation, t).quat_wxyz, q) < 1e-7


@given(transforms, many_vectors_m)
def test_rotate_is_the_difference_of_points(a: SE3, vectors: np.ndarray) -> None:
    np.testing.assert_allclose(a.rotate(vectors), a.apply(vectors) - a.apply(np.zeros(3)), atol=1e-8)


def test_worked_on_paper() -> None:
    dst_SE3_src = SE3.from_rotation(QUARTER_LEFT, np.array([10.0, 20.0, 30.0]))
    np.testing.assert_allclose(dst_SE3_src.quat_wxyz, LEFT_WXYZ)
    np.testing.assert_allclose(dst_SE3_src.apply(np.array([1.0, 2.0, 3.0])), [8, 21, 33])
    np.testing.assert_allclose(dst_SE3_src.inverse().apply(np.array([8.0, 21.0, 33.0])), [1, 2, 3])
    np.testing.assert_allclose(dst_SE3_src.apply_inverse(np.array([8.0, 21.0, 33.0])), [1, 2, 3])
    np.testing.assert_allclose(
        dst_SE3_src.matrix, [[0, -1, 0, 10], [1, 0, 0, 20], [0, 0, 1, 30], [0, 0, 0, 1]], atol=1e-12
    )


def test_two_drones_with_two_cameras_each_worked_on_paper() -> None:
    """Drone 0 at (10, 0) faces map x, drone 1 at (0, 10) faces map y; one camera 1 m ahead, one 2 m to the left."""
    map_SE3_flu = SE3(np.array([[1.0, 0, 0, 0], LEFT_WXYZ]), np.array([[10.0, 0, 50], [0, 10, 60]]))
    flu_SE3_camera = SE3(np.array([[1.0, 0, 0, 0], LEFT_WXYZ]), np.array([[1.0, 0, 0], [0, 2, 0]]))

    map_SE3_camera = map_SE3_flu[:, None] @ flu_SE3_camera

    np.testing.assert_allclose(
        map_SE3_camera.translation_m, [[[11, 0, 50], [10, 2, 50]], [[0, 11, 60], [-2, 10, 60]]], atol=1e-12
    )
    ahead = map_SE3_camera.rotate(np.array([1.0, 0, 0]))  # the second camera looks left: from drone 1 back along -x
    np.testing.assert_allclose(ahead, [[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [-1, 0, 0]]], atol=1e-12)


def test_batches_apply_to_one_or_many_points_each() -> None:
    poses = SE3(LEFT_WXYZ, np.array([[10.0, 0, 0], [20, 0, 0]]))
    np.testing.assert_allclose(poses.apply(np.array([[1.0, 0, 0], [2, 0, 0]])), [[10, 1, 0], [20, 2, 0]], atol=1e-12)
    three_points_m = np.array([[1.0, 0, 0], [2, 0, 0], [3, 0, 0]])
    placed_m = poses[:, None].apply(three_points_m)
    assert placed_m.shape == (2, 3, 3)
    np.testing.assert_allclose(placed_m[1], [[20, 1, 0], [20, 2, 0], [20, 3, 0]], atol=1e-12)


def test_indexing_stacking_and_concatenation() -> None:
    poses = SE3(LEFT_WXYZ, np.arange(18.0).reshape(2, 3, 3))
    assert poses.shape == poses.quat_wxyz.shape[:-1] == (2, 3)
    assert len(poses) == 2
    assert poses[1, 2].shape == ()
    assert poses[..., None].shape == (2, 3, 1)
    assert poses[:, None].shape == (2, 1, 3)
    assert poses[np.array([1, 0, 1])].shape == (3, 3)
    assert poses[np.array([True, False])].shape == (1, 3)
    np.testing.assert_array_equal(poses[1, 2].translation_m, [15, 16, 17])
    np.testing.assert_array_equal(poses[:, ::-1].translation_m[0, 0], [6, 7, 8])
    identical(SE3.stack([poses[0], poses[1]]), poses)
    identical(SE3.stack(list(poses)), poses)
    identical(SE3.concatenate([poses[:1], poses[:0], poses[1:]]), poses)
    assert SE3.stack([]).shape == SE3.concatenate([]).shape == (0,)
    for too_deep in ((0, 0, 0), (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            poses[too_deep]


def test_single_transform_is_not_a_sequence() -> None:
    with pytest.raises(TypeError, match="has no length"):
        len(SE3.identity())
    with pytest.raises(TypeError, match="has no length"):
        list(SE3.identity())


MIRROR = np.diag([1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("rotation", "translation"),
    [
        (MIRROR, np.zeros(3)),
        (-np.eye(3), np.zeros(3)),
        (np.stack([np.eye(3), MIRROR, np.eye(3)]), np.zeros(3)),  # one mirror in a batch
        (2 * np.eye(3), np.zeros(3)),
        (np.full((3, 3), np.nan), np.zeros(3)),
        (np.eye(3), np.array([0.0, np.inf, 0.0])),
        (np.eye(4), np.zeros(3)),
        (np.eye(3), np.zeros(2)),
        (np.array([[1.0, 0.1, 0], [0, 1, 0], [0, 0, 1]]), np.zeros(3)),
    ],
)
def test_matrices_that_are_not_rotations_are_refused(rotation: np.ndarray, translation: np.ndarray) -> None:
    with pytest.raises(FrameError):
        SE3.from_rotation(rotation, translation)


@given(any_batch, st.integers(0, 2))
def test_reflections_are_refused(a: SE3, axis: int) -> None:
    mirrored = np.array(a.rotation)
    mirrored[..., axis] *= -1.0
    with pytest.raises(FrameError, match="reflection"):
        SE3.from_rotation(mirrored, a.translation_m)


@pytest.mark.parametrize(
    ("quat", "translation", "said"),
    [
        (np.zeros(4), np.zeros(3), "length 1"),
        (np.array([1.0, 0.01, 0, 0]), np.zeros(3), "length 1"),
        (np.array([[1.0, 0, 0, 0], [2, 0, 0, 0]]), np.zeros(3), "length 1"),
        (np.array([np.nan, 0, 0, 0]), np.zeros(3), "not finite"),
        (np.eye(3), np.zeros(3), "from_rotation takes matrices"),
        (np.array(1.0), np.zeros(3), "needs quaternions"),
        (np.array([1.0, 0, 0, 0]), np.zeros(4), "translations"),
        (np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((3, 3)), "do not broadcast"),
    ],
)
def test_quaternions_that_are_not_unit_are_refused(quat: np.ndarray, translation: np.ndarray, said: str) -> None:
    with pytest.raises(FrameError, match=said):
        SE3(quat, translation)


def test_incompatible_batch_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        SE3.identity((2,)) @ SE3.identity((3,))


def test_arrays_are_read_only() -> None:
    given_translation = np.zeros((2, 3))
    a = SE3(quaternion.IDENTITY, given_translation)
    given_translation[0, 0] = 5.0
    assert a.translation_m[0, 0] == 0.0
    for held in (a.quat_wxyz, a.translation_m, a[0].quat_wxyz, (a @ a).translation_m, a.inverse().quat_wxyz):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 2.0
