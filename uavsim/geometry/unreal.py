"""Conversions between CARLA's left-handed frame and the map frame; no other module mirrors an axis.

CARLA's frame ``ue`` has x forward, y right, z up, metres; a rotation is (roll, pitch, yaw) in degrees, in that order here, and
its matrix is ``M = Rz(yaw) Ry(-pitch) Rx(-roll)`` (``carla.Transform.get_matrix``). The map is ``ue`` with y
flipped, F = diag(1, -1, 1). A body's flu flips the same way, so

    map_R_flu = F M F = Rz(-yaw) Ry(-pitch) Rx(roll)        map_t = F ue_t        velocity: F v
    angular velocity is axial: -F w, because a mirror turns the sense of every rotation.
"""

from typing import Final

import numpy as np

from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

_FLIP_Y: Final[FloatArray] = np.array([1.0, -1.0, 1.0])
_FLU_Q_OPTICAL: Final[FloatArray] = np.array([0.5, -0.5, 0.5, -0.5])  # of [[0, 0, 1], [-1, 0, 0], [0, -1, 0]]
_POLE: Final = 1e-8  # radians from pitch +-90 where yaw and roll turn about the same axis: roll is then reported as 0


def map_vector_from_ue(vectors_ue: FloatArray) -> FloatArray:
    """Convert (..., 3) locations, velocities or accelerations from CARLA's frame to the map frame; units stay."""
    return np.asarray(vectors_ue, dtype=np.float64) * _FLIP_Y + 0.0


def ue_vector_from_map(vectors_map: FloatArray) -> FloatArray:
    """Convert (..., 3) locations, velocities or accelerations from the map frame to CARLA's; units stay."""
    return np.asarray(vectors_map, dtype=np.float64) * _FLIP_Y + 0.0


def map_axial_from_ue(axial_ue: FloatArray) -> FloatArray:
    """Convert (..., 3) angular velocities from CARLA's frame to the map frame; units stay."""
    return np.asarray(axial_ue, dtype=np.float64) * -_FLIP_Y + 0.0


def map_q_flu_from_ue_euler(euler_deg: FloatArray) -> FloatArray:
    """Convert (..., 3) CARLA (roll, pitch, yaw), degrees, of bodies to (..., 4) quaternions ``map_q_flu``."""
    roll, pitch, yaw = np.moveaxis(np.radians(np.asarray(euler_deg, dtype=np.float64)), -1, 0) / 2.0
    cr, sr, cp, sp, cy, sy = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    product = [  # (cos, 0, 0, -sin)(yaw) * (cos, 0, -sin, 0)(pitch) * (cos, sin, 0, 0)(roll)
        cy * cp * cr + sy * sp * sr,
        cy * cp * sr - sy * sp * cr,
        -cy * sp * cr - sy * cp * sr,
        cy * sp * sr - sy * cp * cr,
    ]
    return quaternion.normalise(np.stack(product, axis=-1))


def map_q_optical_from_ue_euler(euler_deg: FloatArray) -> FloatArray:
    """Convert (..., 3) CARLA (roll, pitch, yaw), degrees, of cameras to (..., 4) quaternions ``map_q_optical``."""
    return quaternion.multiply(map_q_flu_from_ue_euler(euler_deg), _FLU_Q_OPTICAL)


def map_SE3_flu_from_ue(ue_location_m: FloatArray, *, ue_euler_deg: FloatArray) -> SE3:
    """Convert CARLA poses to poses of bodies.

    Args:
        ue_location_m: (..., 3) locations in CARLA's frame, metres.
        ue_euler_deg: (..., 3) roll, pitch, yaw, degrees.

    Returns:
        (...) ``map_SE3_flu``.
    """
    return SE3(map_q_flu_from_ue_euler(ue_euler_deg), map_vector_from_ue(ue_location_m))


def map_SE3_optical_from_ue(ue_location_m: FloatArray, *, ue_euler_deg: FloatArray) -> SE3:
    """Convert CARLA poses to (...) ``map_SE3_optical`` of cameras; arguments as for ``map_SE3_flu_from_ue``."""
    return SE3(map_q_optical_from_ue_euler(ue_euler_deg), map_vector_from_ue(ue_location_m))


def optical_from_flu(map_q_flu_wxyz: FloatArray) -> FloatArray:
    """Convert (..., 4) ``map_q_flu`` of cameras to (..., 4) ``map_q_optical``."""
    return quaternion.multiply(map_q_flu_wxyz, _FLU_Q_OPTICAL)


def ue_euler_from_map_q_flu(map_q_flu_wxyz: FloatArray) -> FloatArray:
    """Convert body rotations to CARLA's Euler angles.

    Roll is computed after yaw and pitch are taken off: near the poles each of roll and yaw is ill-defined, but together they
    give the rotation. At the poles roll is 0.

    Args:
        map_q_flu_wxyz: (..., 4) quaternions.

    Returns:
        (..., 3) roll, pitch, yaw, degrees; pitch in [-90, 90].
    """
    m = quaternion.to_matrix(quaternion.normalise(map_q_flu_wxyz))
    level = np.hypot(m[..., 0, 0], m[..., 1, 0])
    at_pole = level < _POLE
    yaw = np.where(at_pole, np.arctan2(-m[..., 0, 1], m[..., 1, 1]), np.arctan2(m[..., 1, 0], m[..., 0, 0]))
    pitch = np.arctan2(-m[..., 2, 0], level)
    c, s = np.cos(yaw), np.sin(yaw)
    roll = np.arctan2(s * m[..., 0, 2] - c * m[..., 1, 2], c * m[..., 1, 1] - s * m[..., 0, 1])
    roll = np.where(at_pole, 0.0, roll)
    return np.asarray(np.degrees(np.stack([roll, -pitch, -yaw], axis=-1)) + 0.0)


def ue_euler_from_map_q_optical(map_q_optical_wxyz: FloatArray) -> FloatArray:
    """Convert (..., 4) ``map_q_optical`` to (..., 3) CARLA (roll, pitch, yaw), degrees."""
    return ue_euler_from_map_q_flu(quaternion.multiply(map_q_optical_wxyz, quaternion.conjugate(_FLU_Q_OPTICAL)))


def ue_matrix(euler_deg: FloatArray) -> FloatArray:
    """Return CARLA's own (..., 3, 3) matrices ``ue <- body`` of (..., 3) (roll, pitch, yaw), degrees: left-handed.

    It is F map_R_flu F; use it only for files in CARLA's frame.
    """
    return quaternion.to_matrix(map_q_flu_from_ue_euler(euler_deg)) * np.outer(_FLIP_Y, _FLIP_Y)
