"""Unit quaternions (w, x, y, z), scalar first, by the row: every function takes (..., 4) and broadcasts.

A rotation has two quaternions, q and -q; what leaves this module has w >= 0 (where w is 0: the first of x, y, z that is
not 0 is positive), so that equal rotations are written as equal numbers.
"""

from typing import Final

import numpy as np

from uavsim.errors import FrameError
from uavsim.typing import FloatArray

IDENTITY: Final[FloatArray] = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.setflags(write=False)
_NEARLY_PARALLEL: Final = 1.0 - 1e-10  # here slerp's sine is lost in rounding and a straight line is as good


def normalise(q_wxyz: FloatArray) -> FloatArray:
    """Return unit quaternions with w >= 0.

    Raises:
        FrameError: the last axis is not 4 long, or a quaternion is zero or not finite.
    """
    q = np.asarray(q_wxyz, dtype=np.float64)
    if q.ndim == 0 or q.shape[-1] != 4:
        raise FrameError(f"a quaternion has 4 numbers (w, x, y, z), got shape {q.shape}")
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (np.isfinite(length).all() and (length > 1e-12).all()):
        raise FrameError("a quaternion is zero or not finite")
    return _signed(q / length)


def _signed(q: FloatArray) -> FloatArray:
    """Flip to the half sphere of the module's convention; also turns -0.0 into 0.0."""
    first = np.argmax(q != 0.0, axis=-1, keepdims=True)
    flip = np.take_along_axis(q, first, axis=-1) < 0.0
    return np.where(flip, -q, q) + 0.0


def multiply(a_wxyz: FloatArray, b_wxyz: FloatArray) -> FloatArray:
    """Compose: rotating by ``multiply(a, b)`` is rotating by b, then by a. (..., 4) x (..., 4) -> (..., 4)."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a_wxyz, dtype=np.float64), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b_wxyz, dtype=np.float64), -1, 0)
    product = np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )
    return normalise(product)


def conjugate(q_wxyz: FloatArray) -> FloatArray:
    """Return the inverse rotations of unit quaternions, (..., 4)."""
    return _signed(np.asarray(q_wxyz, dtype=np.float64) * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(q_wxyz: FloatArray, vectors: FloatArray) -> FloatArray:
    """Rotate (..., 3) vectors by (..., 4) unit quaternions; leading axes broadcast."""
    q, v = np.asarray(q_wxyz, dtype=np.float64), np.asarray(vectors, dtype=np.float64)
    twice_cross = 2.0 * _cross(q[..., 1:], v)
    return v + q[..., :1] * twice_cross + _cross(q[..., 1:], twice_cross)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``np.cross`` of (..., 3) vectors, to the last bit, in a third of its time for few vectors."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def to_matrix(q_wxyz: FloatArray) -> FloatArray:
    """Return (..., 3, 3) rotation matrices of (..., 4) unit quaternions."""
    w, x, y, z = np.moveaxis(np.asarray(q_wxyz, dtype=np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(rotation: FloatArray) -> FloatArray:
    """Return (..., 4) quaternions of (..., 3, 3) proper rotations.

    Of the four ways to read a quaternion off a matrix (one for each component taken as pivot), the one with the largest
    pivot is used, so no division is by a small number.

    Raises:
        FrameError: wrong shape.
    """
    m = np.asarray(rotation, dtype=np.float64)
    if m.shape[-2:] != (3, 3):
        raise FrameError(f"a rotation is (3, 3), got shape {m.shape}")
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    four_squares = np.stack([1 + d0 + d1 + d2, 1 + d0 - d1 - d2, 1 - d0 + d1 - d2, 1 - d0 - d1 + d2], axis=-1)
    pairs = {
        (0, 1): m[..., 2, 1] - m[..., 1, 2],
        (0, 2): m[..., 0, 2] - m[..., 2, 0],
        (0, 3): m[..., 1, 0] - m[..., 0, 1],
        (1, 2): m[..., 1, 0] + m[..., 0, 1],
        (1, 3): m[..., 0, 2] + m[..., 2, 0],
        (2, 3): m[..., 2, 1] + m[..., 1, 2],
    }
    four_products = np.stack(
        [
            np.stack([four_squares[..., i] if i == j else pairs[min(i, j), max(i, j)] for j in range(4)], axis=-1)
            for i in range(4)
        ],
        axis=-2,
    )
    pivot = np.argmax(four_squares, axis=-1)[..., None, None]
    return normalise(np.take_along_axis(four_products, pivot, axis=-2)[..., 0, :])


def from_axis_angle(axis: FloatArray, angle_rad: FloatArray | float) -> FloatArray:
    """Return (..., 4) rotations by ``angle_rad`` (...) around (..., 3) unit axes, right-handed."""
    half = np.asarray(angle_rad, dtype=np.float64)[..., None] / 2.0
    vector = np.sin(half) * np.asarray(axis, dtype=np.float64)
    scalar = np.broadcast_to(np.cos(half), (*vector.shape[:-1], 1))
    return _signed(np.concatenate([scalar, vector], axis=-1))


def from_yaw(yaw_rad: FloatArray | float) -> FloatArray:
    """Return (..., 4) turns around z, counter-clockwise seen from above."""
    return from_axis_angle(np.array([0.0, 0.0, 1.0]), yaw_rad)


def yaw(q_wxyz: FloatArray) -> FloatArray:
    """Return the heading (...) of the rotated x axis in the xy plane, radians in [-pi, pi]."""
    w, x, y, z = np.moveaxis(np.asarray(q_wxyz, dtype=np.float64), -1, 0)
    return np.asarray(np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)))


def angle_between(a_wxyz: FloatArray, b_wxyz: FloatArray) -> FloatArray:
    """Return the smallest angle (...) that turns a into b, radians in [0, pi]; exact also for tiny angles."""
    a, b = np.asarray(a_wxyz, dtype=np.float64), np.asarray(b_wxyz, dtype=np.float64)
    near = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.asarray(4.0 * np.arcsin(np.clip(near / 2.0, 0.0, 1.0)))


def slerp(a_wxyz: FloatArray, b_wxyz: FloatArray, share: FloatArray | float) -> FloatArray:
    """Turn from a (share 0) to b (share 1) at constant rate, the short way round; all arguments broadcast."""
    a, b = np.asarray(a_wxyz, dtype=np.float64), np.asarray(b_wxyz, dtype=np.float64)
    t = np.asarray(share, dtype=np.float64)[..., None]
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    b = np.where(cosine < 0.0, -b, b)
    cosine = np.abs(cosine)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    parallel = cosine > _NEARLY_PARALLEL
    sine = np.where(parallel, 1.0, np.sin(angle))
    from_a = np.where(parallel, 1.0 - t, np.sin((1.0 - t) * angle) / sine)
    from_b = np.where(parallel, t, np.sin(t * angle) / sine)
    return normalise(from_a * a + from_b * b)
