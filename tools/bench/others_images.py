"""Writers of images side by side on captures in memory: ``python -m tools.bench.others_images PORT [--nucarla CHECKOUT]``.

Each way gets the frames as CARLA's client holds them (blue first, four channels) and leaves files; ways take turns in one
process. Their masks are the simulator's bytes, ours are taken apart first and written in the ids that the tables use.
"""

import argparse
import contextlib
import importlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from tools.bench.frames import Frame, Kept, keep, plan_of, quiet
from tools.bench.others_tables import stand_in
from uavsim.annotate import annotate
from uavsim.capture.record import record_scene
from uavsim.capture.recording_reader import read_recording
from uavsim.images import mask_pixels
from uavsim.records.modalities import INSTANCE, RGB, Mask, modality
from uavsim.records.plan import ImageFormat
from uavsim.records.recording import Recording
from uavsim.simulate.ports import Reading
from uavsim.typing import UInt8Array

CAPTURES: Final = 2
TURNS: Final = 5
SLOW_TURNS, SLOW_PAIRS = 2, 5  # of what takes tenths of a second an image
_FOLDER: Final = os.environ.get("UAVSIM_BENCH_FOLDER")
Write = Callable[[Reading, Path], None]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do it.

    Attributes:
        what: it does.
        run: with an empty folder of its own.
        pairs: of image and mask in a run.
        turns: in which it runs; one before them is left out, unless it is slow.
    """

    what: str
    run: Callable[[Path], None]
    pairs: int
    turns: int = TURNS

    @property
    def begins(self) -> int:
        """Return the first turn in which it runs; turn 0 is not counted."""
        return 0 if self.turns == TURNS else 1


def main() -> None:
    """Take the captures, then measure in turns."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--nucarla", type=Path)
    options = parser.parse_args()
    kept = keep(options.port, CAPTURES)
    readings = [reading for frame in kept.frames for reading in frame.readings]
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
        ways = image_ways(readings)
        if options.nucarla is not None:
            ways |= nucarla_ways(options.nucarla, kept, Path(folder))
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            reported = in_turns(ways)
    how = f"rendered pairs of 800x450, turns of all ways in one process, medians of {TURNS} turns ({SLOW_TURNS} where slow)"
    figures = {
        name: {
            "what": f"{way.what}; {way.pairs} pairs",
            "wall_ms": 1e3 * statistics.median(reported[name][0]),
            "cpu_ms": 1e3 * statistics.median(reported[name][1]),
        }
        for name, way in ways.items()
    }
    sys.stdout.write(json.dumps({"ways": figures, "times": times(reported), "how": how}) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors


def in_turns(ways: dict[str, Way]) -> dict[str, tuple[list[float], list[float]]]:
    """Run every way in each of its turns; wall and processor seconds a pair."""
    reported: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in ways}
    for turn in range(TURNS + 1):
        for name, way in ways.items():
            if not way.begins <= turn <= way.turns:
                continue
            with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
                wall, cpu = time.perf_counter(), time.process_time()
                way.run(Path(folder))
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            if turn:
                reported[name][0].append(wall / way.pairs)
                reported[name][1].append(cpu / way.pairs)
    return reported


def times(reported: dict[str, tuple[list[float], list[float]]]) -> dict[str, dict[str, Any]]:
    """Return how many times as fast ours is: medians over turns of the ratio."""
    pairs = {
        "cv2_single": ("cv2", "ours", "cv2.imwrite loop / ours, one thread each"),
        "cv2_as_used": ("cv2", "ours_threads", "cv2.imwrite loop / ours in the writer's two threads"),
        "cv2_both_in_threads": ("cv2_threads", "ours_threads", "cv2.imwrite / ours, two threads each"),
        "save_to_disk_single": ("save_to_disk", "ours", "carla's save_to_disk / ours, one thread each"),
        "save_to_disk_as_used": (
            "save_to_disk",
            "ours_threads",
            "carla's save_to_disk / ours in the writer's two threads",
        ),
        "save_to_disk_jpeg_as_used": (
            "save_to_disk_jpeg",
            "ours_jpeg_threads",
            "carla's save_to_disk of RGB alone / ours of RGB and masks, JPEG, in the writer's two threads",
        ),
        "nucarla_single": ("nucarla", "ours_jpeg", "nuCarla's save_all_sensors / ours with JPEG, one thread each"),
        "nucarla_as_used": ("nucarla", "ours_jpeg_threads", "nuCarla's save_all_sensors / ours with JPEG, two threads"),
        "nucarla_labels": ("nucarla_labels", "ours_labels", "nuCarla's process_scene / our annotate, from files"),
    }
    found = {}
    for name, (other, ours, what) in pairs.items():
        if other in reported and ours in reported:
            wall, cpu = (
                statistics.median(a / b for a, b in zip(reported[other][k], reported[ours][k], strict=False))
                for k in (0, 1)
            )
            found[name] = {"what": what, "wall": wall, "cpu": cpu}
    return found


