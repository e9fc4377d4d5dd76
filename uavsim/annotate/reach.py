"""Boxes that reach into images, as geometry reports it: all cameras of a keyframe at once, before anybody looks at pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from uavsim.annotate.kernels import Rays
from uavsim.annotate.silhouettes import map_rays_of_pixels, outline_px, outline_through, rays_in_boxes, rays_of_pairs
from uavsim.annotate.solids import Camera, Solids
from uavsim.geometry import pinhole
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray, IntArray

__all__ = ["Reach", "reach_of_rows", "reaches"]

_LOOKS_DOWN: Final = 0.2  # sine of the camera's pitch downward
_ROUNDING_M: Final = 1e-3  # a sphere may be larger than its box, never smaller; kernels have float32 rays


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The boxes that reach into one image.

    Attributes:
        row: (M,) numbers of the boxes, ascending.
        bounds_px: (M, 4) x_min, y_min, x_max, y_max of their projections, inside of the image or not.
        rays: (M, 5, 3) of its pinhole's pixels in their frames.
        away_m: (N,) from the camera to all boxes.
        foot_px: (2,) the pinhole's pixel of the point straight below the camera; empty where the camera does not look down.
    """

    row: IntArray
    bounds_px: FloatArray
    rays: Rays
    away_m: FloatArray
    foot_px: FloatArray

    def with_rows(self, row: IntArray, bounds_px: FloatArray, rays: Rays) -> Reach:
        """Add boxes that are not among them."""
        rows = np.concatenate([self.row, row])
        order = np.argsort(rows)
        bounds_px, rays = np.concatenate([self.bounds_px, bounds_px]), np.concatenate([self.rays, rays])
        return Reach(rows[order], bounds_px[order], rays[order], self.away_m, self.foot_px)


def reaches(solids: Solids, cameras: Sequence[Camera]) -> list[Reach]:
    """Return what reaches into the image of each camera."""
    poses = SE3.stack([camera.map_SE3_optical for camera in cameras])
    intrinsic = np.array([camera.intrinsic for camera in cameras]).reshape(-1, 3, 3)
    size_px = np.array([[camera.width_px, camera.height_px] for camera in cameras], np.float64).reshape(-1, 2)
    pinhole_px = np.array([camera.pinhole_size_px for camera in cameras], np.float64).reshape(-1, 2)
    which, row = np.nonzero(may_reach_in(solids, poses, intrinsic, pinhole_px))
    bounds, in_front = outline_px(solids.take(row), poses[which], intrinsic[which])
    for number, camera in enumerate(cameras):
        if camera.lens is not None:
            own = np.flatnonzero((which == number) & in_front)
            bounds[own] = outline_through(camera.lens, solids.take(row[own]), camera.map_SE3_optical)
    low, high = bounds[:, :2], bounds[:, 2:]
    reaching = in_front & (high > 0).all(axis=1) & (low < size_px[which]).all(axis=1)
    which, row, bounds = which[reaching], row[reaching], bounds[reaching]
    rays = rays_of_pairs(solids.take(row), poses[which], map_rays_of_pixels(poses, intrinsic)[which])
    away_m = np.linalg.norm(solids.map_SE3_box.translation_m - poses.translation_m[:, None], axis=-1)
    foot_px = _feet(poses, intrinsic)
    ends = np.searchsorted(which, np.arange(len(cameras) + 1))
    return [
        Reach(row[begin:end], bounds[begin:end], rays[begin:end], away_m[number], foot_px[number])
        for number, (begin, end) in enumerate(pairwise(ends))
    ]


def reach_of_rows(solids: Solids, row: IntArray, camera: Camera) -> tuple[FloatArray, Rays]:
    """Return the bounds and rays of some boxes, wherever they are; bounds are 0 where a box is behind the camera."""
    some = solids.take(row)
    bounds, in_front = outline_px(some, camera.map_SE3_optical, camera.intrinsic)
    if camera.lens is not None:
        bounds[in_front] = outline_through(camera.lens, some.take(np.flatnonzero(in_front)), camera.map_SE3_optical)
    return bounds, rays_in_boxes(some, camera)


def may_reach_in(solids: Solids, map_SE3_optical: SE3, intrinsic: FloatArray, size_px: FloatArray) -> BoolArray:
    """Return which boxes (C, N) a pixel's ray may meet: those whose sphere is not beside the image or behind the camera.

    Args:
        solids: N boxes.
        map_SE3_optical: (C,) cameras.
        intrinsic: (C, 3, 3).
        size_px: (C, 2) width, height.
    """
    centre = map_SE3_optical[:, None].apply_inverse(solids.map_SE3_box.translation_m)
    reach_m = np.linalg.norm(solids.half_m, axis=1) + _ROUNDING_M
    may = centre[..., 2] > -reach_m
    for axis in range(2):
        focal_px, middle_px = intrinsic[:, axis, axis, None], intrinsic[:, axis, 2, None]
        for sign, side_px in ((1.0, middle_px), (-1.0, size_px[:, axis, None] - middle_px)):
            inward = sign * focal_px * centre[..., axis] + side_px * centre[..., 2]
            may &= inward > -reach_m * np.hypot(focal_px, side_px)
    return np.asarray(may)


def _feet(map_SE3_optical: SE3, intrinsic: FloatArray) -> list[FloatArray]:
    down = map_SE3_optical.inverse().rotate(np.array([0.0, 0.0, -1.0]))
    pixels = pinhole.project(down[:, None], intrinsic=intrinsic)[:, 0]
    return [
        pixel if looks_down else np.zeros(0)
        for pixel, looks_down in zip(pixels, down[:, 2] >= _LOOKS_DOWN, strict=True)
    ]
