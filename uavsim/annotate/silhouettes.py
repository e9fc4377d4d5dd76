"""Projected outlines of boxes, and pixel rays in the frames of boxes; many boxes at once.

``kernels`` loops over the pixels and intersects each ray with the box (slab test).
"""

from typing import Final

import numpy as np

from uavsim.annotate.kernels import Rays
from uavsim.annotate.solids import PlacedCamera, Solids
from uavsim.geometry import pinhole
from uavsim.geometry.cuboid import EDGES
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray, IntArray

_NEAR_M: Final = 0.05
_ALONG: Final = 33  # points along an edge seen through a lens


def outline_px(solids: Solids, map_SE3_optical: SE3, intrinsic: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Project boxes into pinhole images.

    Only the part of a box that is at least ``_NEAR_M`` in front of the camera is projected.

    Args:
        solids: N boxes.
        map_SE3_optical: () pose of one camera, or (N,) of a camera for each box.
        intrinsic: (3, 3) or (N, 3, 3) intrinsic matrix, pixels.

    Returns:
            (N, 4) bounds x_min, y_min, x_max, y_max, pixels, and (N,) bool, True if a part of the box is in front.
    """
    optical = map_SE3_optical[..., None].apply_inverse(solids.corners_map_m)
    in_front = optical[..., 2] > _NEAR_M
    any_in_front = np.asarray(in_front.any(axis=1))
    bounds = np.zeros((len(solids), 4))
    uncut = in_front.all(axis=1)
    matrix = np.broadcast_to(intrinsic, (len(solids), 3, 3))
    _bound(bounds, np.flatnonzero(uncut), optical[uncut], matrix[uncut])
    cut = any_in_front & ~uncut
    _bound(bounds, np.flatnonzero(cut), _cut_edges(optical[cut]), matrix[cut])
    return bounds, any_in_front


def outline_through(lens: Lens, solids: Solids, map_SE3_optical: SE3) -> FloatArray:
    """Project boxes that are partly in front of a lens; points along their edges are projected, because edges are bent.

    Args:
        lens: lens of the camera.
        solids: N boxes.
        map_SE3_optical: () pose of the camera.

    Returns:
        (N, 4) bounds x_min, y_min, x_max, y_max, pixels.
    """
    ends = _cut_edges(map_SE3_optical.apply_inverse(solids.corners_map_m))
    start, end = ends[:, : len(EDGES), None], ends[:, len(EDGES) :, None]
    points_m = start + np.linspace(0.0, 1.0, _ALONG)[:, None] * (end - start)
    pixels = lens.project(points_m.reshape(len(solids), len(EDGES) * _ALONG, 3), beyond=True)
    return np.concatenate([pixels.min(axis=1), pixels.max(axis=1)], axis=1)


def _bound(bounds: FloatArray, rows: IntArray, points_m: FloatArray, intrinsic: FloatArray) -> None:
    if len(rows):
        pixels = pinhole.project(points_m, intrinsic=intrinsic)
        by_point = np.ascontiguousarray(pixels.swapaxes(0, 1))  # the minimum over long rows is six times as fast
        bounds[rows, :2], bounds[rows, 2:] = by_point.min(axis=0), by_point.max(axis=0)


def _cut_edges(corners_m: FloatArray) -> FloatArray:
    """Return the (N, 24, 3) ends of the twelve edges of (N, 8, 3) boxes; ends behind the camera are moved to ``_NEAR_M``."""
    first, second = corners_m[:, EDGES[:, 0]], corners_m[:, EDGES[:, 1]]
    along = (_NEAR_M - first[..., 2]) / np.where(first[..., 2] == second[..., 2], 1.0, second[..., 2] - first[..., 2])
    crossing = first + along[..., None] * (second - first)
    crossing[..., 2] = _NEAR_M
    start = np.where((first[..., 2] < _NEAR_M)[..., None], crossing, first)
    end = np.where((second[..., 2] < _NEAR_M)[..., None], crossing, second)
    behind = (first[..., 2] < _NEAR_M) & (second[..., 2] < _NEAR_M)
    ends = np.concatenate([start, end], axis=1)
    inside = corners_m[np.arange(len(corners_m)), corners_m[..., 2].argmax(axis=1)]
    return np.where(np.concatenate([behind, behind], axis=1)[..., None], inside[:, None], ends)


def rays_in_boxes(solids: Solids, camera: PlacedCamera) -> Rays:
    """Return the (N, 5, 3) rays of a camera in the frames of N boxes (``kernels.Rays``)."""
    return rays_of_cameras(solids, camera.map_SE3_optical, camera.intrinsic)


def rays_of_cameras(solids: Solids, map_SE3_optical: SE3, intrinsic: FloatArray) -> Rays:
    """Return the rays of a batch of cameras in the frames of N boxes.

    Args:
        solids: N boxes.
        map_SE3_optical: (...) camera poses.
        intrinsic: (..., 3, 3).

    Returns:
        (..., N, 5, 3) rays.
    """
    map_ray_of_pixel = map_rays_of_pixels(map_SE3_optical, intrinsic)
    return rays_of_pairs(solids, map_SE3_optical[..., None], map_ray_of_pixel[..., None, :, :])


def map_rays_of_pixels(map_SE3_optical: SE3, intrinsic: FloatArray) -> FloatArray:
    """Return (..., 3, 3) matrices, homogeneous pixels to map rays, of (...) poses and (..., 3, 3) intrinsics."""
    return np.asarray(map_SE3_optical.rotation @ np.linalg.inv(intrinsic))


def rays_of_pairs(solids: Solids, map_SE3_optical: SE3, map_ray_of_pixel: FloatArray) -> Rays:
    """Return the rays of pairs of a box and a camera.

    Args:
        solids: N boxes.
        map_SE3_optical: (..., N) camera poses.
        map_ray_of_pixel: (..., N, 3, 3) of ``map_rays_of_pixels``.

    Returns:
        (..., N, 5, 3) rays.
    """
    start = solids.map_SE3_box.apply_inverse(map_SE3_optical.translation_m)
    turned = solids.box_R_map @ map_ray_of_pixel
    rays = np.empty((*start.shape[:-1], 5, 3), np.float32)
    rays[..., 0, :], rays[..., 4, :] = start, solids.half_m
    rays[..., 1:4, :] = np.swapaxes(turned, -1, -2)
    return rays.astype(np.float64)
