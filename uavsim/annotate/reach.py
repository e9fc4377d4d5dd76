"""Select the boxes that reach into each image by geometry alone, for all cameras of a keyframe at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from uavsim.annotate.kernels import Rays, rays_that_hit, share_outside
from uavsim.annotate.silhouettes import map_rays_of_pixels, outline_px, outline_through, rays_in_boxes, rays_of_pairs
from uavsim.annotate.solids import PlacedCamera, Solids
from uavsim.geometry import pinhole
from uavsim.geometry.se3 import SE3
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray

_LOOKS_DOWN: Final = 0.2  # minimum sine of the camera's downward pitch
_ROUNDING_M: Final = 1e-3  # enlarges a box's sphere, because kernels have float32 rays
_TRUNCATION_SAMPLES: Final = 32  # side of the sampling grid that measures truncation
_FAR_OUTSIDE: Final = 3.0  # truncation is measured up to this distance from the image, in image sizes


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The boxes that reach into one image.

    Attributes:
        row: (M,) rows of the boxes, ascending.
        bounds_px: (M, 4) x_min, y_min, x_max, y_max of their projections, inside the image or not.
        inside_px: (M, 4) the bounds clipped to the image.
        window_px: (M, 4) the clipped bounds rounded outward to whole pixels.
        truncation: (M,) share of each silhouette outside the image, measured on a coarse grid.
        rays: (M, 5, 3) rays of the pinhole in the boxes' frames.
        away_m: (N,) distances from the camera to all boxes, metres.
        foot_px: (2,) nadir of the camera in the pinhole's image; (0,) if the camera does not look down.
    """

    row: IntArray
    bounds_px: FloatArray
    inside_px: FloatArray
    window_px: IntArray
    truncation: FloatArray
    rays: Rays
    away_m: FloatArray
    foot_px: FloatArray

    def with_rows(self, row: IntArray, bounds_px: FloatArray, rays: Rays, camera: PlacedCamera) -> Reach:
        """Add K other boxes: (K,) rows, (K, 4) bounds in pixels, (K, 5, 3) rays."""
        added = _columns(row, bounds_px, rays, np.zeros(len(row), np.int64), [camera])
        rows = np.concatenate([self.row, row])
        order = np.argsort(rows)
        columns = {name: np.concatenate([getattr(self, name), column])[order] for name, column in added.items()}
        return replace(self, **columns)


def reaches(solids: Solids, cameras: Sequence[PlacedCamera]) -> list[Reach]:
    """Return the boxes that reach into the image of each camera."""
    poses = SE3.stack([camera.map_SE3_optical for camera in cameras])
    intrinsic = np.array([camera.intrinsic for camera in cameras]).reshape(-1, 3, 3)
    size_px = np.array([[camera.width_px, camera.height_px] for camera in cameras], np.float64).reshape(-1, 2)
    pinhole_px = np.array([camera.pinhole_size_px for camera in cameras], np.float64).reshape(-1, 2)
    which, row = np.nonzero(may_reach_in(solids, poses, intrinsic, pinhole_px))
    bounds, in_front = outline_px(solids.take(row), poses[which], intrinsic[which])
    for number, camera in enumerate(cameras):
        if camera.lens is not None:
            rows = np.flatnonzero((which == number) & in_front)
            bounds[rows] = outline_through(camera.lens, solids.take(row[rows]), camera.map_SE3_optical)
    low, high = bounds[:, :2], bounds[:, 2:]
    reaching = in_front & (high > 0).all(axis=1) & (low < size_px[which]).all(axis=1)
    which, row, bounds = which[reaching], row[reaching], bounds[reaching]
    rays = rays_of_pairs(solids.take(row), poses[which], map_rays_of_pixels(poses, intrinsic)[which])
    columns = _columns(row, bounds, rays, which, cameras)
    away_m = np.linalg.norm(solids.map_SE3_box.translation_m - poses.translation_m[:, None], axis=-1)
    foot_px = _feet(poses, intrinsic)
    ends = np.searchsorted(which, np.arange(len(cameras) + 1))
    return [
        Reach(**{name: column[begin:end] for name, column in columns.items()}, away_m=away_m[n], foot_px=foot_px[n])
        for n, (begin, end) in enumerate(pairwise(ends))
    ]


