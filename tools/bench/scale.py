"""How much faster two and four simulators are than one: the flights of ``scripts/scale_test``."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.bench.rows import Row
from tools.trials.scale import compared

COUNTS: Final = (1, 2, 4)
SCENES: Final = 12
LATENCY_MS: Final = 40.0


def rows() -> Iterator[Row]:
    """Fly the same scenes with each number of simulators."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            told = compared(COUNTS, latency_ms=LATENCY_MS, scenes=SCENES, work=Path(folder))
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"uavsim generate ended with code {error.returncode}") from error
    how = (
        f"{SCENES} scenes of 6 samples, 20 flat images a capture and {LATENCY_MS:g} ms an image, from first take-off to last "
        "commit"
    )
    yield Row("scale_1_images_per_s", told.paces[1], "images/s", how)
    for count in COUNTS[1:]:
        yield Row(f"scale_{count}_times_one", told.paces[count] / told.paces[1], "x", f"{count} simulators; {how}")
    yield Row("scale_files_differ", told.differing, "files", f"tables and masks, against those of one simulator; {how}")
