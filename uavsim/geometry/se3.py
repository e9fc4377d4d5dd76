"""Rigid transforms between named frames: ``dst_SE3_src`` maps points from ``src`` to ``dst``; neighbours cancel.

One ``SE3`` holds one transform or a batch of them, as a numpy array holds numbers: leading axes broadcast in every
operation, and ``[...]`` indexes them. It stores quaternions unchanged, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Final

import numpy as np

from uavsim.errors import FrameError
from uavsim.geometry import quaternion
from uavsim.typing import FloatArray

_UNIT_WITHIN: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class SE3:
    """Rigid transforms. A quaternion cannot represent a reflection, and ``from_rotation`` refuses one.

    Args:
        quat_wxyz: (..., 4) unit quaternions, scalar first; ``from_quat_wxyz`` normalises others.
        translation_m: (..., 3) origin of ``src`` in ``dst``, metres; leading axes broadcast with those of the quaternions.

    Raises:
        FrameError: a quaternion is not of length 1, a shape is wrong, or a number is not finite.
    """

    quat_wxyz: FloatArray
    translation_m: FloatArray

    def __post_init__(self) -> None:
        quat_wxyz = np.array(self.quat_wxyz, dtype=np.float64)
        translation_m = np.array(self.translation_m, dtype=np.float64)
        if quat_wxyz.shape[-1:] != (4,) or translation_m.shape[-1:] != (3,):
            raise FrameError(
                f"SE3 needs quaternions (..., 4) and translations (..., 3), got {quat_wxyz.shape} and "
                f"{translation_m.shape}; SE3.from_rotation takes matrices"
            )
        if not (np.isfinite(quat_wxyz).all() and np.isfinite(translation_m).all()):
            raise FrameError("SE3 has a value that is not finite")
        if (np.abs(np.sum(quat_wxyz * quat_wxyz, axis=-1) - 1.0) > 2 * _UNIT_WITHIN).any():
            raise FrameError("not a rotation: a quaternion is not of length 1")
        self._hold(quat_wxyz, translation_m)

    def _hold(self, quat_wxyz: FloatArray, translation_m: FloatArray) -> None:
        """Broadcast both parts to the same leading axes and make them read-only."""
        if quat_wxyz.shape[:-1] != translation_m.shape[:-1]:
            try:
                batch = np.broadcast_shapes(quat_wxyz.shape[:-1], translation_m.shape[:-1])
            except ValueError:
                raise FrameError(
                    f"quaternions {quat_wxyz.shape} and translations {translation_m.shape} do not broadcast"
                ) from None
            quat_wxyz = np.broadcast_to(quat_wxyz, (*batch, 4))
            translation_m = np.broadcast_to(translation_m, (*batch, 3))
        quat_wxyz.setflags(write=False)
        translation_m.setflags(write=False)
        object.__setattr__(self, "quat_wxyz", quat_wxyz)
        object.__setattr__(self, "translation_m", translation_m)

    @classmethod
    def _of(cls, quat_wxyz: FloatArray, translation_m: FloatArray) -> SE3:
        """Build transforms from parts of valid transforms, without checks or copies."""
        made = object.__new__(cls)
        made._hold(quat_wxyz, translation_m)
        return made

    @classmethod
    def identity(cls, shape: tuple[int, ...] = ()) -> SE3:
        """Return a batch of identity transforms of this shape."""
        return cls(np.broadcast_to(quaternion.IDENTITY, (*shape, 4)), np.zeros((*shape, 3)))

    @classmethod
    def from_quat_wxyz(cls, quat_wxyz: FloatArray, translation_m: FloatArray) -> SE3:
        """Build transforms from (..., 4) quaternions of any length and (..., 3) translations, metres."""
        return cls(quaternion.normalise(quat_wxyz), translation_m)

    @classmethod
    def from_rotation(cls, rotation: FloatArray, translation_m: FloatArray) -> SE3:
        """Build transforms from (..., 3, 3) proper rotation matrices and (..., 3) translations, metres.

        Raises:
            FrameError: a matrix is a reflection, scales or shears, a shape is wrong, or a number is not finite.
        """
        return cls(quaternion.from_matrix(_proper(rotation)), translation_m)

    @classmethod
    def stack(cls, transforms: Sequence[SE3]) -> SE3:
        """Stack transforms of equal batch shape along a new first axis; an empty sequence gives shape (0,)."""
        if not transforms:
            return cls.identity((0,))
        return cls._of(np.stack([t.quat_wxyz for t in transforms]), np.stack([t.translation_m for t in transforms]))

    @classmethod
    def concatenate(cls, batches: Sequence[SE3]) -> SE3:
        """Concatenate batches along their first axis; an empty sequence gives shape (0,)."""
        if not batches:
            return cls.identity((0,))
        return cls._of(
            np.concatenate([b.quat_wxyz for b in batches]), np.concatenate([b.translation_m for b in batches])
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch shape; () for one transform."""
        return self.translation_m.shape[:-1]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("one transform has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[SE3]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, key: Any) -> SE3:
        """Index the batch like an array of that shape: ``poses[3]``, ``poses[rows]``, ``poses[:, None]``."""
        keys = key if isinstance(key, tuple) else (key,)
        rest = (slice(None),) if any(isinstance(k, EllipsisType) for k in keys) else (..., slice(None))
        return SE3._of(self.quat_wxyz[(*keys, *rest)], self.translation_m[(*keys, *rest)])

    @property
    def rotation(self) -> FloatArray:
        """The rotations as (..., 3, 3) matrices."""
        return quaternion.to_matrix(self.quat_wxyz)

    @property
    def matrix(self) -> FloatArray:
        """The (..., 4, 4) homogeneous matrices."""
        matrix = np.zeros((*self.shape, 4, 4))
        matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = self.rotation, self.translation_m, 1.0
        return matrix

    def __matmul__(self, src_SE3_other: SE3) -> SE3:
        """Compose: ``a_SE3_b @ b_SE3_c`` is ``a_SE3_c``; quaternions of the result have w >= 0."""
        turned = quaternion.multiply(self.quat_wxyz, src_SE3_other.quat_wxyz)
        return SE3._of(turned, self.apply(src_SE3_other.translation_m))

    def inverse(self) -> SE3:
        """Return the inverse, ``src_SE3_dst``."""
        back = quaternion.conjugate(self.quat_wxyz)
        return SE3._of(back, -quaternion.rotate(back, self.translation_m))

    def right_divide(self, b_SE3_c: SE3) -> SE3:
        """Remove the last transform of a chain: ``a_SE3_c.right_divide(b_SE3_c)`` is ``a_SE3_b``.

        Equals ``a_SE3_c @ b_SE3_c.inverse()`` with one rounding less.
        """
        turned = quaternion.multiply(self.quat_wxyz, quaternion.conjugate(b_SE3_c.quat_wxyz))
        return SE3._of(turned, self.translation_m - quaternion.rotate(turned, b_SE3_c.translation_m))

    def apply(self, points_src_m: FloatArray) -> FloatArray:
        """Map points from ``src`` to ``dst``.

        Args:
            points_src_m: (..., 3) points in ``src``, metres. Leading axes broadcast with the transforms: (N,) transforms take
                (N, 3) points, and ``poses[:, None]`` takes (N, P, 3).

        Returns:
            (..., 3) points in ``dst``, metres.
        """
        return self.translation_m + quaternion.rotate(self.quat_wxyz, points_src_m)

    def apply_inverse(self, points_dst_m: FloatArray) -> FloatArray:
        """Map (..., 3) points from ``dst`` back to ``src``, metres.

        Equals ``inverse().apply``, but subtracts the translation first: points near the origin of ``src`` lose no digits.
        """
        return quaternion.rotate(quaternion.conjugate(self.quat_wxyz), points_dst_m - self.translation_m)

    def rotate(self, vectors_src: FloatArray) -> FloatArray:
        """Rotate (..., 3) directions or velocities from ``src`` to ``dst``; the translation has no effect."""
        return quaternion.rotate(self.quat_wxyz, vectors_src)


def _proper(rotation: FloatArray) -> FloatArray:
    """Return (..., 3, 3) float64 rotation matrices; raise ``FrameError`` for anything else."""
    matrix = np.asarray(rotation, dtype=np.float64)
    if matrix.shape[-2:] != (3, 3):
        raise FrameError(f"a rotation is (..., 3, 3), got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise FrameError("a rotation has a value that is not finite")
    if (np.abs(matrix @ np.swapaxes(matrix, -1, -2) - np.eye(3)) > _UNIT_WITHIN).any():
        raise FrameError("not a rotation: its rows are not orthonormal")
    if (np.linalg.det(matrix) < 0.0).any():
        raise FrameError("a reflection is not a rotation; convert left-handed frames with geometry/unreal.py")
    return matrix
