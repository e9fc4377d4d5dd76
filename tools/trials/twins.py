"""Prove occlusion labels by twins: what was hidden is seen where the named occluder is gone, and nothing else changes.

    scripts/trial twins [FOLDER] [--labels 200] [--samples 60] [--seed 11]

Two scenes of dense traffic, seen from low drones at a flat angle. One twin hides every actor that a label names as occluder.
Of random occlusion labels, the object's pixels in the twin must be what the label says that it would have with nothing in
front (to a fifth, or 5 pixels); of random controls, objects that nothing hides, the pixels must be the same to the last.
Prints the shares; ends with 0 only if 99 % of the labels and all controls hold.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from tools.common.program import run_uavsim
from tools.common.small_dataset import write_plans
from uavsim.annotate.occluders import Occlusion, occlusions
from uavsim.annotate.relocate import in_dataset
from uavsim.capture.recording_reader import read_recording

RIG: Final = """
width_px: 640
height_px: 360
fov_deg: 70
sensors: [rgb, instance]
cameras:
  FRONT: {pitch_deg: -20}
  BACK: {pitch_deg: -20, yaw_deg: 180}
"""
DATASET: Final = """
description: Dense traffic at a flat angle, for twins.
seed: 11
version: v1.0-mini
towns:
  Town07: {routes: [town07_row3_col3, town07_row2_col3], scenes: 2}
samples: 40
keyframe_s: 0.5
formation: cross
altitude_m: 25
rig: flat
weather: clear_noon
traffic: {vehicles: 120, label_parked: true}
splits: {rest: uav_train}
"""
NOTHING_HIDDEN: Final = 0.02


def labels_of(root: Path) -> dict[tuple[str, int, str, int], Occlusion]:
    """Return what every image of a dataset shows of every box."""
    found = {}
    for folder in sorted((root / ".uavsim/recordings").iterdir()):
        recording = in_dataset(read_recording(folder), root)
        for reported in occlusions(recording):
            found[(folder.name, reported.sample_index, reported.channel, reported.instance_id)] = reported
    return found


def main() -> int:
    """Make the dataset and its twin, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--seed", type=int, default=11, help="of the flight and its traffic")
    options = parser.parse_args()
    work = (options.folder or Path(tempfile.mkdtemp(prefix="uavsim-twins-"))).resolve()
    write_plans(work, name="twins", dataset=DATASET.replace("seed: 11", f"seed: {options.seed}"))
    (work / "flight_plans/rigs/flat.yaml").write_text(RIG)
    source, out = work / "source", work / "twins"
    words = ("--dataset", "twins", "--samples", str(options.samples))
    flown = run_uavsim("generate", *words, "--out", str(source), cwd=work)
    shown = run_uavsim("twins", str(source), "--out", str(out), "--occluders", cwd=work)
    rng = np.random.default_rng(0)
    causes = json.loads((out / "occlusion_cause.json").read_text())
    picked = [causes[i] for i in rng.permutation(len(causes))[: options.labels]]
    good = sum(row["proven"] for row in picked)
    before, after = labels_of(source), labels_of(out / "without-occluders")
    still = [
        k
        for k, o in before.items()
        if k in after and not o.occluder and o.hidden_share < NOTHING_HIDDEN and o.visible_px
    ]
    controls = [still[i] for i in rng.permutation(len(still))[: options.labels]]
    same = sum(before[key].visible_px == after[key].visible_px for key in controls)
    print(f"occlusion labels proven: {good} of {len(picked)} (of {len(causes)} with a twin)")
    print(f"controls unchanged: {same} of {len(controls)} (of {len(still)})")
    print(f"{flown.seconds:.0f} s flown, {shown.seconds:.0f} s for the twin")
    enough = len(picked) == len(controls) == options.labels
    return 0 if enough and good >= 0.99 * len(picked) and same == len(controls) else 4
