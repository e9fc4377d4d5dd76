"""Size and time of what shows a dataset: the report of 1,000 scenes, the recording of 400 samples of 25 cameras.

The datasets are made-up streets, made once and named anew for each scene; their images carry noise, so that a JPEG of them is
about as large as one of a photograph.
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from tools.bench.rows import Row
from tools.common.factories import make_recording
from uavsim.access import open_folder
from uavsim.annotate import annotate
from uavsim.dataset import assemble, final_paths, pack_fragment, scene_fragment
from uavsim.images import codec
from uavsim.records.recording import Recording
from uavsim.viewing.report import ReportRequest, write_report
from uavsim.viewing.view import ViewRequest, write_recording

SCENES = 1000
SAMPLES, SAMPLES_OF_SCENE = 400, 4
MOST_MB, MOST_S = 200.0, 5.0
_BROWSER = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
)


def rows() -> Iterator[Row]:
    """Give sizes, and seconds to write and to open."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _report(Path(folder))
        yield from _recording(Path(folder))


def _report(folder: Path) -> Iterator[Row]:
    seed = make_recording(folder / "seed", samples=2, sweeps=1, drones=2)
    data = open_folder(_repeated(seed, folder / "many", scenes=SCENES))
    page, cpu = folder / "report.html", time.process_time()
    size = write_report(data, page, ReportRequest())
    cpu = time.process_time() - cpu
    how = f"uavsim report of {SCENES:,} scenes of 2 samples, 10 cameras"
    yield Row("report_1000_scenes_mb", size / 1e6, "MB", f"{how}; at most {MOST_MB:g}")
    yield Row("report_1000_scenes_cpu_s", cpu, "s", f"{how}, tables validated")
    browser = next(filter(None, map(shutil.which, _BROWSER)), None)
    if browser is not None:
        opened = _opened_s(browser, page, folder)
        yield Row("report_1000_scenes_open_s", opened, "s", f"{how} drawn by {Path(browser).name}, its start included")


def _recording(folder: Path) -> Iterator[Row]:
    seed = make_recording(folder / "large", samples=SAMPLES_OF_SCENE, sweeps=1, drones=5, size_px=(800, 450))
    _add_noise(seed)
    data = open_folder(_repeated(seed, folder / "viewed", scenes=SAMPLES // SAMPLES_OF_SCENE))
    path, cpu = folder / "view.rrd", time.process_time()
    summary = write_recording(data, path, ViewRequest())
    cpu = time.process_time() - cpu
    how = f"uavsim view of {summary.samples} samples, {summary.images:,} images of 800x450 with noise"
    yield Row("recording_400_samples_mb", path.stat().st_size / 1e6, "MB", f"{how}; at most {MOST_MB:g}")
    yield Row("recording_400_samples_cpu_s", cpu, "s", how)
    from rerun.chunk import RrdReader  # only here: the viewer is an extra

    began = time.perf_counter()
    chunks = sum(1 for _ in RrdReader(path).stream())
    yield Row(
        "recording_400_samples_read_s", time.perf_counter() - began, "s", f"all {chunks} chunks by Rerun's reader"
    )


def _repeated(seed: Recording, root: Path, *, scenes: int) -> Path:
    """Make a dataset whose scenes are one recording under many names; image files are hard links."""
    fragments = []
    for n in range(scenes):
        plan = replace(
            seed.plan,
            scene_name=f"scene_{n:04d}",
            scene_index=n,
            start_timestamp_us=seed.plan.start_timestamp_us + n * 10**8,
        )
        shift_us = plan.start_timestamp_us - seed.plan.start_timestamp_us
        frames = tuple(replace(frame, timestamp_us=frame.timestamp_us + shift_us) for frame in seed.frames)
        recording = replace(seed, plan=plan, frames=frames)
        fragments.append(pack_fragment(scene_fragment(annotate(recording))))
        for old, new in final_paths(recording).items():
            (root / new).parent.mkdir(parents=True, exist_ok=True)
            (root / new).hardlink_to(seed.folder / old)
    assemble(root, fragments)
    return root


def _add_noise(recording: Recording) -> None:
    rng = np.random.default_rng(1)
    for frame in recording.frames:
        for shot in frame.cameras:
            path = recording.folder / shot.files["rgb"]
            pixels = codec.decode_rgb(path).astype(np.int16)
            coarse = rng.integers(-30, 31, size=(pixels.shape[0] // 5, pixels.shape[1] // 5, 1), dtype=np.int16)
            noisy = pixels + coarse.repeat(5, axis=0).repeat(5, axis=1)
            path.write_bytes(codec.encode_png(noisy.clip(0, 255).astype(np.uint8)))


def _opened_s(browser: str, page: Path, folder: Path) -> float:
    began = time.perf_counter()
    command = [
        browser,
        *_FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        f"--screenshot={folder / 'page.png'}",
        page.as_uri(),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return time.perf_counter() - began
