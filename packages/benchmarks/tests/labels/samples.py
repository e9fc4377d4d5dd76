"""Synthetic samples: two or more drones with one camera, objects with given pixels in each image."""

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim_benchmarks.labels.jobs import ImageJob, SampleJob, SampleViews
from uavsim_benchmarks.labels.measure import MeasuredImage
from uavsim_benchmarks.labels.quality import Quality

SIZE_PX = (800, 450)
INTRINSIC = np.array([[400.0, 0, 400], [0, 400, 225], [0, 0, 1]])
LOOKS_DOWN = SE3.from_quat_wxyz(np.array([0.0, 1.0, 0.0, 0.0]), np.zeros(3))


def make_job(visible_px, *, amodal_px=None, box_px=40.0, truncation=0.0, away_m=10.0, in_view=None) -> SampleJob:
    """Make a sample of (K, N) visible pixels: one camera per drone, drones 10 m apart along x, objects along y."""
    visible = np.array(visible_px, dtype=np.int64)
    drones, objects = visible.shape
    amodal = np.maximum(visible, 100) if amodal_px is None else np.broadcast_to(np.array(amodal_px), visible.shape)
    reaches = np.ones(visible.shape, bool) if in_view is None else np.array(in_view, dtype=bool)
    boxes = np.zeros((drones, objects, 4))
    boxes[..., 2:] = np.broadcast_to(np.asarray(box_px, dtype=float), visible.shape)[..., None]
    views = SampleViews(
        in_view=reaches,
        visible_px=np.where(reaches, visible, 0),
        amodal_px=np.where(reaches, amodal, 0),
        occlusion=np.where(reaches, 1 - visible / np.maximum(amodal, 1), 0.0),
        truncation=np.where(reaches, truncation, 1.0),
        amodal_box_px=boxes,
        away_m=np.broadcast_to(np.asarray(away_m, dtype=float), visible.shape),
    )
    images = tuple(
        ImageJob(f"image{k}", f"CAMERA_FRONT_id_{k}", "FRONT", k, SIZE_PX, INTRINSIC,
                 SE3(LOOKS_DOWN.quat_wxyz, np.array([10.0 * k, 0, 40])), f"samples/{k}.png", None, None, None, False)
        for k in range(drones)
    )  # fmt: skip
    names = [f"object{n}" for n in range(objects)]
    turns = np.tile([1.0, 0, 0, 0], (objects, 1))
    places = np.stack([np.zeros(objects), 10.0 * np.arange(objects), np.zeros(objects)], axis=1)
    return SampleJob("scene_00", 0, "sample", 0, True, images, tuple(f"box{n}" for n in range(objects)), tuple(names),
                     ("car",) * objects, np.arange(1, objects + 1), SE3.from_quat_wxyz(turns, places),
                     np.ones((objects, 3)), views)  # fmt: skip


def measured(job: SampleJob, *, poor=(), arrived=True, shaded=None) -> list[MeasuredImage]:
    """Return measurements of all images of a sample, good or poor by the given measures."""
    count = len(job.annotations)
    level = 2 if poor else 5
    return [
        MeasuredImage({}, Quality(level, float(level), "", tuple(poor)), arrived,
                      np.full(count, np.nan) if shaded is None else np.array(shaded),
                      np.full(count, -1), np.zeros(count, np.int64), np.zeros(256))
        for _ in job.images
    ]  # fmt: skip
