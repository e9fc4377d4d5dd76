"""Silhouettes of boxes in images, and the rays of their pixels in the boxes' own frames: many boxes at once.

A pixel's ray and a box meet or not (slab test in the box's own frame): ``kernels`` loops over the pixels.
"""

from typing import Final

import numpy as np

from uavsim.annotate.kernels import Rays
from uavsim.annotate.solids import PlacedCamera, Solids
from uavsim.geometry import pinhole
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray, IntArray

_NEAR_M: Final = 0.05
_ALONG: Final = 33  # points of an edge seen through a lens
_EDGES: Final = np.array(
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
)


def outline_px(solids: Solids, map_SE3_optical: SE3, intrinsic: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Project boxes: (N, 4) bounds x_min, y_min, x_max, y_max and (N,) whether any of the box is in front of the camera.

    Of a box that reaches behind the camera, what is in front of it by ``_NEAR_M`` is projected.

    Args:
        solids: N boxes.
        map_SE3_optical: () of the camera, or (N,) of each box's own.
        intrinsic: (3, 3), or (N, 3, 3).
    """
    optical = map_SE3_optical[..., None].apply_inverse(solids.corners_map_m)
    in_front = optical[..., 2] > _NEAR_M
    any_in_front = np.asarray(in_front.any(axis=1))
    bounds = np.zeros((len(solids), 4))
    whole = in_front.all(axis=1)
    matrix = np.broadcast_to(intrinsic, (len(solids), 3, 3))
    _bound(bounds, np.flatnonzero(whole), optical[whole], matrix[whole])
    cut = any_in_front & ~whole
    _bound(bounds, np.flatnonzero(cut), _cut_edges(optical[cut]), matrix[cut])
    return bounds, any_in_front


def outline_through(lens: Lens, solids: Solids, map_SE3_optical: SE3) -> FloatArray:
    """Project boxes of which a part is in front of a lens: (N, 4) bounds; their edges are bent, so points along them count."""
    ends = _cut_edges(map_SE3_optical.apply_inverse(solids.corners_map_m))
    start, end = ends[:, : len(_EDGES), None], ends[:, len(_EDGES) :, None]
    points_m = start + np.linspace(0.0, 1.0, _ALONG)[:, None] * (end - start)
    pixels = lens.project(points_m.reshape(len(solids), len(_EDGES) * _ALONG, 3), beyond=True)
    return np.concatenate([pixels.min(axis=1), pixels.max(axis=1)], axis=1)


def _bound(bounds: FloatArray, rows: IntArray, points_m: FloatArray, intrinsic: FloatArray) -> None:
    if len(rows):
        pixels = pinhole.project(points_m, intrinsic=intrinsic)
        by_point = np.ascontiguousarray(pixels.swapaxes(0, 1))  # the least of long rows is found six times as fast
        bounds[rows, :2], bounds[rows, 2:] = by_point.min(axis=0), by_point.max(axis=0)


def _cut_edges(corners_m: FloatArray) -> FloatArray:
    """Return (N, 24, 3) ends of the twelve edges of (N, 8, 3) boxes, those behind moved forward along their edge."""
    first, second = corners_m[:, _EDGES[:, 0]], corners_m[:, _EDGES[:, 1]]
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
    """Return what the kernels follow rays by, each in its box's own frame: (N, 5, 3)."""
    return rays_of_cameras(solids, camera.map_SE3_optical, camera.intrinsic)


def rays_of_cameras(solids: Solids, map_SE3_optical: SE3, intrinsic: FloatArray) -> Rays:
    """Return the same of a batch of cameras, (..., N, 5, 3), in the time that a few of them take one by one.

    Args:
        solids: N boxes.
        map_SE3_optical: (...) cameras.
        intrinsic: (..., 3, 3).
    """
    return _rays(solids, map_SE3_optical[..., None], map_rays_of_pixels(map_SE3_optical, intrinsic)[..., None, :, :])


def rays_of_pairs(solids: Solids, map_SE3_optical: SE3, map_ray_of_pixel: FloatArray) -> Rays:
    """Return the same, (N, 5, 3), of N boxes for N cameras, of which ``map_rays_of_pixels`` has given (N, 3, 3)."""
    return _rays(solids, map_SE3_optical, map_ray_of_pixel)


def map_rays_of_pixels(map_SE3_optical: SE3, intrinsic: FloatArray) -> FloatArray:
    """Return (..., 3, 3) matrices from homogeneous pixels to rays in the map frame."""
    return np.asarray(map_SE3_optical.rotation @ np.linalg.inv(intrinsic))


def _rays(solids: Solids, map_SE3_optical: SE3, map_ray_of_pixel: FloatArray) -> Rays:
    start = solids.map_SE3_box.apply_inverse(map_SE3_optical.translation_m)
    turned = solids.box_R_map @ map_ray_of_pixel
    rays = np.empty((*start.shape[:-1], 5, 3), np.float32)
    rays[..., 0, :], rays[..., 4, :] = start, solids.half_m
    rays[..., 1:4, :] = np.swapaxes(turned, -1, -2)
    return rays.astype(np.float64)