def _columns(
    row: IntArray, bounds_px: FloatArray, rays: Rays, which: IntArray, cameras: Sequence[PlacedCamera]
) -> dict[str, AnyArray]:
    """Return the columns of ``Reach`` of M boxes; ``which`` holds the camera number of each."""
    sizes_px = np.array([[camera.width_px, camera.height_px] * 2 for camera in cameras], np.float64).reshape(-1, 4)
    size_px = sizes_px[which]
    inside_px = np.clip(bounds_px, 0.0, size_px)
    return {
        "row": row,
        "bounds_px": bounds_px,
        "inside_px": inside_px,
        "window_px": _rounded_outward(inside_px),
        "truncation": _truncation(rays, bounds_px, size_px, which, cameras),
        "rays": rays,
    }


def _truncation(
    rays: Rays, bounds_px: FloatArray, size_px: FloatArray, which: IntArray, cameras: Sequence[PlacedCamera]
) -> FloatArray:
    share = np.zeros(len(bounds_px))
    cut = np.flatnonzero((bounds_px[:, :2] < 0).any(axis=1) | (bounds_px[:, 2:] > size_px[:, 2:]).any(axis=1))
    size = size_px[cut]
    window = _rounded_outward(np.clip(bounds_px[cut], -_FAR_OUTSIDE * size, (1 + _FAR_OUTSIDE) * size))
    longest = (window[:, 2:] - window[:, :2]).max(axis=1)
    stride_px = np.maximum(longest // _TRUNCATION_SAMPLES, 1)
    bent = np.array([camera.lens is not None for camera in cameras], np.bool_)[which[cut]]
    straight = np.flatnonzero(~bent)
    share[cut[straight]] = share_outside(
        rays[cut[straight]], window[straight], stride_px[straight], size[straight, :2].astype(np.int64)
    )
    for n in np.flatnonzero(bent).tolist():
        camera = cameras[which[cut[n]]]
        share[cut[n]] = _share_outside_of_lens(rays[cut[n]], window[n], int(stride_px[n]), camera)
    return share


def _share_outside_of_lens(rays: Rays, window: IntArray, stride_px: int, camera: PlacedCamera) -> float:
    """Return the truncation of one box (as ``share_outside``) in the pixels of a lens and their straight continuation."""
    assert camera.lens is not None
    x, y = np.meshgrid(np.arange(window[0], window[2], stride_px), np.arange(window[1], window[3], stride_px))
    pixels = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float64)
    hit_px = pixels[rays_that_hit(rays, camera.lens.wide_px(pixels + 0.5) - 0.5)]
    inside = (hit_px >= 0).all(axis=1) & (hit_px < [camera.width_px, camera.height_px]).all(axis=1)
    return 1.0 - int(inside.sum()) / max(len(hit_px), 1)


def _rounded_outward(bounds_px: FloatArray) -> IntArray:
    return np.concatenate([np.floor(bounds_px[:, :2]), np.ceil(bounds_px[:, 2:])], axis=1).astype(np.int64)


def reach_of_rows(solids: Solids, row: IntArray, camera: PlacedCamera) -> tuple[FloatArray, Rays]:
    """Return bounds and rays of any boxes.

    Args:
        solids: N boxes.
        row: (M,) rows of the boxes.
        camera: camera of the image.

    Returns:
        (M, 4) bounds, pixels, 0 for a box behind the camera, and (M, 5, 3) rays.
    """
    some = solids.take(row)
    bounds, in_front = outline_px(some, camera.map_SE3_optical, camera.intrinsic)
    if camera.lens is not None:
        bounds[in_front] = outline_through(camera.lens, some.take(np.flatnonzero(in_front)), camera.map_SE3_optical)
    return bounds, rays_in_boxes(some, camera)


def may_reach_in(solids: Solids, map_SE3_optical: SE3, intrinsic: FloatArray, size_px: FloatArray) -> BoolArray:
    """Select the boxes that a pixel's ray may meet; their bounding spheres are not beside the image or behind the camera.

    Args:
        solids: N boxes.
        map_SE3_optical: (C,) camera poses.
        intrinsic: (C, 3, 3) intrinsic matrices, pixels.
        size_px: (C, 2) width, height.

    Returns:
            (C, N) bool, True for boxes that may reach into the camera's image.
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
