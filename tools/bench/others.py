"""Ours beside two public writers, on the same frames and boxes: ``scripts/bench --only others --others FOLDER``.

FOLDER holds checkouts that whoever runs it has fetched: ``carla_nuscenes`` (GitHub cf206cd/carla_nuscenes) and
``nucarla-data`` (branch ``data`` of GitHub michigan-traffic-lab/nuCarla). Where one is missing its rows are left out.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tools.bench.rows import AS_CLIENT, Row, in_own_process, simulator

__all__ = ["CARLA_NUSCENES", "NUCARLA", "checkout", "growth", "rows"]

CARLA_NUSCENES: Final = "carla_nuscenes"
NUCARLA: Final = "nucarla-data"
_PROOF: Final = {CARLA_NUSCENES: "carla_nuscenes/dataset.py", NUCARLA: "annotation.py"}
SCENES: Final = (1, 2, 4, 20)
WHOLE: Final = SCENES[-1]
_TABLES: Final = "20 samples, 500 images and 3,300 boxes each, processor time of one core"


def checkout(others: Path | None, name: str) -> Path | None:
    """Return where a checkout lies; None where there is none, which is said."""
    found = others / name if others else None
    if found is not None and (found / _PROOF[name]).is_file():
        return found
    sys.stderr.write(f"others: no checkout of {name} below --others ({others}); its rows are left out\n")
    return None


def rows(others: Path | None) -> Iterator[Row]:
    """Compare tables with the one, images with both and with OpenCV's loop, labels of masks with the other."""
    carla_nuscenes, nucarla = checkout(others, CARLA_NUSCENES), checkout(others, NUCARLA)
    yield from _images(nucarla)
    if carla_nuscenes is not None:
        yield from _tables(carla_nuscenes)


def growth(seconds: Sequence[float], scenes: Sequence[int]) -> float:
    """Return the power of the number of scenes with which the time grows, by the last two runs: 1 is linear, 2 quadratic."""
    from math import log

    return log(seconds[-1] / seconds[-2]) / log(scenes[-1] / scenes[-2])


def _tables(carla_nuscenes: Path) -> Iterator[Row]:
    ours = {scenes: _ours(scenes) for scenes in SCENES}
    theirs = {scenes: _theirs(carla_nuscenes, scenes) for scenes in SCENES}
    for scenes in SCENES:
        yield Row(
            f"others_tables_{scenes}_scenes_ours",
            ours[scenes]["cpu_s"],
            "s",
            f"{scenes} scenes of {_TABLES}: assembling packed scenes, our own tables and both directions of links included",
        )
        yield Row(
            f"others_tables_{scenes}_scenes_ours_with_rows",
            ours[scenes]["whole_cpu_s"],
            "s",
            f"{scenes} scenes of {_TABLES}: tokens and rows of every scene, packing, assembling",
        )
        yield Row(
            f"others_tables_{scenes}_scenes_carla_nuscenes",
            theirs[scenes]["cpu_s"],
            "s",
            f"{scenes} scenes of {_TABLES}: its Dataset.update_* calls in its generator's order, save() after each scene; it "
            "writes no image, and its values are ready before the clock starts",
        )
    how = f"{WHOLE} scenes of {_TABLES}; both measured whole, nothing extrapolated"
    times = theirs[WHOLE]["cpu_s"]
    yield Row("others_tables_times_as_fast", times / ours[WHOLE]["cpu_s"], "x", f"{how}; ours assembles packed scenes")
    yield Row(
        "others_tables_times_as_fast_with_rows", times / ours[WHOLE]["whole_cpu_s"], "x", f"{how}; ours also makes rows"
    )
    for name, reported, key in (("carla_nuscenes", theirs, "cpu_s"), ("ours", ours, "whole_cpu_s")):
        power = growth([reported[scenes][key] for scenes in SCENES], SCENES)
        yield Row(f"others_tables_growth_{name}", power, "power", f"from {SCENES[-2]} to {WHOLE} scenes; linear is 1")


def _ours(scenes: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        reported = in_own_process("assemble_many", f"{folder}/packed", str(scenes))
        return reported | in_own_process("assemble_many", f"{folder}/whole", str(scenes), "--with-rows")


def _theirs(carla_nuscenes: Path, scenes: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return in_own_process("others_tables", str(carla_nuscenes), folder, str(scenes))


def _images(nucarla: Path | None) -> Iterator[Row]:
    with simulator("--town", "Town10HD", "--no-airsim") as running:
        more = ("--nucarla", str(nucarla)) if nucarla else ()
        reported = in_own_process("others_images", str(running.port), *more, variables=AS_CLIENT)
    for way, figures in reported["ways"].items():
        how = f"{figures['what']}; {reported['how']}"
        name = f"others_images_{way}"
        yield Row(f"{name}_ms_per_pair", figures["wall_ms"], "ms", f"wall clock: {how}")
        yield Row(f"{name}_cpu_ms_per_pair", figures["cpu_ms"], "ms", f"processor time: {how}")
    for way, times in reported["times"].items():
        yield Row(f"others_images_times_as_fast_{way}", times["wall"], "x", f"{times['what']}; {reported['how']}")
        yield Row(f"others_images_times_as_fast_{way}_cpu", times["cpu"], "x", f"processor time: {times['what']}")
