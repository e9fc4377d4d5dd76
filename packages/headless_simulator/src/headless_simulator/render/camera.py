"""The pinhole camera as one array for kernels."""

import math

import numpy as np

from headless_simulator.scene import Float64, View, Window

NEAR_M = 0.05


def axes(pitch_deg: float, yaw_deg: float, roll_deg: float) -> Float64:
    """Return the (3, 3) float64 rotation with an actor's forward, right and up axes in the world as columns.

    Source: the upper left of CARLA's Transform.get_matrix.
    """
    cp, sp = math.cos(math.radians(pitch_deg)), math.sin(math.radians(pitch_deg))
    cy, sy = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
    cr, sr = math.cos(math.radians(roll_deg)), math.sin(math.radians(roll_deg))
    return np.array(
        [
            [cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr],
            [cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr],
            [sp, -cp * sr, cp * cr],
        ]
    )


def pack(view: View) -> Float64:
    """Return a camera as (16,) float64: position, right, down, forward, focal length (px), centre x, y (px), near plane (m).

    A point with camera coordinates (x right, y down, z forward) projects to ``(cx + f x / z, cy + f y / z)``; the
    pixel in column u and row v covers [u, u + 1) x [v, v + 1).

    Raises:
        ValueError: size or field of view is out of range.
    """
    if not 1.0 <= view.fov_deg <= 179.0:
        raise ValueError(f"field of view {view.fov_deg} is out of range; give 1..179 degrees")
    if view.width < 1 or view.height < 1:
        raise ValueError(f"image size {view.width} x {view.height} is out of range; give at least 1 x 1")
    forward_right_up = axes(view.pose[3], view.pose[4], view.pose[5])
    packed = np.empty(16)
    packed[0:3] = view.pose[0:3]
    packed[3:6] = forward_right_up[:, 1]
    packed[6:9] = -forward_right_up[:, 2]
    packed[9:12] = forward_right_up[:, 0]
    part = view.window or Window(0, 0, view.width, view.height, zoom=1)
    packed[12] = part.zoom * part.whole_width / (2.0 * math.tan(math.radians(view.fov_deg) / 2.0))
    packed[13] = part.zoom * (part.whole_width / 2.0 - part.left)
    packed[14] = part.zoom * (part.whole_height / 2.0 - part.top)
    packed[15] = NEAR_M
    return packed
