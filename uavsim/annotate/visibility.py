"""Measure each box in an image: visible pixels, blockers, truncation.

*Visible* pixels are counted in the instance mask and exact. *Amodal* pixels (if nothing were in front) are estimated: the
silhouette of the box exceeds that of the object by a share that depends on its shape (``fill``), and only silhouette pixels
that show something nearer can hide the object: scenery that is not ground, nearer actors, or, with recorded depth, anything
nearer than the box.
"""

from typing import Final

import numpy as np

from uavsim.annotate.kernels import HIDES, OTHER, OVERHANGS, hidden_by_others
from uavsim.annotate.reach import Reach, reach_of_rows, reaches
from uavsim.annotate.solids import CameraImages, PlacedCamera, Solids, ViewMeasurements
from uavsim.images import mask_pixels
from uavsim.images.mask_pixels import Int32Array, Runs
from uavsim.images.regions import IS_ROAD_USER, unlabelled_regions
from uavsim.typing import IntArray

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
    """Return the (65536,) int32 row of every instance id among (N,) ids; -1 for others."""
    rows = np.full(65536, -1, np.int32)
    rows[instance_id] = np.arange(len(instance_id), dtype=np.int32)
    return rows


def measure_view(
    solids: Solids,
    instance_id: IntArray,
    camera: PlacedCamera,
    images: CameraImages,
    *,
    reach: Reach | None = None,
    row_of_id: Int32Array | None = None,
) -> ViewMeasurements:
    """Measure N boxes in an image; the result has rows for the boxes that reach into it or have pixels in it.

    Args:
        solids: the boxes.
        instance_id: (N,) their ids in the mask.
        camera: camera of the image.
        images: mask, and depth if recorded.
        reach: ``Reach`` of this camera, if known.
        row_of_id: (65536,) int32 result of ``rows_of_ids``, if known.
    """
    row_of_id = rows_of_ids(instance_id) if row_of_id is None else row_of_id
    runs = _runs(images)
    reach = reach or reaches(solids, [camera])[0]
    visible_px, silhouette, blockers = hidden_by_others(
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
        camera.pinhole_px,
    )
    is_visible = visible_px[:, 0] > 0
    selected = np.flatnonzero((silhouette > 0) | is_visible[reach.row])
    row = reach.row[selected]
    is_visible[row] = False
    if is_visible.any():  # visible without reaching in: bodies may be larger than their boxes
        beside = np.flatnonzero(is_visible)
        more = reach.with_rows(beside, *reach_of_rows(solids, beside, camera), camera)
        return measure_view(solids, instance_id, camera, images, reach=more, row_of_id=row_of_id)
    return ViewMeasurements(
        row=row,
        visible_px=visible_px[row, 0],
        silhouette_px=silhouette[selected],
        blockers_px=blockers[selected],
        truncation=reach.truncation[selected],
        visible_box_px=visible_px[row, 1:],
        amodal_box_px=reach.inside_px[selected],
        ignored=unlabelled_regions(runs, row_of_id),
    )


def _runs(images: CameraImages) -> Runs:
    """Find the runs of all pixels with an id, and of all road users."""
    counted = IS_ROAD_USER.copy()
    counted[images.tags[images.ids > 0]] = True
    return mask_pixels.runs_in(images.ids, images.tags, counted)
