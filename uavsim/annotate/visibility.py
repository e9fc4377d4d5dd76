"""Each camera's view of each box: visible pixels, what hides the rest, and what lies outside of the image.

*Visible* is counted in the instance mask: exact. *Amodal* (what would be visible with nothing in front) is estimated: a box's
silhouette is larger than the object in it by a share that depends on its shape (``fill``), and of the silhouette only pixels
that show something nearer than the object can hide it: scenery that is not ground, nearer actors, or, where depth was
recorded, whatever is nearer than the box.
"""

from typing import Final

import numpy as np

from uavsim.annotate.kernels import HIDES, OTHER, OVERHANGS, hidden_by_others
from uavsim.annotate.reach import Reach, reach_of_rows, reaches
from uavsim.annotate.solids import CameraImages, PlacedCamera, SeenInView, Solids
from uavsim.images import mask_pixels
from uavsim.images.mask_pixels import Int32Array, Runs
from uavsim.images.regions import IS_ROAD_USER, unlabelled_regions
from uavsim.typing import IntArray

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
_SHOWN_BY_TAG: Final = np.full(256, HIDES)
_SHOWN_BY_TAG[[*GROUND_TAGS]], _SHOWN_BY_TAG[[*OVERHANGING_TAGS]] = OTHER, OVERHANGS
_NO_DEPTH_M: Final = np.zeros((0, 0), np.float32)


def rows_of_ids(instance_id: IntArray) -> Int32Array:
    """Return (65536,) the row of every instance id of a mask in (N,) ids; -1 where it is none of them."""
    rows = np.full(65536, -1, np.int32)
    rows[instance_id] = np.arange(len(instance_id), dtype=np.int32)
    return rows


def see(
    solids: Solids,
    instance_id: IntArray,
    camera: PlacedCamera,
    images: CameraImages,
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
    reach = reach or reaches(solids, [camera])[0]
    own_px, silhouette, blockers = hidden_by_others(
        reach.rays,
        reach.window_px,
        runs,
        images.tags,
        _NO_DEPTH_M if images.depth_m is None else images.depth_m,
        reach.row,
        instance_id,
        row_of_id,
        reach.away_m,
        _SHOWN_BY_TAG,
        reach.foot_px,
        camera.place_px,
    )
    is_shown = own_px[:, 0] > 0
    kept = np.flatnonzero((silhouette > 0) | is_shown[reach.row])
    row = reach.row[kept]
    is_shown[row] = False
    if is_shown.any():  # although they do not reach in: bodies may be larger than their boxes
        beside = np.flatnonzero(is_shown)
        more = reach.with_rows(beside, *reach_of_rows(solids, beside, camera), camera)
        return see(solids, instance_id, camera, images, reach=more, row_of_id=row_of_id)
    return SeenInView(
        row=row,
        visible_px=own_px[row, 0],
        silhouette_px=silhouette[kept],
        blockers_px=blockers[kept],
        truncation=reach.truncation[kept],
        visible_box_px=own_px[row, 1:],
        amodal_box_px=reach.inside_px[kept],
        ignored=unlabelled_regions(runs, row_of_id),
    )


def _runs(images: CameraImages) -> Runs:
    """Find the runs of all that has an id, and of all road users."""
    counted = IS_ROAD_USER.copy()
    counted[images.tags[images.ids > 0]] = True
    return mask_pixels.runs_in(images.ids, images.tags, counted)
