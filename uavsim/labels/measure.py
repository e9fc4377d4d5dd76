"""What the pixels of one image say: its quality measures, the shadows around objects, and who stands in front of whom."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.annotate.occluders import front_of
from uavsim.annotate.solids import Camera, Solids
from uavsim.config.events import EventThresholds
from uavsim.errors import DatasetError
from uavsim.files.parse import read_regular
from uavsim.images import mask_pixels
from uavsim.images.quality import decode_grey, histogram, measure_pixels, psnr_db
from uavsim.images.shading import shaded_shares
from uavsim.labels.jobs import ImageJob, SampleJob
from uavsim.labels.quality import Quality, grade
from uavsim.typing import FloatArray, IntArray, UInt8Array, UInt16Array

__all__ = ["BRIGHTNESS", "MeasuredImage", "measure_images"]

BRIGHTNESS: Final = ("dark", "bright", "contrast", "clipped_share")
"""Measures of ``QualityLevels`` that say that an image's brightness is not balanced."""

_EVERY_PX: Final = 3  # is counted for what most of an image shows


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredImage:
    """What was measured of one image and its N boxes.

    Attributes:
        measured: luminance, contrast, clipped_share, noise_sigma, blur_px, psnr_db; NaN where there is no such thing.
        quality: of them.
        there: the image arrived and its file can be read.
        shaded_share: (N,) of the ground around a box; NaN where unknown.
        occluder: (N,) row of the box in front; -1 where none is known.
        covered_px: (N,) pixels of the box's silhouette that show the occluder.
        tag_share: (256,) of the image's pixels that show each semantic tag; zeros where there is no mask.
        twins: what the same image is in another weather: name -> luminance and quality by brightness alone.
    """

    measured: dict[str, float]
    quality: Quality
    there: bool
    shaded_share: FloatArray
    occluder: IntArray
    covered_px: IntArray
    tag_share: FloatArray
    twins: Mapping[str, dict[str, Any]] = field(default_factory=dict)


def measure_images(job: SampleJob, thresholds: EventThresholds) -> tuple[MeasuredImage, ...]:
    """Decode every image of a sample, its clean copy and its mask once each, and measure them.

    Args:
        job: the sample.
        thresholds: what is looked at more closely: occluders of what is occluded, shadows where the sun is up.

    Raises:
        DatasetError: a mask, a clean copy or a twin's image cannot be read.
    """
    solids = Solids.of(job.map_SE3_box, job.half_m)
    return tuple(_measure(job, number, solids, thresholds) for number in range(len(job.images)))


def _measure(job: SampleJob, number: int, solids: Solids, thresholds: EventThresholds) -> MeasuredImage:
    image = job.images[number]
    boxes = len(job.annotations)
    luminance = None if image.lost or image.file is None else _decoded(image)
    masks = None if image.mask is None else mask_pixels.decode(read_regular(image.mask))
    shaded = np.full(boxes, np.nan)
    occluder, covered = np.full(boxes, -1, dtype=np.int64), np.zeros(boxes, dtype=np.int64)
    tags = np.zeros(256)
    if masks is not None:
        occluder, covered = _occluders(job, number, solids, ids=masks[0], thresholds=thresholds)
        few = masks[1][::_EVERY_PX, ::_EVERY_PX]
        tags = histogram(few) / few.size
    if luminance is None:
        return MeasuredImage({}, Quality(1, 1.0, "lost", ("lost",)), False, shaded, occluder, covered, tags)
    found = _measures(luminance)
    found["psnr_db"] = math.nan if image.clean is None else psnr_db(luminance, _read(image.clean))
    if masks is not None and job.sun_up and boxes:
        shaded = _shaded(job, number, luminance=luminance, masks=masks, thresholds=thresholds)
    quality = grade(_graded(found), thresholds.quality)
    dim = any(name in BRIGHTNESS for name in quality.poor)
    twins = {name: _twin(_read(path), thresholds) for name, path in image.twins} if dim else {}
    return MeasuredImage(found, quality, True, shaded, occluder, covered, tags, twins)


def _decoded(image: ImageJob) -> UInt8Array | None:
    assert image.file is not None
    try:
        luminance = _read(image.file)
    except DatasetError:
        return None
    return luminance if luminance.shape[::-1] == image.size_px else None


def _read(path: Path) -> UInt8Array:
    return decode_grey(read_regular(path))


def _measures(luminance: UInt8Array) -> dict[str, float]:
    return asdict(measure_pixels(luminance))


def _graded(found: Mapping[str, float]) -> dict[str, float]:
    """Return measures by the names of ``QualityLevels``: brightness has a border on either side."""
    rest = {name: value for name, value in found.items() if name != "luminance"}
    return {"dark": found["luminance"], "bright": found["luminance"], **rest}


def _twin(luminance: UInt8Array, thresholds: EventThresholds) -> dict[str, Any]:
    found = _measures(luminance)
    graded = {name: value for name, value in _graded(found).items() if name in BRIGHTNESS}
    return {"luminance": round(found["luminance"], 2), "level": grade(graded, thresholds.quality).level}


def _shaded(
    job: SampleJob,
    number: int,
    *,
    luminance: UInt8Array,
    masks: tuple[UInt16Array, UInt8Array],
    thresholds: EventThresholds,
) -> FloatArray:
    views = job.views
    rows = np.flatnonzero(views.visible_px[number] >= thresholds.objects.seen_px)
    bounds = views.amodal_box_px[number, rows].astype(np.int64)
    share = np.full(len(job.annotations), np.nan)
    share[rows] = shaded_shares(luminance, *masks, boxes_px=bounds, shade=thresholds.objects.shade)
    return share


def _occluders(
    job: SampleJob, number: int, solids: Solids, *, ids: UInt16Array, thresholds: EventThresholds
) -> tuple[IntArray, IntArray]:
    """Return, for each box that is occluded in an image, the row of the actor in front and the pixels that it covers."""
    image, views, limits = job.images[number], job.views, thresholds.objects
    occluder = np.full(len(job.annotations), -1, dtype=np.int64)
    covered = np.zeros(len(job.annotations), dtype=np.int64)
    hidden = views.occlusion[number] > limits.occluded_share
    rows = np.flatnonzero(hidden & views.in_view[number] & (views.amodal_px[number] >= limits.least_amodal_px))
    if not len(rows):
        return occluder, covered
    away_m = np.full(65536, -1.0)
    off_m = job.map_SE3_box.translation_m - image.map_SE3_optical.translation_m
    away_m[job.instance_id] = np.linalg.norm(off_m, axis=1)
    window = views.amodal_box_px[number, rows]
    camera = Camera(image.map_SE3_optical, image.intrinsic, *image.size_px)
    front, front_px = front_of(
        solids.take(rows),
        job.instance_id[rows],
        camera,
        ids=ids,
        window_px=np.concatenate([np.floor(window[:, :2]), np.ceil(window[:, 2:])], axis=1).astype(np.int64),
        away_m=away_m,
    )
    row_of = np.full(65536, -1, dtype=np.int64)
    row_of[job.instance_id] = np.arange(len(job.instance_id))
    hidden_px = views.amodal_px[number, rows] - views.visible_px[number, rows]
    named = (front > 0) & (front_px >= limits.named_share * hidden_px)
    occluder[rows[named]] = row_of[front[named]]
    covered[rows] = front_px
    return occluder, covered
