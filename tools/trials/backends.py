"""Fly every formation in every backend, and every weather, headless; each must end in a valid dataset.

    scripts/trial backends [FOLDER] [--only PATTERN] [--samples 2] [--jobs 1]

One line per run: backend, formation or weather, exit code, samples, findings, seconds. The runs use a rig of two small
cameras. A formation without room in Town10HD flies over another town. Ends with 0 only if all are
valid.
"""

import argparse
import fnmatch
import itertools
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.common import ROOT

TOPOLOGIES = ("carla", "bridge", "merged")
ROOMY = {"coperception": "Town07"}  # 40 m up: too low for Town10HD's towers
RIG = """width_px: 320
height_px: 180
fov_deg: 90
sensors: [rgb, instance]
cameras:
  FRONT: {pitch_deg: -45}
  BOTTOM: {pitch_deg: -90}
"""
DATASET = """description: One of everything.
seed: 7
version: v1.0-mini
towns:
  Town07: {routes: [town07_row3_col3], scenes: 1}
  Town10HD: {routes: [town10_row3_col3], scenes: 1}
samples: 2
keyframe_s: 0.5
formation: cross
rig: uav3d
weather: clear_noon
traffic: {vehicles: 60}
splits: {rest: uav_train}
"""


def names(kind: str) -> list[str]:
    """Name the files of ``flight_plans/<kind>``."""
    return sorted(p.stem for p in (ROOT / "flight_plans" / kind).glob("*.yaml"))


def rows() -> list[tuple[str, str, str]]:
    """Return (backend, option, name)."""
    flown = [(t, "formation", f) for t, f in itertools.product(TOPOLOGIES, names("formations"))]
    lit = [(t, "weather", w) for t, w in itertools.product(("carla", "merged"), names("weather"))]
    return flown + lit


def fly(row: tuple[str, str, str], folder: Path, samples: int) -> bool:
    """Run one backend with one formation or weather, and print the result."""
    topology, option, name = row
    town = ROOMY.get(name, "Town10HD")
    out, log = folder / "_".join(row), folder / ("_".join(row) + ".log")
    command = [sys.executable, "-m", "uavsim", "generate", "--dataset", str(folder / "everything.yaml")]
    command += ["--town", town, "--samples", str(samples), "--rig", str(folder / "rig.yaml")]
    command += ["--topology", topology, f"--{option}", name, "--out", str(out)]
    began = time.monotonic()
    with log.open("w") as sink:
        code = subprocess.run(command, cwd=ROOT, stdout=sink, stderr=subprocess.STDOUT, check=False).returncode
    outcome = [line for line in log.read_text().splitlines() if line.startswith(("valid", "not valid", "Error"))]
    last = outcome[-1] if outcome else (log.read_text().splitlines() or ["no output"])[-1]
    good = code == 0 and any(line.startswith("valid") for line in outcome)
    seconds = time.monotonic() - began
    print(
        f"{'good' if good else 'BAD '} {topology:7}{option:10}{name:16}{town:9} exit {code} {seconds:4.0f} s  {last[:90]}",
        flush=True,
    )
    return good


def main() -> int:
    """Run all combinations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", default="*", help="pattern of 'SETUP formation|weather NAME'")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="uavsim-all-"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rig.yaml").write_text(RIG)
    (folder / "everything.yaml").write_text(DATASET)
    selected = [row for row in rows() if fnmatch.fnmatch(" ".join(row), options.only)]
    with ThreadPoolExecutor(options.jobs) as pool:
        good = list(pool.map(lambda row: fly(row, folder, options.samples), selected))
    print(f"{sum(good)} of {len(good)} valid; in {folder}")
    return 0 if all(good) else 1