def image_ways(readings: Sequence[Reading]) -> dict[str, Way]:
    """Return the ways of pairs to files."""
    png, jpeg = ImageFormat(), ImageFormat(kind="jpeg")

    def way(what: str, write: Write, threads: int) -> Way:
        return Way(what, lambda folder: write_all(readings, folder, write, threads=threads), len(readings) // 2)

    few = readings[: 2 * SLOW_PAIRS]
    ours = "masks taken apart, Modality.encode, one write a file"
    return {
        "ours": way(f"RGB and masks to PNG level 1: {ours}; one thread", ours_as(png), 1),
        "ours_threads": way(f"RGB and masks to PNG level 1: {ours}; two threads", ours_as(png), 2),
        "ours_jpeg": way(f"RGB to JPEG 95, masks to PNG: {ours}; one thread", ours_as(jpeg), 1),
        "ours_jpeg_threads": way(f"RGB to JPEG 95, masks to PNG: {ours}; two threads", ours_as(jpeg), 2),
        "cv2": way("RGB and masks to PNG: cv2.imwrite(path, image[..., :3]) in a loop, OpenCV's defaults", cv2_png, 1),
        "cv2_threads": way("the same calls of cv2.imwrite in two threads", cv2_png, 2),
        "save_to_disk": Way(
            "RGB and masks to PNG: carla.Image.save_to_disk in a loop",
            lambda folder: write_all(few, folder, save_to_disk, threads=1),
            SLOW_PAIRS,
            SLOW_TURNS,
        ),
        "save_to_disk_jpeg": way("RGB alone to JPEG, as carla_nuscenes: carla.Image.save_to_disk", save_rgb_as_jpeg, 1),
    }


def write_all(readings: Sequence[Reading], folder: Path, write: Write, *, threads: int) -> None:
    """Write every reading to a file of its own."""
    paths = [folder / f"{number}_{reading.modality}" for number, reading in enumerate(readings)]
    if threads == 1:
        for reading, path in zip(readings, paths, strict=True):
            write(reading, path)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, readings, paths))


def _mask(bgra: UInt8Array) -> Mask:
    runs, tags = mask_pixels.split(bgra, np.ones(256, np.bool_))
    return Mask(None, tags, runs)


def ours_as(images: ImageFormat) -> Write:
    """Write as the recording does; what ids stand for is bound elsewhere."""

    def write(reading: Reading, path: Path) -> None:
        kind = modality(reading.modality)
        value = _mask(reading.data) if reading.modality == INSTANCE else reading.data
        path.with_suffix(kind.file_suffix(images)).write_bytes(kind.encode(value, images))

    return write


def cv2_png(reading: Reading, path: Path) -> None:
    """Write as a short script does."""
    cv2.imwrite(str(path.with_suffix(".png")), reading.data[..., :3])


def save_to_disk(reading: Reading, path: Path) -> None:
    """Let CARLA's client write the image."""
    owner: Any = reading.owner
    owner.save_to_disk(str(path.with_suffix(".png")))


def save_rgb_as_jpeg(reading: Reading, path: Path) -> None:
    """Write what carla_nuscenes writes: it keeps no masks."""
    owner: Any = reading.owner
    if reading.modality == RGB:
        owner.save_to_disk(str(path.with_suffix(".jpg")))


