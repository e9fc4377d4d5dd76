"""Camera quaternions for UAV3D files that UAV3D's conversion to Euler angles decodes correctly.

UAV3D's code converts a quaternion to (roll, pitch, yaw) and makes a matrix from these. At pitch -90, the pitch of BOTTOM
cameras of level drones, roll and yaw have the same axis, and many float64 quaternions within 1e-9 of it decode to a wrong
attitude (by up to 0.3 rad). This module decodes each quaternion like UAV3D. If the result is wrong, it uses the nearest
float32 quaternion instead, which differs by 1e-7 rad and is far enough from the pole. Source: transforms3d ``quat2euler``
(axes sxyz), UAV3D ``uav_converter.py`` ``get_matrix``.
"""

from typing import Final

import numpy as np

from uavsim.geometry import frames, quaternion, unreal
from uavsim.typing import FloatArray

_POLE: Final = 4 * np.finfo(np.float64).eps  # transforms3d's _EPS4
_GOOD_RAD: Final = 1e-6
_OFF_POLE_DEG: Final = 1e-4


def ned_quaternions(euler_deg: FloatArray) -> FloatArray:
    """Return (N, 4) AirSim quaternions, wxyz, of (N, 3) roll, pitch, yaw in the simulator's frame, degrees."""
    exact = _ned(euler_deg)
    written = exact
    off_pole = np.asarray(euler_deg, dtype=np.float64).copy()
    off_pole[:, 1] -= np.sign(off_pole[:, 1]) * _OFF_POLE_DEG
    for candidate in (exact.astype(np.float32).astype(np.float64), _ned(off_pole)):
        bad = _misread_rad(written, exact) > _GOOD_RAD
        written = np.where(bad[:, None], candidate, written)
    return np.asarray(written)


def uav3d_euler_deg(ned_q_wxyz: FloatArray) -> FloatArray:
    """Return (N, 3) roll, pitch, yaw, degrees, as UAV3D's code decodes them from (N, 4) quaternions, wxyz."""
    w, x, y, z = np.asarray(ned_q_wxyz, dtype=np.float64).T
    scale = 2.0 / (w * w + x * x + y * y + z * z)  # UAV3D's order of operations, for the same rounding
    xs, ys, zs = x * scale, y * scale, z * scale
    m00, m10, m20 = 1.0 - (y * ys + z * zs), x * ys + w * zs, x * zs - w * ys
    m11, m21 = 1.0 - (x * xs + z * zs), y * zs + w * xs
    m12, m22 = y * zs - w * xs, 1.0 - (x * xs + y * ys)
    level = np.sqrt(m00 * m00 + m10 * m10)
    at_pole = level <= _POLE
    roll = np.where(at_pole, np.arctan2(-m12, m11), np.arctan2(m21, m22))
    yaw = np.where(at_pole, 0.0, np.arctan2(m10, m00))
    return np.asarray(np.degrees(np.stack([roll, np.arctan2(-m20, level), yaw], axis=1)))


def _ned(euler_deg: FloatArray) -> FloatArray:
    return np.asarray(frames.quat_ned_from_map(unreal.map_q_flu_from_ue_euler(euler_deg)) + 0.0)


def _misread_rad(written: FloatArray, truth: FloatArray) -> FloatArray:
    """Return (N,) errors of (N, 4) attitudes after decoding like UAV3D, radians."""
    return np.asarray(quaternion.angle_between(_ned(uav3d_euler_deg(written)), quaternion.normalise(truth)))
