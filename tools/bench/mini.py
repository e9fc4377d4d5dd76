"""Scenes of the mini split as a run leaves them, labelled and validated again: ``validate-mini`` and ``labels``."""

import atexit
import functools
import itertools
import json
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from tools.bench.cost import watched
from tools.bench.rows import AS_CLIENT, Row, in_own_process
from uavsim.annotate import annotate
from uavsim.capture.recording_reader import read_recording
from uavsim.dataset import final_paths, pack_fragment, scene_fragment
from uavsim.records.recording import Recording, SensorReading

__all__ = ["labels", "marginal", "validate"]

SCENES, SAMPLES = 2, 20
FEW_SAMPLES: Final = 2  # of the small dataset, whose cost is nearly all start-up
TURNS: Final = 3
MINI_IMAGES: Final = 10_000


@functools.cache
def _flown(scenes: int, samples: int) -> Path:
    """Generate scenes of the mini split once; removed when this process ends."""
    work = Path(tempfile.mkdtemp(prefix="uavsim-bench-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    words = ("--dataset", "uav3d-mini", "--scenes", f"0-{scenes - 1}", "--samples", str(samples), "--no-check")
    watched(("generate", *words, "--out", f"{work}/out"), work / "log")
    return work / "out"


def marginal(few: float, many: float, *, few_images: int, many_images: int) -> float:
    """Return what one image more costs: what every run costs alike is left out."""
    return (many - few) / (many_images - few_images)


def validate() -> Iterator[Row]:
    """Validate a small and a large dataset by turns, and say what the mini split comes to."""
    few, many = _flown(1, FEW_SAMPLES), _flown(SCENES, SAMPLES)
    few_images, many_images = FEW_SAMPLES * 25, SCENES * SAMPLES * 25
    wall_s, cpu_s = [], []
    for _ in range(TURNS):
        reported = [_validated(out) for out in (few, many)]
        wall_s.append([wall for wall, _ in reported])
        cpu_s.append([cpu for _, cpu in reported])
    images = {"few_images": few_images, "many_images": many_images}
    of_wall = statistics.median(marginal(*pair, **images) for pair in wall_s)
    of_cpu = statistics.median(marginal(*pair, **images) for pair in cpu_s)
    how = (
        f"uavsim validate, every pixel of {many_images} images of 800x450 and their masks less those of {few_images}, "
        f"median of {TURNS} turns, files in the page cache"
    )
    yield Row("validate_cpu_ms_per_pair", 1e3 * of_cpu, "ms", f"processor time of all processes: {how}")
    yield Row("validate_wall_ms_per_pair", 1e3 * of_wall, "ms", f"two worker processes: {how}")
    start_s = statistics.median(wall for wall, _ in wall_s) - few_images * of_wall
    scaled = f"wall clock of two worker processes; what one image more costs, times {MINI_IMAGES:,}: {how}"
    yield Row(
        "validate_10000_pairs_s", start_s + MINI_IMAGES * of_wall, "s", f"start-up and tables' fixed part + {scaled}"
    )
    yield Row(
        "validate_start_s",
        start_s,
        "s",
        f"what a run costs beside its images, the first scene's tables included: {how}",
    )
    yield Row(
        "validate_1000_pairs_s",
        statistics.median(wall for _, wall in wall_s),
        "s",
        f"measured whole: {many_images} pairs",
    )


def _validated(out: Path) -> tuple[float, float]:
    before = _children_s()
    wall_s, _ = watched(("validate", str(out), "--quiet"), out.parent / "validate.log")
    return wall_s, _children_s() - before


def _children_s() -> float:
    """Return the processor seconds of all processes that were begun here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def labels() -> Iterator[Row]:
    """Label a recorded scene of the mini split again, with what was counted in flight and without."""
    reported = in_own_process("mini", str(_flown(SCENES, SAMPLES)), variables=AS_CLIENT)
    for name, what in (("", "counted in flight, as in a run"), ("_from_masks", "counted again in the masks' files")):
        how = f"a scene of the mini split, {SAMPLES} samples with 25 masks {what}; one core's processor time, {TURNS} turns"
        whole = [sum(seconds) for seconds in reported[name]]
        yield Row(
            f"labels_samples_per_core_s{name}",
            SAMPLES / statistics.median(whole),
            "samples/s",
            f"annotate, rows, packing: {how}",
        )
        alone = [seconds[0] for seconds in reported[name]]
        yield Row(
            f"annotate_samples_per_core_s{name}", SAMPLES / statistics.median(alone), "samples/s", f"annotate: {how}"
        )


def main() -> None:
    """Print the seconds of labelling a dataset's first scene, turn by turn: labels, rows of tables, packing."""
    recording = _committed(Path(sys.argv[1]), scene=0)
    blind = replace(recording, frames=tuple(replace(frame, measured=None) for frame in recording.frames))
    ways = {"": recording, "_from_masks": blind}
    reported: dict[str, list[list[float]]] = {name: [] for name in ways}
    for turn in range(TURNS + 1):
        for name, of in ways.items():
            seconds = _labelled(of)
            if turn:  # the first one compiles, and reads the files into the page cache
                reported[name].append(seconds)
    sys.stdout.write(json.dumps(reported) + "\n")


def _committed(out: Path, *, scene: int = 0) -> Recording:
    """Read a committed scene's recording, whose images lie where the dataset has them."""
    recording = read_recording(sorted((out / ".uavsim" / "recordings").iterdir())[scene])
    moved = final_paths(recording)

    def at_home(shot: SensorReading) -> SensorReading:
        return replace(shot, files={name: moved[path] for name, path in shot.files.items()})

    frames = tuple(replace(frame, readings=tuple(map(at_home, frame.readings))) for frame in recording.frames)
    return replace(recording, folder=out, frames=frames)


def _labelled(recording: Recording) -> list[float]:
    times = [time.process_time()]
    found = annotate(recording)
    times.append(time.process_time())
    rows = scene_fragment(found)
    times.append(time.process_time())
    pack_fragment(rows)
    times.append(time.process_time())
    return [after - before for before, after in itertools.pairwise(times)]


if __name__ == "__main__":
    main()
