"""Poses in Unreal's axes: (x, y, z, pitch, yaw, roll), metres and degrees, left-handed.

Source: the matrix of ``carla.Transform.get_matrix`` (LibCarla ``geom::Transform``), checked against it in the tests.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import Float64

Pose6: TypeAlias = tuple[float, float, float, float, float, float]
HOME: Final[Pose6] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel(error_model="python")
def rotation(pitch_deg: float, yaw_deg: float, roll_deg: float) -> Float64:
    """Return the (3, 3) rotation with columns forward, right and up."""
    cp, sp = math.cos(math.radians(pitch_deg)), math.sin(math.radians(pitch_deg))
    cy, sy = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
    cr, sr = math.cos(math.radians(roll_deg)), math.sin(math.radians(roll_deg))
    out = np.empty((3, 3))
    out[0, 0], out[0, 1], out[0, 2] = cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr
    out[1, 0], out[1, 1], out[1, 2] = cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr
    out[2, 0], out[2, 1], out[2, 2] = sp, -cp * sr, cp * cr
    return out


@kernel(error_model="python")
def angles(matrix: Float64) -> tuple[float, float, float]:
    """Return (pitch, yaw, roll), degrees, of a (3, 3) rotation; at the poles roll is 0."""
    sp = min(1.0, max(-1.0, matrix[2, 0]))
    pitch = math.degrees(math.asin(sp))
    if abs(sp) > 1.0 - 1e-12:
        return pitch, math.degrees(math.atan2(-matrix[0, 1], matrix[1, 1])), 0.0
    yaw = math.degrees(math.atan2(matrix[1, 0], matrix[0, 0]))
    return pitch, yaw, math.degrees(math.atan2(-matrix[2, 1], matrix[2, 2]))


@kernel(error_model="python")
def compose_into(parent: Float64, child: Float64, out: Float64) -> None:
    """Write the world pose of ``child``, in the frame of ``parent``, to ``out``; all (6,), metres and degrees.

    The product is explicit: the library behind ``@`` rounds differently per processor, and is slow to load.
    """
    turn, inner = rotation(parent[3], parent[4], parent[5]), rotation(child[3], child[4], child[5])
    product = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            product[i, j] = turn[i, 0] * inner[0, j] + turn[i, 1] * inner[1, j] + turn[i, 2] * inner[2, j]
    for axis in range(3):
        out[axis] = parent[axis] + turn[axis, 0] * child[0] + turn[axis, 1] * child[1] + turn[axis, 2] * child[2]
    out[3], out[4], out[5] = angles(product)


def compose(parent: Float64, child: Float64) -> Float64:
    """Return the (6,) world pose of ``child``, in the frame of ``parent``; metres and degrees."""
    out = np.empty(6)
    compose_into(parent, child, out)
    return out


def apply(pose: Float64, points_m: Float64) -> Float64:
    """Transform (N, 3) points, metres, from the frame of ``pose`` to the world."""
    world: Float64 = points_m @ rotation(pose[3], pose[4], pose[5]).T + pose[:3]
    return world


def undo(pose: Float64, points_m: Float64) -> Float64:
    """Transform (N, 3) world points, metres, to the frame of ``pose``."""
    local: Float64 = (points_m - pose[:3]) @ rotation(pose[3], pose[4], pose[5])
    return local
