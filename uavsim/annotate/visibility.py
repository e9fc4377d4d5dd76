"""What each camera sees of each box: visible pixels, what hides the rest, and what lies outside of the image.

*Visible* is counted in the instance mask: exact. *Amodal* (what would be visible with nothing in front) is estimated: a box's
silhouette is larger than the object in it by a share that depends on its shape (``fill``), and of the silhouette only pixels
that show something nearer than the object can hide it: scenery that is not ground, nearer actors, or, where depth was
recorded, whatever is nearer than the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from uavsim.annotate.silhouettes import Camera, Solids, Trace, outline_px, trace
from uavsim.geometry import pinhole
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

__all__ = ["Images", "SeenInView", "see"]

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
_COLUMNS_APART: Final = 1 << 20  # more than any box has columns
_TRUNCATION_SAMPLES: Final = 32  # a side of the grid that a box's area outside of the image is measured with
_FAR_OUTSIDE: Final = 3.0  # image sizes; a box that reaches farther is measured up to there
_TRUST_FILL_BELOW: Final = 0.7  # less visible than this and nothing seen in front: hidden by what looks like ground


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """One camera's (H, W) instance ids and semantic tags, and (H, W) depth in metres where recorded."""

    ids: UInt16Array
    tags: UInt8Array
    depth_m: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SeenInView:
    """Rows of ``ViewLabels`` for one image; ``row`` numbers the boxes given to ``see``.

    Attributes:
        silhouette_px: (M,) pixels of the image whose rays meet the box: never below the object's own.
        blockers_px: (M,) of them, those that show something nearer.
    """

    row: IntArray
    visible_px: IntArray
    silhouette_px: IntArray
    blockers_px: IntArray
    truncation: FloatArray
    visible_box_px: IntArray
    amodal_box_px: FloatArray


def see(solids: Solids, instance_id: IntArray, camera: Camera, images: Images) -> SeenInView:
    """Return what one image shows of N boxes: rows for those that reach into it or have pixels in it.

    Args:
        solids: the boxes.
        instance_id: (N,) their ids in the mask.
        camera: where the image was taken.
        images: what was taken.
    """
    counted, tight = _count(images.ids, instance_id)
    bounds, in_front = outline_px(solids, camera)
    reaches_in = in_front & _overlaps(bounds, camera)
    row = np.flatnonzero(reaches_in | (counted > 0))
    found = trace(
        solids.take(row), camera, window_px=_inside(bounds[row], camera), stride_px=np.ones(len(row), dtype=np.int64)
    )
    silhouette = np.bincount(found.row, minlength=len(row))
    away_m = np.linalg.norm(solids.map_SE3_box.translation_m - camera.map_SE3_optical.translation_m, axis=1)
    blocked = _blocks(found, images, instance_id, away_m=away_m, traced=row)
    if images.depth_m is None:
        blocked &= ~_stands_behind(found, images, instance_id[row], camera)
    blockers = np.bincount(found.row[blocked], minlength=len(row))
    kept = np.flatnonzero((silhouette > 0) | (counted[row] > 0))
    row = row[kept]
    return SeenInView(
        row=row,
        visible_px=counted[row],
        silhouette_px=silhouette[kept],
        blockers_px=blockers[kept],
        truncation=_truncation(solids.take(row), bounds[row], camera),
        visible_box_px=tight[row],
        amodal_box_px=_clipped(bounds[row], camera),
    )


def amodal_pixels(
    visible_px: IntArray, *, silhouette_px: IntArray, blockers_px: IntArray, fill: FloatArray
) -> IntArray:
    """Estimate how many pixels objects would have with nothing in front of them.

    Args:
        visible_px: (M,) what they have.
        silhouette_px: (M,) pixels of their boxes.
        blockers_px: (M,) of those, pixels that show something nearer.
        fill: (M,) share of the box's silhouette that the object itself covers, seen from there.
    """
    expected = fill * silhouette_px
    hidden_at_most = visible_px + blockers_px
    trust_fill = visible_px < _TRUST_FILL_BELOW * np.minimum(expected, 1e9)
    trust_fill &= blockers_px < 0.5 * (expected - visible_px)
    whole = np.where(trust_fill, expected, np.minimum(expected, hidden_at_most))
    return np.maximum(np.rint(whole).astype(np.int64), visible_px)


