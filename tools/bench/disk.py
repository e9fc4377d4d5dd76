"""Rows about what happens after the flight: encode, annotate, assemble, validate."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tools.bench.rows import ROOT, Row, in_own_process
from uavsim.annotate import annotate
from uavsim.capture.recording_reader import read_recording
from uavsim.dataset import final_paths
from uavsim.images import codec
from uavsim.records.recording import CameraShot, Recording
from uavsim.validate import validate_dataset

SAMPLES = 5
MINI_IMAGES = 10_000  # of flight_plans/datasets/uav3d-mini.yaml
SCENES = (250, 1000)


def dataset() -> Iterator[Row]:
    """Generate one small scene headless, then encode, annotate and validate it again, alone."""
    with tempfile.TemporaryDirectory() as folder:
        out, wall_s = _smoke(Path(folder))
        how = f"uavsim generate --dataset smoke, {SAMPLES} samples of 25 RGB + 25 masks, start and validation included"
        yield Row("generate_samples_per_s", SAMPLES / wall_s, "samples/s", how)
        recording = committed(out)
        yield _encode(recording)
        cpu = time.process_time()
        annotate(recording)
        cpu = time.process_time() - cpu
        how = f"labels of {SAMPLES} samples with 25 masks of 800x450, one core's processor time"
        yield Row("annotate_samples_per_cpu_s", SAMPLES / cpu, "samples/s", how)


def validate_mini() -> Iterator[Row]:
    """Validate with pixels, and what that comes to for the mini split."""
    with tempfile.TemporaryDirectory() as folder:
        out, _ = _smoke(Path(folder))
        yield from _validate(out)


def _validate(out: Path) -> Iterator[Row]:
    validate_dataset(out, workers=1)  # read the files into the page cache
    cpu = time.process_time()
    (report,) = validate_dataset(out, workers=1)
    cpu = time.process_time() - cpu
    images = int(report.facts["images"])
    how = (
        f"uavsim validate, {images} images of 800x450 and their masks decoded and compared, processor time of one core"
    )
    yield Row("validate_samples_per_cpu_s", report.facts["samples"] / cpu, "samples/s", how)
    half = cpu / images * MINI_IMAGES / 2
    yield Row("validate_mini_s", half, "s", f"the mini split's {MINI_IMAGES} images on two cores, computed from: {how}")


def _smoke(folder: Path) -> tuple[Path, float]:
    out, began = folder / "smoke", time.perf_counter()
    command = [sys.executable, "-m", "uavsim", "generate", "--dataset", "smoke", "--town", "Town10HD"]
    command += ["--scenes", "0", "--samples", str(SAMPLES), "--out", str(out)]
    environment = os.environ | {
        "HOME": str(folder),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if not (out / "v1.0-mini").is_dir():
        raise RuntimeError(f"uavsim generate ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
    return out, time.perf_counter() - began


def committed(out: Path, *, scene: int = 0) -> Recording:
    """Read a committed scene's recording, whose images lie where the data set has them."""
    recording = read_recording(sorted((out / ".uavsim" / "recordings").iterdir())[scene])
    moved = final_paths(recording)

    def at_home(shot: CameraShot) -> CameraShot:
        return replace(shot, files={name: moved[path] for name, path in shot.files.items()})

    frames = tuple(replace(frame, shots=tuple(map(at_home, frame.shots))) for frame in recording.frames)
    return replace(recording, folder=out, frames=frames)


def _encode(recording: Recording) -> Row:
    shots = recording.frames[0].shots
    images = [codec.decode_rgb(recording.folder / shot.files["rgb"]) for shot in shots]
    masks = [codec.decode_rgb(recording.folder / shot.files["instance"]) for shot in shots]
    cpu = time.process_time()
    for image in images:
        codec.encode_png(image)
    for mask in masks:
        codec.encode_mask(mask)
    cpu = time.process_time() - cpu
    how = f"{len(shots)} RGB and {len(shots)} masks of 800x450 to PNG level 1, one core's processor time"
    return Row("encode_samples_per_cpu_s", 1 / cpu, "samples/s", how)


def assemble() -> Iterator[Row]:
    """Assemble synthetic scenes as large as UAV3D's: 20 samples, 500 images, 3,300 boxes each."""
    told = {}
    for scenes in SCENES:
        with tempfile.TemporaryDirectory(dir=os.environ.get("UAVSIM_BENCH_FOLDER")) as folder:
            told[scenes] = in_own_process("assemble_many", folder, str(scenes))
            shutil.rmtree(Path(folder) / "v1.0-trainval", ignore_errors=True)
    few, many = (told[scenes] for scenes in SCENES)
    how = "scenes of 20 samples, 500 images and 3,300 boxes assembled by streaming from packed fragments"
    yield Row("assemble_1000_scenes_s", many["wall_s"], "s", f"1,000 {how}, {many['gigabytes']:.1f} GB of tables")
    yield Row("assemble_1000_scenes_cpu_s", many["cpu_s"], "s", f"1,000 {how}")
    yield Row("assemble_1000_scenes_peak_mb", many["peak_mb"], "MB", f"resident memory at most, 1,000 {how}")
    ratio = many["cpu_s"] / few["cpu_s"]
    yield Row("assemble_1000_to_250_ratio", ratio, "ratio", f"processor time, 1,000 to 250 {how}; linear is 4")
