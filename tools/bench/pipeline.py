"""Cost of an image's way through the client beside its encoding, with no simulator: captures are kept in memory.

``python -m tools.bench.pipeline PORT [--captures N]`` takes captures from a simulator and prints seconds of both ways.

*Pipeline* is ``record_scene`` as a run calls it: masks are taken apart and bound to actors, boxes are measured in them, images
are encoded and written, the log at the end. *Encoder* is ``Modality.encode`` of the same arrays, masks taken apart and bound
before the clock starts, in as many threads of the same priority, and nothing else.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from tools.bench.frames import Kept, keep, plan_of, quiet
from tools.bench.rows import AS_CLIENT, Row, in_own_process, simulator
from uavsim.annotate.measure import SceneMeasurement
from uavsim.capture import recording_writer
from uavsim.capture.assemble import Capture
from uavsim.capture.record import record_scene
from uavsim.capture.recording_writer import yield_to_client
from uavsim.records.modalities import modality
from uavsim.records.plan import ImageFormat

__all__ = ["rows", "shares"]

KEPT: Final = 4
CAPTURES: Final = 16  # a run: the kept ones again and again
TURNS: Final = 5
THREADS: Final = 2  # of the recording's writer
FORMATS: Final = ("png", "jpeg")
_FOLDER: Final = os.environ.get("UAVSIM_BENCH_FOLDER")
Seconds = dict[str, dict[str, list[float]]]
"""Wall and processor seconds of each turn, by way."""


def rows() -> Iterator[Row]:
    """Compare the two, with and without writing."""
    for kind in FORMATS:
        with simulator("--town", "Town10HD", "--no-airsim") as running:
            reported = in_own_process("pipeline", str(running.port), "--images", kind, variables=AS_CLIENT)
        yield from _rows(reported, kind, "" if kind == "png" else f"_{kind}")


def _rows(reported: Seconds, kind: str, suffix: str) -> Iterator[Row]:
    how = (
        f"{CAPTURES} captures of 25 rendered RGB and 25 masks of 800x450 from memory, {kind}, {THREADS} threads, "
        f"{TURNS} turns of each way in one process, median of the turns' ratios"
    )
    ways = {
        "": ("encoder", "pipeline", "pipeline assembles, measures, encodes and writes; encoder encodes alone"),
        "_both_write": ("encoder+write", "pipeline", "both write their files"),
        "_none_writes": ("encoder", "pipeline-write", "neither writes"),
    }
    for name, (encoder, pipeline, what) in ways.items():
        for clock in ("wall", "cpu"):
            end = "" if clock == "wall" else "_cpu"
            share = shares(reported[encoder][clock], reported[pipeline][clock])
            seconds = "seconds" if clock == "wall" else "processor seconds"
            yield Row(f"pipeline_share_of_encoder{name}{end}{suffix}", share, "share", f"{seconds}; {what}; {how}")
    for way in ("encoder", "pipeline"):
        pairs_per_s = 25 * CAPTURES / statistics.median(reported[way]["wall"])
        yield Row(f"{way}_pairs_per_s{suffix}", pairs_per_s, "pairs/s", how)


def shares(encoder_s: list[float], pipeline_s: list[float]) -> float:
    """Return how fast the pipeline is, of the encoder's speed: the median over turns that ran next to each other."""
    return statistics.median(one / other for one, other in zip(encoder_s, pipeline_s, strict=True))


def main() -> None:
    """Take the captures, then measure in turns."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--images", default="png", choices=FORMATS)
    options = parser.parse_args()
    kept = keep(options.port, KEPT)
    reported = measured(kept, options.images)
    sys.stdout.write(json.dumps(reported) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors


def measured(kept: Kept, kind: str) -> Seconds:
    """Run each way in turn; the first turn warms up and is left out."""
    plan = plan_of(len(kept.frames), images=kind)
    captures = [capture for joined in kept.captures(plan) for capture in joined]
    captures = [captures[k % len(captures)] for k in range(25 * CAPTURES)]
    ways: dict[str, Callable[[Path], None]] = {
        "encoder": lambda _: encode(captures, plan.images, None),
        "pipeline": lambda folder: record(kept, folder, kind),
        "encoder+write": lambda folder: encode(captures, plan.images, folder),
        "pipeline-write": lambda folder: record(kept, folder, kind, writing=False),
    }
    reported: Seconds = {name: {"wall": [], "cpu": []} for name in ways}
    # Nothing is deleted between the turns: ext4 makes files slowly for minutes after others were.
    with tempfile.TemporaryDirectory(dir=_FOLDER) as work:
        for turn in range(TURNS + 1):
            for number, (name, way) in enumerate(ways.items()):
                folder = Path(work, f"{turn}_{number}")
                folder.mkdir()
                wall, cpu = time.perf_counter(), time.process_time()
                way(folder)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                if turn:
                    reported[name]["wall"].append(wall)
                    reported[name]["cpu"].append(cpu)
    return reported


def record(kept: Kept, folder: Path, kind: str, *, writing: bool = True) -> None:
    """Record a scene of the kept captures as the client worker does."""
    plan = plan_of(CAPTURES, images=kind)
    nowhere: AbstractContextManager[Any] = patch.object(recording_writer, "_write_file", lambda _path, _data: None)
    with nullcontext() if writing else nowhere:
        record_scene(
            kept.session(plan),
            plan,
            folder / "recording",
            heartbeat=quiet,
            sample_taken=quiet_samples,
            measure=SceneMeasurement,
        )


def quiet_samples(_samples: int, _images: int) -> None:
    """Hear of a capture, and do nothing."""


def encode(captures: list[Capture], images: ImageFormat, folder: Path | None) -> None:
    """Encode every array, a camera's at a time, and write it where there is a folder."""

    def camera(number: int, capture: Capture) -> None:
        for name, value in capture.data.items():
            data = modality(name).encode(value, images)
            if folder is not None:
                (folder / f"{number}_{name}").write_bytes(data)

    with ThreadPoolExecutor(THREADS, initializer=yield_to_client) as threads:
        for done in [threads.submit(camera, number, capture) for number, capture in enumerate(captures)]:
            done.result()


if __name__ == "__main__":
    main()
