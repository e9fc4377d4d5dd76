"""Fly drones of AirSim with clocks of their own beside CARLA, and measure where their images are.

    scripts/trial clocks-in-bridge [FOLDER] [--scenes 1]

Without a folder a dataset in topology ``bridge`` is flown: AirSim's drones tilt, and their poses are those of the step in
which an image is taken. Prints how far images are from the asked instants, the drones' tilts, and by how much vehicles' masks
reach beyond their boxes: at the image's own instant, and at the keyframe after it. Ends with 0 only if no image is farther
than half a step from its instant, and masks are nearer to the boxes of their own instant.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

import uavsim
from tools.common.program import run_uavsim
from tools.common.small_dataset import write_plans
from uavsim.access.boxes import Boxes
from uavsim.access.images import Image
from uavsim.ingredients.clocks.tables import CLOCK, CLOCK_READING

ENOUGH_PX: Final = 60
BINS: Final = 10
DATASET: Final = """
description: Drones of AirSim with clocks of their own.
seed: 39
version: v1.0-mini
towns: {Town10HD: {scenes: %d}}
samples: 4
keyframe_s: 0.5
step_s: 0.01
formation: cross
altitude_m: 30
rig: tiny
topology: bridge
clocks: {rate_hz: 10, phase_s: [0, 0.1], jitter_s: 0.005, drift_ppm: 50, offset_s: 0.02}
traffic: {vehicles: 80}
"""


def beyond_px(image: Image, boxes: Boxes) -> list[float]:
    """Return how far the masks of vehicles that are whole in an image reach beyond their boxes' outlines, pixels."""
    ids, found = image.mask()[0], []
    height, width = ids.shape
    for row, instance in enumerate(boxes.instance_id.tolist()):
        v, u = np.nonzero(ids == instance)
        if len(v) < ENOUGH_PX or not boxes.categories[row].startswith("vehicle"):
            continue
        low, high = np.array([u.min(), v.min()]), np.array([u.max() + 1, v.max() + 1])
        if (low > 0).all() and (high < (width, height)).all():
            corners_px = image.project(boxes.corners_map_m[row])
            out = np.concatenate([corners_px.min(axis=0) - low, high - corners_px.max(axis=0)])
            found.append(float(max(out.max(), 0.0)))
    return found


def main() -> int:
    """Fly, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--scenes", type=int, default=1)
    chosen = parser.parse_args()
    residual_ms, tilt_deg, own_px, later_px = list[float](), list[float](), list[float](), list[float]()
    half_ms = 0.0
    with tempfile.TemporaryDirectory() as made:
        folder = chosen.folder
        if folder is None:
            write_plans(Path(made), name="bridge-clocks", dataset=DATASET % chosen.scenes)
            folder = Path(made) / "out"
            run_uavsim("generate", "--dataset", "bridge-clocks", "--out", str(folder), cwd=Path(made))
        for scene in uavsim.open(folder):
            half_ms = max(half_ms, *(row["step_us"] / 2e3 for row in scene.rows(CLOCK)))
            residual_ms += [row["residual_us"] / 1e3 for row in scene.rows(CLOCK_READING)]
            fired = {row["sample_data_token"] for row in scene.rows(CLOCK_READING)}
            channels = sorted({image.channel for image in scene.samples[0].images})
            for image in (image for channel in channels for image in scene.images_of(channel) if image.token in fired):
                upright = image.map_SE3_flu.rotation[2, 2]
                tilt_deg.append(float(np.degrees(np.arccos(np.clip(upright, -1.0, 1.0)))))
                next_us = min(s.timestamp_us for s in scene.samples if s.timestamp_us >= image.timestamp_us)
                own_px += beyond_px(image, scene.boxes_at(image.timestamp_us))
                later_px += beyond_px(image, scene.boxes_at(next_us))
    counts, edges = np.histogram(residual_ms, bins=BINS, range=(-half_ms, half_ms))
    for count, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        print(f"{low:6.2f} to {high:5.2f} ms {count:4} {'#' * round(50 * count / max(counts.max(), 1))}")
    print(f"{len(residual_ms)} images, {min(residual_ms):.2f} to {max(residual_ms):.2f} ms from the asked instant, "
          f"half a step is {half_ms:g}; drones tilted by {min(tilt_deg):.1f} to {max(tilt_deg):.1f} degrees")  # fmt: skip
    for when, found in (("image's instant", own_px), ("keyframe after it", later_px)):
        print(f"masks reach beyond boxes of the {when}: mean {np.mean(found):.2f} px, 95 % {np.quantile(found, 0.95):.2f},"
              f" most {max(found):.2f}, {len(found)} vehicles")  # fmt: skip
    good = max(map(abs, residual_ms)) <= half_ms and np.mean(own_px) < np.mean(later_px)
    return 0 if good else 1
