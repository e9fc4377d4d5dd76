"""Measurements of one image: quality, shadows around objects, and occluders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.annotate.kernels import Rays, most_in_front
from uavsim.annotate.silhouettes import rays_of_cameras
from uavsim.annotate.solids import NO_LENS, Solids
from uavsim.config.events import EventThresholds
from uavsim.errors import DatasetError
from uavsim.files.parse import read_regular
from uavsim.geometry.se3 import SE3
from uavsim.images import mask_pixels
from uavsim.images.codec import as_declared
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array
from uavsim_benchmarks.labels.jobs import ImageJob, SampleJob
from uavsim_benchmarks.labels.pixels import decode_grey, measure_pixels, psnr_db
from uavsim_benchmarks.labels.quality import Quality, grade
from uavsim_benchmarks.labels.shading import shaded_shares

BRIGHTNESS: Final = ("dark", "bright", "contrast", "clipped_share")
"""Measures of ``QualityLevels`` for brightness."""

_EVERY_PX: Final = 3  # step of the pixels that count for ``tag_share``


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredImage:
    """The measurements of one image and its N boxes.

    Attributes:
        measured: luminance, contrast, clipped_share, noise_sigma, blur_px, psnr_db; NaN where not applicable.
        quality: graded from the measures.
        arrived: the image arrived and its file can be read.
        shaded_share: (N,) shaded share of the ground around each box; NaN where unknown.
        occluder: (N,) row of the box in front; -1 where unknown.
        covered_px: (N,) pixels of the box's silhouette that show the occluder.
        tag_share: (256,) of the image's pixels that show each semantic tag; zeros without a mask or when not requested.
        twins: luminance and brightness quality of the same image in other weathers, by twin.
    """

    measured: dict[str, float]
    quality: Quality
    arrived: bool
    shaded_share: FloatArray
    occluder: IntArray
    covered_px: IntArray
    tag_share: FloatArray
    twins: Mapping[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Occluded:
    """Input of the search for occluders in the K images of a sample with N boxes.

    Attributes:
        hidden: (K, N) occluded boxes that are large enough to search.
        rays: (K, N, 5, 3) of every camera through every box.
        away_m: (K, N) from the camera.
        row_of_id: (65536,) the box of an id in the masks; -1 where there is none.
        away_of_id: (65536,) scratch: distances of one image's boxes; -1 where an id has none.
    """

    hidden: BoolArray
    rays: Rays
    away_m: FloatArray
    row_of_id: IntArray
    away_of_id: FloatArray

    @classmethod
    def of(cls, job: SampleJob, thresholds: EventThresholds) -> _Occluded | None:
        """Prepare a sample; None where no box is occluded."""
        views, limits = job.views, thresholds.objects
        hidden = (views.occlusion > limits.occluded_share) & views.in_view & (views.amodal_px >= limits.least_amodal_px)
        if not hidden.any():
            return None
        optical = SE3.stack([image.map_SE3_optical for image in job.images])
        intrinsic = np.array([image.intrinsic for image in job.images]).reshape(-1, 3, 3)
        off_m = job.map_SE3_box.translation_m - optical.translation_m[:, None]
        row_of_id = np.full(65536, -1, dtype=np.int64)
        row_of_id[job.instance_id] = np.arange(len(job.instance_id))
        return cls(
            hidden=hidden,
            rays=rays_of_cameras(Solids.of(job.map_SE3_box, job.half_m), optical, intrinsic),
            away_m=np.linalg.norm(off_m, axis=-1),
            row_of_id=row_of_id,
            away_of_id=np.full(65536, -1.0),
        )


def measure_images(job: SampleJob, thresholds: EventThresholds, *, tags: bool = False) -> tuple[MeasuredImage, ...]:
    """Decode every image of a sample, its clean copy and its mask once each, and measure them.

    Args:
        job: the sample.
        thresholds: limits that select boxes for the search of occluders and shadows.
        tags: also measure ``tag_share``.

    Raises:
        DatasetError: a mask, a clean copy or a twin's image cannot be read.
    """
    occluded = _Occluded.of(job, thresholds)
    return tuple(_measure(job, number, occluded, thresholds, tags=tags) for number in range(len(job.images)))


def _measure(
    job: SampleJob, number: int, occluded: _Occluded | None, thresholds: EventThresholds, *, tags: bool
) -> MeasuredImage:
    image = job.images[number]
    boxes = len(job.annotations)
    luminance = None if image.lost or image.file is None else _decoded(image)
    masks = None if image.mask is None else mask_pixels.decode(_bytes_of(image.mask, image.size_px))
    shaded = np.full(boxes, np.nan)
    occluder, covered = np.full(boxes, -1, dtype=np.int64), np.zeros(boxes, dtype=np.int64)
    tag_share = np.zeros(256)
    if masks is not None:
        if occluded is not None:
            occluder, covered = _occluders(
                job, number, occluded, ids=masks[0], named_share=thresholds.objects.named_share
            )
        if tags:
            few = masks[1][::_EVERY_PX, ::_EVERY_PX]
            tag_share = np.bincount(few.ravel(), minlength=256) / few.size
    if luminance is None:
        return MeasuredImage({}, Quality(1, 1.0, "lost", ("lost",)), False, shaded, occluder, covered, tag_share)
    found = _measures(luminance)
    found["psnr_db"] = math.nan if image.clean is None else psnr_db(luminance, _read(image.clean, image.size_px))
    if masks is not None and job.sun_up and boxes:
        shaded = _shaded(job, number, luminance=luminance, masks=masks, thresholds=thresholds)
    quality = grade(_graded(found), thresholds.quality)
    dim = any(name in BRIGHTNESS for name in quality.poor)
    twins = {name: _twin(_read(path, image.size_px), thresholds) for name, path in image.twins} if dim else {}
    return MeasuredImage(found, quality, True, shaded, occluder, covered, tag_share, twins)


def _decoded(image: ImageJob) -> UInt8Array | None:
    assert image.file is not None
    data = _bytes_of(image.file, image.size_px)
    try:
        return decode_grey(data)
    except DatasetError:  # truncated: counts as lost
        return None


def _bytes_of(path: Path, size_px: tuple[int, int]) -> bytes:
    return as_declared(read_regular(path), size_px, name=path)


def _read(path: Path, size_px: tuple[int, int]) -> UInt8Array:
    return decode_grey(_bytes_of(path, size_px))


def _measures(luminance: UInt8Array) -> dict[str, float]:
    found = measure_pixels(luminance)
    return {name: getattr(found, name) for name in found.__slots__}


def _graded(found: Mapping[str, float]) -> dict[str, float]:
    """Return measures by the names of ``QualityLevels``, which has two limits for luminance."""
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
    job: SampleJob, number: int, occluded: _Occluded, *, ids: UInt16Array, named_share: float
) -> tuple[IntArray, IntArray]:
    """Return (N,) rows of the occluder of each box, -1 for none, and (N,) pixels that it covers."""
    views = job.views
    occluder = np.full(len(job.annotations), -1, dtype=np.int64)
    covered = np.zeros(len(job.annotations), dtype=np.int64)
    rows = np.flatnonzero(occluded.hidden[number])
    if not len(rows):
        return occluder, covered
    occluded.away_of_id[job.instance_id] = occluded.away_m[number]
    window = views.amodal_box_px[number, rows]
    front, front_px = most_in_front(
        occluded.rays[number, rows],
        np.concatenate([np.floor(window[:, :2]), np.ceil(window[:, 2:])], axis=1).astype(np.int64),
        ids,
        job.instance_id[rows],
        occluded.away_of_id,
        NO_LENS,
    )
    hidden_px = views.amodal_px[number, rows] - views.visible_px[number, rows]
    named = (front > 0) & (front_px >= named_share * hidden_px)
    occluder[rows[named]] = occluded.row_of_id[front[named]]
    covered[rows] = front_px
    return occluder, covered
