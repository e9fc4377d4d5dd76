"""Score overlaps with UAV3D's own, unmodified ``projects/mean_ap.py``; prints one JSON list of AP.

    .venv-judge/bin/python uav3d_reference.py CHECKOUT CASES

CHECKOUT is a folder of https://github.com/huiyegit/UAV3D. CASES is a JSON list of {"iou", "samples": [{"truth": [[cx, cy, sx,
sy]], "found": [[cx, cy, sx, sy, score]]}]}. mmcv, terminaltables and torch, which the functions called here do
not need, are stood in for.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np


def main() -> int:
    """Print the AP of each case."""
    vars(np)["bool"] = bool  # it is older than numpy 1.24
    for name in ("mmcv", "mmcv.utils", "terminaltables", "torch"):
        sys.modules[name] = types.ModuleType(name)
    vars(sys.modules["mmcv.utils"])["print_log"] = print
    vars(sys.modules["terminaltables"])["AsciiTable"] = object
    sys.path.insert(0, str(Path(sys.argv[1]) / "perception" / "bevfusion"))
    mean_ap = importlib.import_module("projects.mean_ap")

    answers = []
    for case in json.loads(Path(sys.argv[2]).read_text()):
        found = [[_corners(sample["found"], 5)] for sample in case["samples"]]
        truth = [
            {"bboxes": _corners(sample["truth"], 4), "labels": np.zeros(len(sample["truth"]), int)}
            for sample in case["samples"]
        ]
        answers.append(mean_ap.eval_map(found, truth, iou_thr=case["iou"], logger="silent", nproc=1)[0])
    json.dump(answers, sys.stdout)
    return 0


def _corners(rows: list[list[float]], columns: int) -> Any:
    boxes = np.array(rows, dtype=np.float64).reshape(-1, columns)
    x0, x1 = boxes[:, 0] - boxes[:, 2] / 2, boxes[:, 0] + boxes[:, 2] / 2
    y0, y1 = boxes[:, 1] - boxes[:, 3] / 2, boxes[:, 1] + boxes[:, 3] / 2
    return np.stack([x0, y0, x0, y1, x1, y1, x1, y0, *boxes[:, 4:].T], axis=1)


if __name__ == "__main__":
    sys.exit(main())
