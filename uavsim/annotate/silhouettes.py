"""Which pixels of a camera look through a box: many boxes at once, exact at pixel centres.

A pixel's ray and a box meet or not (slab test in the box's own frame), and the ray tells the depth at which it enters. All
boxes' pixels are laid out behind one another in flat arrays; nothing loops over boxes or pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from uavsim.geometry import cuboid, pinhole, quaternion
from uavsim.typing import BoolArray, FloatArray, IntArray

__all__ = ["Camera", "Solids", "Trace", "outline_px", "trace"]


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """N boxes: (N, 3) centres, (N, 4) orientations, (N, 3) half extents, all metres in the map frame."""

    map_t_box_m: FloatArray
    map_q_box_wxyz: FloatArray
    half_m: FloatArray

    def __len__(self) -> int:
        return len(self.half_m)

    def take(self, rows: IntArray) -> Solids:
        """Return some of the boxes."""
        return Solids(self.map_t_box_m[rows], self.map_q_box_wxyz[rows], self.half_m[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """One image: (3,) centre, (4,) map <- optical, (3, 3) intrinsics, size."""

    map_t_optical_m: FloatArray
    map_q_optical_wxyz: FloatArray
    intrinsic: FloatArray
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The pixels whose rays pass through boxes, box by box.

    Attributes:
        row: (P,) box.
        u: (P,) pixel column, possibly outside of the image.
        v: (P,) pixel line.
        near_m: (P,) float32 depth along the optical axis at which the ray enters the box.
    """

    row: IntArray
    u: IntArray
    v: IntArray
    near_m: npt.NDArray[np.float32]


def outline_px(solids: Solids, camera: Camera) -> tuple[FloatArray, BoolArray]:
    """Project boxes: (N, 4) bounds x_min, y_min, x_max, y_max and (N,) whether any of the box is in front.

    A box that reaches behind the camera has bounds that reach to infinity on every side.
    """
    corners_m = cuboid.corners(solids.map_t_box_m, solids.map_q_box_wxyz, size_lwh_m=2 * solids.half_m)
    optical = quaternion.rotate(quaternion.conjugate(camera.map_q_optical_wxyz), corners_m - camera.map_t_optical_m)
    in_front = optical[..., 2] > 0.05
    pixels = pinhole.project(optical, intrinsic=camera.intrinsic)
    whole = in_front.all(axis=1)
    bounds = np.full((len(solids), 4), np.inf)
    bounds[:, :2] = -np.inf
    bounds[whole, :2] = pixels[whole].min(axis=1)
    bounds[whole, 2:] = pixels[whole].max(axis=1)
    return bounds, np.asarray(in_front.any(axis=1))


def trace(solids: Solids, camera: Camera, *, window_px: IntArray, stride_px: IntArray) -> Trace:
    """Follow the rays of all pixels in each box's own window and keep those that meet the box.

    Args:
        solids: N boxes.
        camera: the image.
        window_px: (N, 4) first column, first line, one past the last column, one past the last line.
        stride_px: (N,) only every so many columns and lines.
    """
    row, u, v = _grid(window_px, stride_px)
    start, across, down, corner = _rays_in_boxes(solids, camera)
    direction = corner[row] + across[row] * (u + 0.5)[:, None] + down[row] * (v + 0.5)[:, None]
    direction[direction == 0.0] = 1e-12
    inverse = np.reciprocal(direction)
    half = solids.half_m.astype(np.float32)
    middle = -start[row] * inverse
    reach = half[row] * np.abs(inverse)
    near_m = (middle - reach).max(axis=1)
    far_m = (middle + reach).min(axis=1)
    hit = (near_m <= far_m) & (far_m > 0.0)
    return Trace(row[hit], u[hit], v[hit], near_m[hit])


def _rays_in_boxes(solids: Solids, camera: Camera) -> tuple[npt.NDArray[Any], ...]:
    """Return per box, in its own frame: camera centre, and a ray's change per column, per line, and at pixel (0, 0)."""
    box_q_map = quaternion.conjugate(solids.map_q_box_wxyz)
    start = quaternion.rotate(box_q_map, camera.map_t_optical_m - solids.map_t_box_m)
    box_R_map = quaternion.to_matrix(box_q_map)
    ray_of_pixel = quaternion.to_matrix(camera.map_q_optical_wxyz) @ np.linalg.inv(camera.intrinsic)
    rays = (box_R_map @ ray_of_pixel).astype(np.float32)
    return start.astype(np.float32), rays[..., 0], rays[..., 1], rays[..., 2]


def _grid(window_px: IntArray, stride_px: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Lay the windows' pixels out flat: box row, column, line."""
    columns = np.maximum(-(-(window_px[:, 2] - window_px[:, 0]) // stride_px), 0)
    lines = np.maximum(-(-(window_px[:, 3] - window_px[:, 1]) // stride_px), 0)
    count = columns * lines
    row = np.repeat(np.arange(len(window_px)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    line, column = np.divmod(within, np.maximum(columns, 1)[row])
    return row, window_px[row, 0] + column * stride_px[row], window_px[row, 1] + line * stride_px[row]
