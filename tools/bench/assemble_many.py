"""Assemble N synthetic scenes in a process of its own, for its memory: ``tools.bench.assemble_many FOLDER N`` is that process.

With ``--with-rows``, the clock also runs while tokens and rows of every single scene are made and packed; without, a few
packed scenes are made before it starts and given again under other names.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.bench.rows import Row, in_own_process
from uavsim.dataset import Fragment, FragmentHead, assemble, pack_fragment, token

Rows = dict[str, list[dict[str, Any]]]

SAMPLES, CHANNELS, BOXES = 20, 25, 165
SCENES = (250, 1000)
VARIANTS = 8  # different scenes' rows are packed before the clock starts; a thousand would not fit the memory of most


def _pose(seed: int) -> dict[str, Any]:
    return {
        "translation": [seed * 0.123456789012, -seed * 1.987654321098, 60.000000953674316],
        "rotation": [0.6532814824381883, 0.27059805007309845, -0.27059805007309834, 0.6532814824381882],
    }


@dataclass(frozen=True)
class _Scene:
    """One scene's tokens.

    Attributes:
        shots: sample, channel and token of each image.
        boxes: sample, object and token of each box.
    """

    name: str
    samples: list[str]
    channels: list[str]
    shots: list[tuple[int, str, str]]
    boxes: list[tuple[int, int, str]]

    @classmethod
    def of(cls, name: str) -> _Scene:
        channels = [f"CAMERA_{c}_id_{d}" for d in range(5) for c in ("FRONT", "LEFT", "RIGHT", "BACK", "BOTTOM")]
        return cls(
            name,
            [token(name, "sample", k) for k in range(SAMPLES)],
            channels,
            [(k, c, token(name, c, k)) for k in range(SAMPLES) for c in channels],
            [(k, i, token(name, "box", k, i)) for k in range(SAMPLES) for i in range(BOXES)],
        )


def _rows(scene: str) -> Rows:
    tokens = _Scene.of(scene)
    return _scene_rows(tokens) | _image_rows(tokens) | _box_rows(tokens) | _view_rows(tokens)


def _scene_rows(of: _Scene) -> Rows:
    return {
        "log": [
            {
                "token": token(of.name, "log"),
                "logfile": of.name,
                "vehicle": "5 drones",
                "date_captured": "2026-01-01",
                "location": "Town03",
            }
        ],
        "scene": [
            {
                "token": token(of.name),
                "log_token": token(of.name, "log"),
                "nbr_samples": SAMPLES,
                "first_sample_token": of.samples[0],
                "last_sample_token": of.samples[-1],
                "name": of.name,
                "description": "",
            }
        ],
        "sample": [
            {"token": s, "timestamp": 500_000 * k, "prev": "", "next": "", "scene_token": token(of.name)}
            for k, s in enumerate(of.samples)
        ],
        "calibrated_sensor": [
            {
                "token": token(of.name, c),
                "sensor_token": token("sensor", c),
                "camera_intrinsic": [[400.0, 0.0, 400.0], [0.0, 400.0, 225.0], [0.0, 0.0, 1.0]],
            }
            | _pose(1)
            for c in of.channels
        ],
    }


def _image_rows(of: _Scene) -> Rows:
    return {
        "ego_pose": [
            {"token": t, "timestamp": 500_000 * k, "uav_drone_id": 0, "uav_velocity": [1.0, 2.0, 3.0]} | _pose(k)
            for k, _, t in of.shots
        ],
        "sample_data": [
            {
                "token": t,
                "sample_token": of.samples[k],
                "ego_pose_token": t,
                "calibrated_sensor_token": token(of.name, c),
                "timestamp": 500_000 * k,
                "is_key_frame": True,
                "prev": "",
                "next": "",
                "fileformat": "png",
                "height": 450,
                "width": 800,
                "filename": f"samples/{c}/{of.name}__{c}__{500_000 * k}.png",
            }
            for k, c, t in of.shots
        ],
        "camera_pose": [{"token": t, "euler_deg": [0.0, -45.0, 90.0]} | _pose(k) for k, _, t in of.shots],
        "layer": [
            {
                "token": token(t, "instance"),
                "sample_data_token": t,
                "kind": "instance",
                "fileformat": "png",
                "filename": f"masks/{c}/{of.name}__{c}__{500_000 * k}.png",
            }
            for k, c, t in of.shots
        ],
    }


def _box_rows(of: _Scene) -> Rows:
    return {
        "instance": [
            {
                "token": token(of.name, i),
                "category_token": token("category", "vehicle.car"),
                "nbr_annotations": SAMPLES,
                "first_annotation_token": of.boxes[i][2],
                "last_annotation_token": of.boxes[i - BOXES][2],
                "uav_instance_id": i + 1,
                "uav_blueprint": "vehicle.tesla.model3",
            }
            for i in range(BOXES)
        ],
        "sample_annotation": [
            {
                "token": t,
                "sample_token": of.samples[k],
                "instance_token": token(of.name, i),
                "visibility_token": "4",
                "attribute_tokens": [token("attribute", "vehicle.moving")],
                "size": [2.1634, 4.7918, 1.4884],
                "prev": t,
                "next": t,
                "num_lidar_pts": 17 * i,
                "num_radar_pts": 0,
                "uav_instance_id": i + 1,
                "uav_blueprint": "vehicle.tesla.model3",
                "uav_actor_translation": [i * 1.1, k * 2.2, 0.1],
                "uav_bbox_offset": [0.03, 0.0, 0.74],
                "uav_euler_deg": [0.1, 0.2, 90.3],
                "uav_velocity": [1.1, 2.2, 0.0],
                "uav_angular_velocity": [0.0, 0.0, 0.1],
                "uav_acceleration": [0.5, 0.1, 0.0],
                "uav_amodal_px": 18 * i,
                "uav_seen_by": [0, 1, 2],
                "uav_missed_samples": 0,
            }
            | _pose(i)
            for k, i, t in of.boxes
        ],
    }


def _view_rows(of: _Scene) -> Rows:
    return {
        "visibility_detail": [
            {
                "token": t,
                "sample_annotation_token": t,
                "seen_by": [0, 1, 2],
                "views": [
                    {
                        "sample_data_token": t,
                        "channel": c,
                        "visible_px": i,
                        "amodal_px": i,
                        "occlusion": 0.1,
                        "truncation": 0.0,
                        "visible_box": [1, 2, 3, 4],
                        "amodal_box": [1.25, 2.5, 3.25, 4.5],
                    }
                    for c in of.channels[:3]
                ],
            }
            for _, i, t in of.boxes
        ],
    }


def fresh(count: int) -> Iterator[bytes]:
    """Make and pack the rows of every scene."""
    for n in range(count):
        yield _packed(n, _rows(f"scene_{n:04d}"))


def _packed(n: int, rows: Rows) -> bytes:
    name, split = f"scene_{n:04d}", ("uav_train", "uav_val")[n % 2]
    channels = tuple((row["filename"].split("/")[1], "camera") for row in rows["sample_data"][:CHANNELS])
    head = FragmentHead(name, n, "bench", "v1.0-trainval", (split,), "Town03", (0.0, 0.0), token(name), channels)
    return pack_fragment(Fragment(head, rows))


def fragments(count: int) -> Iterator[bytes]:
    """Yield ``count`` packed scenes; the rows of ``VARIANTS`` of them repeat, since assembling copies them unread."""
    splits = itertools.cycle(("uav_train", "uav_val"))
    yield from _numbered(list(fresh(VARIANTS)), count, splits)


def _numbered(texts: list[bytes], count: int, splits: Iterator[str]) -> Iterator[bytes]:
    """Give each scene its own head; the compressed rows stay as they are."""
    import msgpack

    opened = [msgpack.unpackb(text, raw=False) for text in texts]
    for n in range(count):
        value = dict(opened[n % len(opened)])
        value["head"] = value["head"] | {"scene": f"scene_{n:04d}", "scene_index": n, "splits": [next(splits)]}
        yield bytes(msgpack.packb(value, use_bin_type=True))


def rows() -> Iterator[Row]:
    """Assemble synthetic scenes as large as UAV3D's: 20 samples, 500 images, 3,300 boxes each."""
    reported = {}
    for scenes in SCENES:
        with tempfile.TemporaryDirectory(dir=os.environ.get("UAVSIM_BENCH_FOLDER")) as folder:
            reported[scenes] = in_own_process("assemble_many", folder, str(scenes))
            shutil.rmtree(Path(folder) / "v1.0-trainval", ignore_errors=True)
    few, many = (reported[scenes] for scenes in SCENES)
    how = "scenes of 20 samples, 500 images and 3,300 boxes assembled by streaming from packed fragments"
    yield Row("assemble_1000_scenes_s", many["wall_s"], "s", f"1,000 {how}, {many['gigabytes']:.1f} GB of tables")
    yield Row("assemble_1000_scenes_cpu_s", many["cpu_s"], "s", f"1,000 {how}")
    yield Row("assemble_1000_scenes_peak_mb", many["peak_mb"], "MB", f"resident memory at most, 1,000 {how}")
    ratio = many["cpu_s"] / few["cpu_s"]
    yield Row("assemble_1000_to_250_ratio", ratio, "ratio", f"processor time, 1,000 to 250 {how}; linear is 4")


def main() -> None:
    """Print wall and processor seconds, peak memory above the start's, and the size written."""
    root, count = Path(sys.argv[1]), int(sys.argv[2])
    with_rows = "--with-rows" in sys.argv
    scenes = fresh(count) if with_rows else fragments(count)
    first = [] if with_rows else [next(scenes)]  # packs the variants before the clock starts
    wall, cpu = time.perf_counter(), time.process_time()
    assemble(root, itertools.chain(first, scenes))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = {"whole_wall_s": wall, "whole_cpu_s": cpu} if with_rows else {"wall_s": wall, "cpu_s": cpu}
    sys.stdout.write(json.dumps(seconds | {"peak_mb": peak, "gigabytes": size / 1e9}) + "\n")


if __name__ == "__main__":
    main()