def nucarla_ways(checkout: Path, kept: Kept, work: Path) -> dict[str, Way]:
    """Return nuCarla's own functions on the same frames, and our labels of a recording of them."""
    stand_in("pyquaternion", "Quaternion")
    stand_in("tqdm", "tqdm")
    sys.path.insert(0, str(checkout))
    sensors, annotation = importlib.import_module("sensors"), importlib.import_module("annotation")
    recording = recorded(kept, work / "recording")
    channels, scene = _nucarla_channels(kept.frames[0]), work / "scene_0"
    pairs = sum(len(frame.readings) for frame in kept.frames) // 2
    _save_nucarla(sensors, kept.frames[:1], scene)
    _write_truth(kept, recording, scene)

    def label(folder: Path) -> None:
        for name in ("gt", "rgb", "instance", "id_mapping.json", "cav_info.json"):
            (folder / name).symlink_to(scene / name)
        annotation.process_scene((str(folder), [channel for _, channel, key in channels if key.endswith(RGB)]))

    return {
        "nucarla": Way(
            "RGB to JPEG, masks to JPEG and .npy: nuCarla's sensors.save_all_sensors",
            lambda folder: _save_nucarla(sensors, kept.frames, folder),
            pairs,
        ),
        "nucarla_labels": Way(
            "visible pixels of every actor: nuCarla's annotation.process_scene of one frame's .npy",
            label,
            pairs // CAPTURES,
            SLOW_TURNS,
        ),
        "ours_labels": Way(
            "boxes, visible and amodal pixels, occlusion, tracks: annotate of a recording whose masks are read again from PNG",
            lambda _: void(annotate(recording)),
            pairs,
        ),
    }


def recorded(kept: Kept, folder: Path) -> Recording:
    """Record the captures without measuring their masks, so that labels read the files."""
    plan = plan_of(len(kept.frames))
    record_scene(kept.session(plan), plan, folder, heartbeat=quiet, sample_taken=lambda _samples, _images: None)
    recording = read_recording(folder)
    return replace(recording, frames=tuple(replace(frame, measured=None) for frame in recording.frames))


def void(_: object) -> None:
    """Drop a result."""


def _nucarla_channels(frame: Frame) -> list[tuple[str, str, str]]:
    return [(r.modality, r.channel, f"{r.channel}_{r.modality}") for r in frame.readings]


def _save_nucarla(sensors: Any, frames: Sequence[Frame], folder: Path) -> None:
    for number, frame in enumerate(frames):
        storage: dict[str, Any] = {}
        for reading in frame.readings:  # its callback copies an image before it is saved
            storage[f"{reading.channel}_{reading.modality}"] = {"frame": number, "data": np.array(reading.data)}
        sensors.save_all_sensors(f"{number:06d}", str(folder), storage, _nucarla_channels(frame))


def _write_truth(kept: Kept, recording: Recording, scene: Path) -> None:
    """Write what nuCarla's collector leaves beside its images: actors of each frame, and which mask colour is whose."""
    (scene / "gt").mkdir()
    colours: dict[str, int] = {}
    for number, (frame, joined) in enumerate(zip(kept.frames, kept.captures(recording.plan), strict=True)):
        raw = {r.channel: np.asarray(r.data) for r in frame.readings if r.modality == INSTANCE}
        for capture in joined:
            _learn(colours, raw[capture.pose.channel], capture.data[INSTANCE].ids)
        actors = {str(row): {"place": [0.0, 0.0, 0.0]} for row in [0, *frame.state.actors.instance_id.tolist()]}
        truth = {"meta": {"timestamp": number, "datetime": ""}, "actors": actors}
        (scene / "gt" / f"{number:06d}.json").write_text(json.dumps(truth))
    (scene / "id_mapping.json").write_text(json.dumps({"instance_to_actor": colours}))
    (scene / "cav_info.json").write_text(json.dumps({"cav_id": 0}))


def _learn(colours: dict[str, int], bgra: Any, ids: Any) -> None:
    """Note the actor of every colour."""
    owned = ids > 0
    pairs = np.unique(np.column_stack([bgra[owned][:, :3], ids[owned]]), axis=0)
    colours.update({f"{b}-{g}-{r}": int(owner) for b, g, r, owner in pairs.tolist()})


if __name__ == "__main__":
    main()
