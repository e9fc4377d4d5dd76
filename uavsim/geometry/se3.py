"""Rigid transforms between named frames: ``dst_SE3_src`` takes points from ``src`` to ``dst``; neighbours cancel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.errors import FrameError
from uavsim.geometry import quaternion
from uavsim.typing import FloatArray

__all__ = ["SE3"]

_ORTHONORMAL_WITHIN: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class SE3:
    """One rigid transform; reflections are refused, so a mirrored axis cannot hide in here.

    Args:
        rotation: (3, 3) proper rotation.
        translation_m: (3,) origin of ``src`` seen from ``dst``.

    Raises:
        FrameError: the matrix is not a proper rotation, or a shape is wrong.
    """

    rotation: FloatArray
    translation_m: FloatArray

    def __post_init__(self) -> None:
        rotation = np.array(self.rotation, dtype=np.float64)
        translation_m = np.array(self.translation_m, dtype=np.float64)
        if rotation.shape != (3, 3) or translation_m.shape != (3,):
            raise FrameError(f"SE3 needs (3, 3) and (3,), got {rotation.shape} and {translation_m.shape}")
        if not (np.isfinite(rotation).all() and np.isfinite(translation_m).all()):
            raise FrameError("SE3 holds a number that is not finite")
        if np.abs(rotation @ rotation.T - np.eye(3)).max() > _ORTHONORMAL_WITHIN:
            raise FrameError("not a rotation: its rows are not orthonormal")
        if np.linalg.det(rotation) < 0.0:
            raise FrameError("a reflection is not a rotation: left-handed frames are converted in geometry/unreal.py")
        rotation.setflags(write=False)
        translation_m.setflags(write=False)
        object.__setattr__(self, "rotation", rotation)
        object.__setattr__(self, "translation_m", translation_m)

    @classmethod
    def identity(cls) -> SE3:
        """Return the transform that changes nothing."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_quat_wxyz(cls, quat_wxyz: FloatArray, translation_m: FloatArray) -> SE3:
        """Make a transform of a (4,) quaternion, normalised here, and (3,) metres."""
        return cls(quaternion.to_matrix(quaternion.normalise(quat_wxyz)), translation_m)

    @property
    def quat_wxyz(self) -> FloatArray:
        """The rotation as (4,) unit quaternion, w >= 0."""
        return quaternion.from_matrix(self.rotation)

    @property
    def matrix(self) -> FloatArray:
        """The (4, 4) homogeneous matrix."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation, self.translation_m
        return matrix

    def __matmul__(self, src_SE3_other: SE3) -> SE3:
        """Compose: ``a_SE3_b @ b_SE3_c`` is ``a_SE3_c``."""
        return SE3(self.rotation @ src_SE3_other.rotation, self.apply(src_SE3_other.translation_m))

    def inverse(self) -> SE3:
        """Return ``src_SE3_dst``."""
        return SE3(self.rotation.T, -self.rotation.T @ self.translation_m)

    def apply(self, points_src_m: FloatArray) -> FloatArray:
        """Take (..., 3) points from ``src`` to ``dst``, metres."""
        return np.asarray(points_src_m, dtype=np.float64) @ self.rotation.T + self.translation_m

    def rotate(self, vectors_src: FloatArray) -> FloatArray:
        """Take (..., 3) directions or velocities from ``src`` to ``dst``: the origin's place does not matter."""
        return np.asarray(vectors_src, dtype=np.float64) @ self.rotation.T