def _count(ids: UInt16Array, instance_id: IntArray) -> tuple[IntArray, IntArray]:
    """Return (N,) pixels and (N, 4) tight bounds of the given instances in a mask."""
    pixels = np.bincount(ids.ravel(), minlength=int(instance_id.max(initial=0)) + 1)[instance_id]
    tight = np.zeros((len(instance_id), 4), dtype=np.int64)
    present = np.flatnonzero(pixels)
    if len(present):
        windows = ndimage.find_objects(ids.astype(np.int32, copy=False))
        bounds = [windows[i - 1] for i in instance_id[present].tolist()]
        tight[present] = [(x.start, y.start, x.stop, y.stop) for y, x in bounds]
    return pixels, tight


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


def _blocks(found: Trace, images: Images, instance_id: IntArray, *, away_m: FloatArray, traced: IntArray) -> BoolArray:
    """Tell for each traced pixel whether it shows something nearer than the box.

    Args:
        found: pixels; its rows number ``traced``.
        images: what the camera took.
        instance_id: (N,) ids of all boxes.
        away_m: (N,) distance of all boxes from the camera.
        traced: (M,) the boxes whose pixels were traced.
    """
    shown = images.ids[found.v, found.u]
    foreign = shown != instance_id[traced][found.row]
    if images.depth_m is not None:
        return np.asarray(foreign & (images.depth_m[found.v, found.u] < found.near_m))
    away_of_id = np.full(65536, -1.0)  # an actor without a box is taken to be in front
    away_of_id[instance_id] = away_m
    scenery = ~np.isin(images.tags[found.v, found.u], GROUND_TAGS)
    nearer = np.where(shown > 0, away_of_id[shown] < away_m[traced][found.row], scenery)
    return np.asarray(foreign & nearer)


def _stands_behind(found: Trace, images: Images, own_id: IntArray, camera: Camera) -> BoolArray:
    """Tell for each traced pixel whether what it shows stands on the ground behind the object.

    Upright things rise in the image away from the point straight below the camera. Seen from that point outward, what
    stands in front of an object comes before the object's pixels and what stands behind it after them.

    Args:
        found: pixels of the boxes.
        images: what the camera took.
        own_id: (M,) ids of the boxes that ``found.row`` numbers.
        camera: looks down, or nothing is told.
    """
    down = camera.map_SE3_optical.inverse().rotate(np.array([0.0, 0.0, -1.0]))
    if down[2] < _LOOKS_DOWN:
        return np.zeros(len(found.row), dtype=np.bool_)
    foot = pinhole.project(down, intrinsic=camera.intrinsic)
    across, along = found.u + 0.5 - foot[0], found.v + 0.5 - foot[1]
    radius = np.hypot(across, along)
    count = np.maximum(np.bincount(found.row, minlength=len(own_id)), 1)
    mean_radius = np.bincount(found.row, weights=radius, minlength=len(own_id)) / count
    column = np.floor(np.arctan2(along, across) * np.maximum(mean_radius, 1.0)[found.row]).astype(np.int64)
    column += found.row * _COLUMNS_APART
    own = images.ids[found.v, found.u] == own_id[found.row]
    columns, place = np.unique(column, return_inverse=True)
    first_own = np.full(len(columns), np.inf)
    np.minimum.at(first_own, place[own], radius[own])
    upright = ~np.isin(images.tags[found.v, found.u], OVERHANGING_TAGS)
    return np.asarray(upright & (radius > first_own[place]))


def _truncation(boxes: Solids, bounds: FloatArray, camera: Camera) -> FloatArray:
    """Return the share (M,) of each silhouette outside of the image, measured on a coarse grid over all of it."""
    size = np.array([camera.width_px, camera.height_px] * 2, dtype=np.float64)
    limit = np.clip(bounds, -_FAR_OUTSIDE * size, (1 + _FAR_OUTSIDE) * size)
    share = np.zeros(len(bounds))
    cut = np.flatnonzero((bounds[:, :2] < 0).any(axis=1) | (bounds[:, 2:] > size[2:]).any(axis=1))
    if not len(cut):
        return share
    window = np.concatenate([np.floor(limit[cut, :2]), np.ceil(limit[cut, 2:])], axis=1).astype(np.int64)
    longest = (window[:, 2:] - window[:, :2]).max(axis=1)
    found = trace(boxes.take(cut), camera, window_px=window, stride_px=np.maximum(longest // _TRUNCATION_SAMPLES, 1))
    inside = (found.u >= 0) & (found.v >= 0) & (found.u < camera.width_px) & (found.v < camera.height_px)
    total = np.bincount(found.row, minlength=len(cut))
    share[cut] = 1.0 - np.bincount(found.row[inside], minlength=len(cut)) / np.maximum(total, 1)
    return share
