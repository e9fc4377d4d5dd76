"""AirSim's frames (north-east-down metres, wxyz quaternions) and their conversion to and from Unreal's axes.

North is Unreal's x, east Unreal's y, down minus Unreal's z; roll, pitch and yaw are equal in both frames.
Source: AirSim's NedTransform (positions flip z; a quaternion (w, x, y, z) becomes (w, -x, -y, z)).
"""

import math

import numpy as np

from headless_simulator.airsim.host import Pose6
from headless_simulator.scene import Float64

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]  # w, x, y, z
IDENTITY: Quat = (1.0, 0.0, 0.0, 0.0)


def quat_from_euler(roll_rad: float, pitch_rad: float, yaw_rad: float) -> Quat:
    """Convert yaw, then pitch, then roll (aerospace order) to a wxyz quaternion."""
    cr, sr = math.cos(roll_rad / 2), math.sin(roll_rad / 2)
    cp, sp = math.cos(pitch_rad / 2), math.sin(pitch_rad / 2)
    cy, sy = math.cos(yaw_rad / 2), math.sin(yaw_rad / 2)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def euler_from_quat(quat: Quat) -> Vec3:
    """Return (roll, pitch, yaw) in radians; straight up or down, roll is 0 and yaw holds the whole rotation."""
    w, x, y, z = quat
    sin_pitch = 2.0 * (w * y - z * x)
    if abs(sin_pitch) > 1.0 - 1e-12:
        return 0.0, math.copysign(math.pi / 2, sin_pitch), 2.0 * math.copysign(1.0, sin_pitch) * -math.atan2(x, w)
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, math.asin(sin_pitch), yaw


def quat_multiply(first: Quat, second: Quat) -> Quat:
    """Compose two rotations: ``second`` is expressed in the frame that ``first`` produces."""
    aw, ax, ay, az = first
    bw, bx, by, bz = second
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_conjugate(quat: Quat) -> Quat:
    """Return the inverse of a unit quaternion."""
    return quat[0], -quat[1], -quat[2], -quat[3]


def quat_unit(quat: Quat) -> Quat:
    """Normalise; a zero quaternion becomes the identity."""
    norm = math.sqrt(sum(component * component for component in quat))
    if norm < 1e-12:
        return IDENTITY
    w, x, y, z = (component / norm for component in quat)
    return w, x, y, z


def rotate(quat: Quat, vector: Vec3) -> Vec3:
    """Rotate a vector from the rotated frame to the outer frame."""
    w, x, y, z = quat_multiply(quat_multiply(quat, (0.0, *vector)), quat_conjugate(quat))
    del w
    return x, y, z


def rotation_matrix(quat: Quat) -> Float64:
    """Return the (3, 3) float64 matrix of ``rotate``."""
    return np.array([rotate(quat, axis) for axis in ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))], dtype=np.float64).T


def add(first: Vec3, second: Vec3) -> Vec3:
    """Add two vectors."""
    return first[0] + second[0], first[1] + second[1], first[2] + second[2]


def flip_z(vector: Vec3) -> Vec3:
    """Mirror between Unreal's axes and north-east-down."""
    return vector[0], vector[1], -vector[2]


def ue_pose(position_ned_m: Vec3, quat: Quat, *, origin_ue_m: Vec3) -> Pose6:
    """Convert a NED pose to Unreal's axes (metres, degrees); the NED origin lies at ``origin_ue_m``."""
    x, y, z = add(origin_ue_m, flip_z(position_ned_m))
    roll, pitch, yaw = (math.degrees(angle) for angle in euler_from_quat(quat))
    return x, y, z, pitch, yaw, roll


def ned_pose(pose: Pose6, *, origin_ue_m: Vec3) -> tuple[Vec3, Quat]:
    """Convert an Unreal pose (metres, degrees) to NED position and wxyz quaternion, with origin ``origin_ue_m``."""
    x, y, z, pitch, yaw, roll = pose
    position = flip_z((x - origin_ue_m[0], y - origin_ue_m[1], z - origin_ue_m[2]))
    return position, quat_from_euler(math.radians(roll), math.radians(pitch), math.radians(yaw))


# ---- the wire's maps -------------------------------------------------------------------------------------------------


def single(value: float) -> float:
    """Round to the single precision that AirSim computes and sends in."""
    return float(np.float32(value))


def vector_map(vector: Vec3 | Float64) -> dict[str, float]:
    """Encode a (3,) vector as a map of the wire."""
    return {"x_val": single(vector[0]), "y_val": single(vector[1]), "z_val": single(vector[2])}


def quat_map(quat: Quat | Float64) -> dict[str, float]:
    """Encode a (4,) wxyz quaternion as a map of the wire."""
    return {
        "w_val": single(quat[0]),
        "x_val": single(quat[1]),
        "y_val": single(quat[2]),
        "z_val": single(quat[3]),
    }


def pose_map(position_m: Vec3 | Float64, quat: Quat | Float64) -> dict[str, dict[str, float]]:
    """Encode a (3,) position and a (4,) wxyz quaternion as a Pose of the wire."""
    return {"position": vector_map(position_m), "orientation": quat_map(quat)}


NAN_POSE = pose_map((math.nan,) * 3, (math.nan,) * 4)
