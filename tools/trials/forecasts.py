"""Forecast runs of several kinds, do them, and say how far the forecasts were off.

    scripts/trial forecasts [--only NAME] [--work FOLDER]

The runs differ in town, number of simulators, image format and shutters. Time and the time of simulators have to be within
20 %, disk within 10 %: exit code 1 where one is not. Both are measured on the same machine, one after the other; what runs
beside them counts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uavsim.typing import JsonDict

MOST_TIME_OFF: Final = 0.20
MOST_DISK_OFF: Final = 0.10
DATASET: Final = """
description: A run to forecast.
seed: 21
version: v1.0-mini
towns:
  TOWN: {scenes: SCENES}
samples: SAMPLES
keyframe_s: 1
formation: cross
rig: RIG
images: {format: FORMAT}
weather: clear_noon
traffic: {vehicles: 100}
splits: {rule: uav3d}
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One run that is forecast and done."""

    name: str
    town: str
    scenes: int
    samples: int
    format: str
    simulators: int
    rig: str = "uav3d"

    def arguments(self, work: Path) -> list[str]:
        """Write the dataset's YAML; return what names the run, for ``plan`` and for ``generate``."""
        values = {
            "TOWN": self.town,
            "SCENES": self.scenes,
            "SAMPLES": self.samples,
            "FORMAT": self.format,
            "RIG": self.rig,
        }
        text = DATASET
        for key, value in values.items():
            text = text.replace(key, str(value))
        path = work / f"{self.name}.yaml"
        path.write_text(text, encoding="utf-8")
        return ["--dataset", str(path), "--out", str(work / self.name), *(["--simulator", "mock"] * self.simulators)]


RUNS: Final = (
    Run("png", "Town10HD", scenes=6, samples=10, format="png", simulators=1),
    Run("jpeg", "Town07", scenes=6, samples=10, format="jpeg", simulators=1),
    Run("shutter", "Town10HD", scenes=6, samples=10, format="png", simulators=1, rig="rolling"),
    Run("two", "Town03", scenes=8, samples=10, format="png", simulators=2),
)


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=[run.name for run in RUNS])
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-forecasts-"))
    good = True
    for run in RUNS:
        if options.only in (None, run.name):
            good = _compare(run, work) and good
    return 0 if good else 1


def _compare(run: Run, work: Path) -> bool:
    arguments = run.arguments(work)
    reported = _json("plan", *arguments, "--forecast")
    took = _json("generate", *arguments)
    time_off = float(reported["seconds"]) / float(took["seconds"]) - 1
    disk_off = float(reported["size_bytes"]) / _size_of(work / run.name) - 1
    kept_off = float(reported["simulator_hours"]) / float(took["simulator_hours"]) - 1
    is_good = max(abs(time_off), abs(kept_off)) <= MOST_TIME_OFF and abs(disk_off) <= MOST_DISK_OFF
    sys.stdout.write(
        f"{run.name}: {run.town}, {run.scenes} x {run.samples} samples, {run.rig}, {run.format}, "
        f"{run.simulators} simulator(s): "
        f"forecast {reported['seconds']:.0f} s, took {took['seconds']:.0f} s ({time_off:+.0%}), simulators {kept_off:+.0%}; "
        f"forecast {reported['size_bytes'] / 1e6:.0f} MB, holds {_size_of(work / run.name) / 1e6:.0f} MB ({disk_off:+.0%}); "
        f"the forecast itself took {reported['probe_s']:.0f} s: {'good' if is_good else 'NOT GOOD'}\n"
    )
    sys.stdout.flush()
    return is_good


def _json(*arguments: str) -> JsonDict:
    done = subprocess.run(
        [sys.executable, "-m", "uavsim", *arguments, "--json"], check=True, stdout=subprocess.PIPE, text=True
    )
    found: JsonDict = json.loads(done.stdout)
    return found


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
