"""Causes of poor visibility of each object in each image of a sample, from measurements and thresholds."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.config.events import EventThresholds
from uavsim.typing import BoolArray, IntArray
from uavsim_benchmarks.labels.jobs import SampleJob
from uavsim_benchmarks.labels.measure import BRIGHTNESS, MeasuredImage

CAUSES: Final = ("image_loss", "out_of_view", "occluded", "too_small", "under_shadow", "brightness", "noise", "blur")
"""In order of precedence."""
AIRCOPBENCH: Final = {
    "image_loss": "Image loss",
    "out_of_view": "Out of FoV",
    "occluded": "Object occlusion",
    "too_small": "Small target / Long distance",
    "under_shadow": "Under shadow",
    "brightness": "Brightness imbalance",
    "noise": "Low SNR (noisy)",
    "blur": "Others",
}
"""Names of the degradations in AirCopBench's annotation files."""


def causes_of(job: SampleJob, images: Sequence[MeasuredImage], thresholds: EventThresholds) -> BoolArray:
    """Return (K, N, 8) bool: the causes that apply to an object in an image, in the order of ``CAUSES``.

    An object that no image of the sample sees has no cause.
    """
    views, limits = job.views, thresholds.objects
    area_px = np.array([image.size_px[0] * image.size_px[1] for image in job.images], dtype=np.float64)
    size = views.amodal_box_px[..., 2:] - views.amodal_box_px[..., :2]
    share = size[..., 0] * size[..., 1] / np.maximum(area_px, 1.0)[:, None]
    found = np.zeros((*views.in_view.shape, len(CAUSES)), dtype=np.bool_)
    shaded = np.array([image.shaded_share for image in images]).reshape(views.in_view.shape)
    found[..., 1] = ~views.in_view | (views.truncation > limits.cut_share)
    hidden = (views.occlusion > limits.occluded_share) & (views.amodal_px >= limits.least_amodal_px)
    found[..., 2] = views.in_view & hidden
    found[..., 3] = views.in_view & (share < limits.small_share)
    complete = views.truncation <= limits.cut_share  # around a truncated box, the ground may hold only its own shadow
    found[..., 4] = views.in_view & complete & (np.nan_to_num(shaded) > limits.shaded_share)
    for number, image in enumerate(images):
        poor = image.quality.poor
        found[number, :, 0] = not image.arrived
        found[number, :, 5] = any(name in BRIGHTNESS for name in poor)
        found[number, :, 6] = "noise_sigma" in poor
        found[number, :, 7] = "blur_px" in poor
        if "psnr_db" in poor and not found[number, :, 6].any():
            found[number, :, 7] = True
    known = np.asarray((views.visible_px >= limits.seen_px).any(axis=0))
    return np.asarray(found & known[None, :, None], dtype=np.bool_)


def primary(causes: BoolArray) -> IntArray:
    """Return the index of the first cause of each (..., 8) row, (...) int64; -1 for none."""
    return np.where(causes.any(axis=-1), causes.argmax(axis=-1), -1)
