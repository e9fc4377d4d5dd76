"""Each camera's view of each box: visible pixels, what hides the rest, and what lies outside of the image.

*Visible* is counted in the instance mask: exact. *Amodal* (what would be visible with nothing in front) is estimated: a box's
silhouette is larger than the object in it by a share that depends on its shape (``fill``), and of the silhouette only pixels
that show something nearer than the object can hide it: scenery that is not ground, nearer actors, or, where depth was
recorded, whatever is nearer than the box.
"""

from typing import Final

import numpy as np

from uavsim.annotate.kernels import Rays, hidden_by_others, rays_met, share_outside
from uavsim.annotate.reach import Reach, reach_of_rows, reaches
from uavsim.annotate.solids import Camera, Images, SeenInView, Solids
from uavsim.geometry.lens import Lens
from uavsim.images import mask_pixels
from uavsim.images.mask_pixels import Int32Array, Runs
from uavsim.images.regions import IS_ROAD_USER, unlabelled_regions
from uavsim.typing import FloatArray, IntArray

__all__ = ["rows_of_ids", "see"]

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
_IS_SCENERY: Final = ~np.isin(np.arange(256), GROUND_TAGS)
_OVERHANGS: Final = np.isin(np.arange(256), OVERHANGING_TAGS)
_NO_DEPTH_M: Final = np.zeros((0, 0), np.float32)
_TRUNCATION_SAMPLES: Final = 32  # a side of the grid that a box's area outside of the image is measured with
_FAR_OUTSIDE: Final = 3.0  # image sizes; a box that reaches farther is measured up to there


def rows_of_ids(instance_id: IntArray) -> Int32Array:
    """Return (65536,) the row of every instance id of a mask in (N,) ids; -1 where it is none of them."""
    rows = np.full(65536, -1, np.int32)
    rows[instance_id] = np.arange(len(instance_id), dtype=np.int32)
    return rows


def see(
    solids: Solids,
    instance_id: IntArray,
    camera: Camera,
    images: Images,
    *,
    reach: Reach | None = None,
    row_of_id: Int32Array | None = None,
) -> SeenInView:
    """Return what one image shows of N boxes: rows for those that reach into it or have pixels in it.

    Args:
        solids: the boxes.
        instance_id: (N,) their ids in the mask.
        camera: where the image was taken.
        images: what was taken.
        reach: of this camera, where it is known already.
        row_of_id: of ``rows_of_ids``, where it is known already.
    """
    row_of_id = rows_of_ids(instance_id) if row_of_id is None else row_of_id
    runs = _runs(images) if images.runs is None else images.runs
    measured = mask_pixels.extents_by_row(runs, row_of_id, len(instance_id))
    counted = measured[:, 0]
    reach = _with_shown(reach or reaches(solids, [camera])[0], solids, camera, counted)
    row, bounds = reach.row, reach.bounds_px
    silhouette, blockers = hidden_by_others(
        reach.rays,
        _inside(bounds, camera),
        images.ids,
        images.tags,
        _NO_DEPTH_M if images.depth_m is None else images.depth_m,
        instance_id[row],
        reach.away_m[row],
        row_of_id,
        reach.away_m,
        _IS_SCENERY,
        _OVERHANGS,
        reach.foot_px,
        camera.place_px,
    )
    kept = np.flatnonzero((silhouette > 0) | (counted[row] > 0))
    row, bounds = row[kept], bounds[kept]
    return SeenInView(
        row=row,
        visible_px=counted[row],
        silhouette_px=silhouette[kept],
        blockers_px=blockers[kept],
        truncation=_truncation(reach.rays[kept], bounds, camera),
        visible_box_px=measured[row, 1:],
        amodal_box_px=_clipped(bounds, camera),
        ignored=unlabelled_regions(runs, row_of_id),
    )


def _runs(images: Images) -> Runs:
    """Find the runs of all that has an id, and of all road users."""
    counted = IS_ROAD_USER.copy()
    counted[images.tags[images.ids > 0]] = True
    return mask_pixels.runs_in(images.ids, images.tags, counted)


def _with_shown(reach: Reach, solids: Solids, camera: Camera, counted: IntArray) -> Reach:
    """Add the boxes that have pixels in the mask although they do not reach in: bodies may be larger than their boxes."""
    beside = counted > 0
    beside[reach.row] = False
    if not beside.any():
        return reach
    rows = np.flatnonzero(beside)
    return reach.with_rows(rows, *reach_of_rows(solids, rows, camera))


def _clipped(bounds: FloatArray, camera: Camera) -> FloatArray:
    size = np.array([camera.width_px, camera.height_px] * 2, dtype=np.float64)
    return np.clip(bounds, 0.0, size)


def _inside(bounds: FloatArray, camera: Camera) -> IntArray:
    """Round bounds outward to whole pixels of the image."""
    clipped = _clipped(bounds, camera)
    clipped[:, :2], clipped[:, 2:] = np.floor(clipped[:, :2]), np.ceil(clipped[:, 2:])
    return clipped.astype(np.int64)


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
    stride_px = np.maximum(longest // _TRUNCATION_SAMPLES, 1)
    if camera.lens is not None:
        samples = zip(rays[cut], window.tolist(), stride_px.tolist(), strict=True)
        share[cut] = [_share_outside_of_lens(*box, camera, camera.lens) for box in samples]
        return share
    share[cut] = share_outside(rays[cut], window, stride_px, camera.width_px, camera.height_px)
    return share


def _share_outside_of_lens(rays: Rays, window: list[int], stride_px: int, camera: Camera, lens: Lens) -> float:
    """Return what ``share_outside`` does of one box, in the pixels of a lens, and of its straight continuation."""
    x, y = np.meshgrid(np.arange(window[0], window[2], stride_px), np.arange(window[1], window[3], stride_px))
    pixels = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float64)
    met = pixels[rays_met(rays, lens.wide_px(pixels + 0.5) - 0.5)]
    inside = (met >= 0).all(axis=1) & (met < [camera.width_px, camera.height_px]).all(axis=1)
    return 1.0 - int(inside.sum()) / max(len(met), 1)
