"""Score overlaps and count communication with Where2comm's own, unmodified code; prints one JSON object.

    PYTHON judge/where2comm_reference.py CHECKOUT CASES

PYTHON has torch, shapely and PyYAML. CHECKOUT is a folder of https://github.com/MediaBrain-SJTU/Where2comm. CASES is
{"overlap": [[{"truth": (G, 4, 2), "found": (P, 4, 2), "score": (P,)}, ...frames], ...], "communication": [{"logits": (agents,
anchors, H, W), "threshold", "smooth": null or [size, sigma]}, ...]}.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

THRESHOLDS = (0.3, 0.5, 0.7)


def main() -> int:
    """Print the AP of each overlap case by threshold, and the rate of each communication case."""
    sys.path.insert(0, sys.argv[1])
    torch = importlib.import_module("torch")
    evaluation = importlib.import_module("opencood.utils.eval_utils")
    where2comm = importlib.import_module("opencood.models.comm_modules.where2comm")
    cases = json.loads(Path(sys.argv[2]).read_text())
    told = {
        "overlap": [_average_precisions(torch, evaluation, frames) for frames in cases["overlap"]],
        "communication": [_rate(torch, where2comm, case) for case in cases["communication"]],
    }
    json.dump(told, sys.stdout)
    return 0


def _average_precisions(torch: Any, evaluation: Any, frames: list[dict[str, Any]]) -> list[float]:
    counts: dict[float, dict[str, Any]] = {at: {"tp": [], "fp": [], "gt": 0} for at in THRESHOLDS}
    for frame in frames:
        truth = torch.tensor(frame["truth"], dtype=torch.float64).reshape(-1, 4, 2)
        found = torch.tensor(frame["found"], dtype=torch.float64).reshape(-1, 4, 2) if frame["found"] else None
        score = torch.tensor(frame["score"], dtype=torch.float64)
        for at in THRESHOLDS:
            evaluation.caluclate_tp_fp(found, score, truth, counts, at)
    return [float(evaluation.calculate_ap(counts, at)[0]) for at in THRESHOLDS]


def _rate(torch: Any, where2comm: Any, case: dict[str, Any]) -> float:
    arguments: dict[str, Any] = {"thre": case["threshold"]}
    if case["smooth"]:
        arguments["gaussian_smooth"] = {"k_size": case["smooth"][0], "c_sigma": case["smooth"][1]}
    logits = torch.tensor(case["logits"], dtype=torch.float32)
    agents = len(logits)
    with torch.no_grad():
        _, _, rate = where2comm.Communication(arguments)([logits], [agents], torch.zeros(1, agents, agents, 2, 3))
    return float(rate.item())


if __name__ == "__main__":
    sys.exit(main())
