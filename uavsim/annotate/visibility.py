"""What each camera sees of each box: visible pixels, what hides the rest, and what lies outside of the image.

*Visible* is counted in the instance mask: exact. *Amodal* (what would be visible with nothing in front) is estimated: a box's
silhouette is larger than the object in it by a share that depends on its shape (``fill``), and of the silhouette only pixels
that show something nearer than the object can hide it: scenery that is not ground, nearer actors, or, where depth was
recorded, whatever is nearer than the box.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from uavsim.annotate.kernels import Rays, hidden_by_others
from uavsim.annotate.silhouettes import outline_px, rays_in_boxes, trace
from uavsim.annotate.solids import Camera, Images, SeenInView, Solids
from uavsim.geometry import pinhole
from uavsim.images import mask_pixels
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt16Array

__all__ = ["see"]

GROUND_TAGS: Final = (
    1,
    2,
    10,
    11,
    23,
    24,
    25,
    27,
)  # road, sidewalk, terrain, sky, water, road line, ground, rail track
OVERHANGING_TAGS: Final = (7, 8, 9, 22, 26)  # traffic light, traffic sign, vegetation, other, bridge
_LOOKS_DOWN: Final = 0.2  # sine of the camera's pitch downward
_IS_SCENERY: Final = ~np.isin(np.arange(256), GROUND_TAGS)
_OVERHANGS: Final = np.isin(np.arange(256), OVERHANGING_TAGS)
_NO_DEPTH_M: Final = np.zeros((0, 0), np.float32)
_TRUNCATION_SAMPLES: Final = 32  # a side of the grid that a box's area outside of the image is measured with
_ROUNDING_M: Final = 1e-3  # a sphere may be larger than its box, never smaller; kernels have float32 rays
_FAR_OUTSIDE: Final = 3.0  # image sizes; a box that reaches farther is measured up to there


def see(solids: Solids, instance_id: IntArray, camera: Camera, images: Images) -> SeenInView:
    """Return what one image shows of N boxes: rows for those that reach into it or have pixels in it.

    Args:
        solids: the boxes.
        instance_id: (N,) their ids in the mask.
        camera: where the image was taken.
        images: what was taken.
    """
    counted, tight = _count(images.ids, instance_id)
    near = np.flatnonzero(_may_reach_in(solids, camera) | (counted > 0))
    bounds, in_front = outline_px(solids.take(near), camera)
    reaches_in = np.flatnonzero((in_front & _overlaps(bounds, camera)) | (counted[near] > 0))
    row, bounds = near[reaches_in], bounds[reaches_in]
    away_m = np.linalg.norm(solids.map_SE3_box.translation_m - camera.map_SE3_optical.translation_m, axis=1)
    away_of_id = np.full(65536, -1.0)  # an actor without a box is taken to be in front
    away_of_id[instance_id] = away_m
    rays = rays_in_boxes(solids.take(row), camera)
    silhouette, blockers = hidden_by_others(
        rays,
        _inside(bounds, camera),
        images.ids,
        images.tags,
        _NO_DEPTH_M if images.depth_m is None else images.depth_m,
        instance_id[row],
        away_m[row],
        away_of_id,
        _IS_SCENERY,
        _OVERHANGS,
        _foot_px(camera),
    )
    kept = np.flatnonzero((silhouette > 0) | (counted[row] > 0))
    row, bounds = row[kept], bounds[kept]
    return SeenInView(
        row=row,
        visible_px=counted[row],
        silhouette_px=silhouette[kept],
        blockers_px=blockers[kept],
        truncation=_truncation(rays[kept], bounds, camera),
        visible_box_px=tight[row],
        amodal_box_px=_clipped(bounds, camera),
    )


def _may_reach_in(solids: Solids, camera: Camera) -> BoolArray:
    """Tell which boxes (N,) a pixel's ray may meet: those whose sphere is not beside the image or behind the camera."""
    centre = camera.map_SE3_optical.apply_inverse(solids.map_SE3_box.translation_m)
    reach_m = np.linalg.norm(solids.half_m, axis=1) + _ROUNDING_M
    may = centre[:, 2] > -reach_m
    for axis, size_px in enumerate((camera.width_px, camera.height_px)):
        focal_px, middle_px = camera.intrinsic[axis, axis], camera.intrinsic[axis, 2]
        for sign, side_px in ((1.0, middle_px), (-1.0, size_px - middle_px)):
            inward = sign * focal_px * centre[:, axis] + side_px * centre[:, 2]
            may &= inward > -reach_m * np.hypot(focal_px, side_px)
    return np.asarray(may)


def _count(ids: UInt16Array, instance_id: IntArray) -> tuple[IntArray, IntArray]:
    """Return (N,) pixels and (N, 4) tight bounds of the given instances in a mask."""
    found, measured = mask_pixels.extents(ids)
    tight = np.zeros((len(instance_id), 5), dtype=np.int64)
    place = np.minimum(np.searchsorted(found, instance_id), max(len(found) - 1, 0))
    if len(found):
        present = found[place] == instance_id
        tight[present] = measured[place[present]]
    return tight[:, 0], tight[:, 1:]


def _overlaps(bounds: FloatArray, camera: Camera) -> BoolArray:
    x0, y0, x1, y1 = bounds.T
    return np.asarray((x1 > 0) & (y1 > 0) & (x0 < camera.width_px) & (y0 < camera.height_px))


def _clipped(bounds: FloatArray, camera: Camera) -> FloatArray:
    size = np.array([camera.width_px, camera.height_px] * 2, dtype=np.float64)
    return np.clip(bounds, 0.0, size)


def _inside(bounds: FloatArray, camera: Camera) -> IntArray:
    """Round bounds outward to whole pixels of the image."""
    clipped = _clipped(bounds, camera)
    clipped[:, :2], clipped[:, 2:] = np.floor(clipped[:, :2]), np.ceil(clipped[:, 2:])
    return clipped.astype(np.int64)


def _foot_px(camera: Camera) -> FloatArray:
    """Return the pixel of the point straight below the camera; nothing where the camera does not look down."""
    down = camera.map_SE3_optical.inverse().rotate(np.array([0.0, 0.0, -1.0]))
    return pinhole.project(down, intrinsic=camera.intrinsic) if down[2] >= _LOOKS_DOWN else np.zeros(0)


def _truncation(rays: Rays, bounds: FloatArray, camera: Camera) -> FloatArray:
    """Return the share (M,) of each silhouette outside of the image, measured on a coarse grid over all of it."""
    size = np.array([camera.width_px, camera.height_px] * 2, dtype=np.float64)
    limit = np.clip(bounds, -_FAR_OUTSIDE * size, (1 + _FAR_OUTSIDE) * size)
    share = np.zeros(len(bounds))
    cut = np.flatnonzero((bounds[:, :2] < 0).any(axis=1) | (bounds[:, 2:] > size[2:]).any(axis=1))
    if not len(cut):
        return share
    window = np.concatenate([np.floor(limit[cut, :2]), np.ceil(limit[cut, 2:])], axis=1).astype(np.int64)
    longest = (window[:, 2:] - window[:, :2]).max(axis=1)
    found = trace(rays[cut], window_px=window, stride_px=np.maximum(longest // _TRUNCATION_SAMPLES, 1))
    inside = (found.u >= 0) & (found.v >= 0) & (found.u < camera.width_px) & (found.v < camera.height_px)
    total = np.bincount(found.row, minlength=len(cut))
    share[cut] = 1.0 - np.bincount(found.row[inside], minlength=len(cut)) / np.maximum(total, 1)
    return share
