"""Ask UAV3D's own code for its AP of 200 cases with tied scores, under several versions of numpy, and hold ours against each.

    scripts/trial uav3d-ties CHECKOUT --python PYTHON [--python PYTHON ...]

UAV3D sorts by ``np.argsort(-score)``, whose order of ties is numpy's and the processor's. Mode `official` must equal what the
numpy says that UAV3D's install.md pins, 1.22.3, in every case; of the others it reports in how many cases AP is the same,
and how far it is off. Ends with 4 where a case differs under 1.22.3, or no PYTHON has it.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from evaluate import overlap_cases
from tools.common import ROOT
from uavsim_benchmarks.evaluate.uav3d import IouCounter

PINNED: Final = "1.22.3"
SAME: Final = 1e-9
CASES: Final = 200
_VERSION: Final = "import numpy; print(numpy.__version__)"


def main() -> int:
    """Ask each interpreter, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", action="append", required=True, help="an interpreter with numpy; repeat for more")
    options = parser.parse_args()
    cases = overlap_cases.tied_cases(CASES)
    ours = np.array([_ours(case) for case in cases])
    empty = sum(any(not sample["found"] for sample in case["samples"]) for case in cases)
    print(
        f"{CASES} cases, {empty} of them with a sample without detections; AP by official {ours.mean():.4f} in the mean"
    )
    driver = ROOT / "packages/benchmarks/reference/uav3d_reference.py"
    equal_to_pinned: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "cases.json"
        asked.write_text(json.dumps(cases))
        for python in options.python:
            version = subprocess.run(
                [python, "-c", _VERSION], stdout=subprocess.PIPE, text=True, check=True
            ).stdout.strip()
            command = [python, "-W", "ignore", str(driver), str(options.checkout.resolve()), str(asked)]
            theirs = np.array(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
            off = np.abs(ours - theirs)
            print(f"numpy {version}: {int((off <= SAME).sum())} of {CASES} as official, at most {off.max():.4f} off")
            if version == PINNED:
                equal_to_pinned.append(bool((off <= SAME).all()))
    return 0 if equal_to_pinned and all(equal_to_pinned) else 4


def _ours(case: overlap_cases.Case) -> float:
    counter = IouCounter()
    counter.add(*overlap_cases.as_boxes(case))
    return counter.scores()[f"ap_{case['iou']}"]
