"""Score overlaps and count communication with Where2comm's own, unmodified code; prints one JSON object.

    PYTHON where2comm_reference.py CHECKOUT CASES

PYTHON has shapely, PyYAML and torch. Without torch, out of which overlaps only take arrays, communication is null. CHECKOUT
is a folder of https://github.com/MediaBrain-SJTU/Where2comm. CASES is {"overlap": [[{"truth": (G, 4, 2), "found": (P, 4, 2),
"score": (P,)}, ...frames], ...], "communication": [{"logits": (agents, anchors, H, W), "threshold", "smooth": null or [size,
sigma]}, ...]}.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

THRESHOLDS = (0.3, 0.5, 0.7)


def main() -> int:
    """Print the AP of each overlap case by threshold, and the rate of each communication case."""
    sys.path.insert(0, sys.argv[1])
    torch = _torch()
    evaluation = importlib.import_module("opencood.utils.eval_utils")
    cases = json.loads(Path(sys.argv[2]).read_text())
    answers = {
        "overlap": [_average_precisions(evaluation, frames) for frames in cases["overlap"]],
        "communication": torch and [_rate(torch, case) for case in cases["communication"]],
    }
    json.dump(answers, sys.stdout)
    return 0


class _Tensor:
    """Stub of a torch tensor with the attributes that the scoring uses."""

    is_cuda = False

    def __init__(self, values: Any, *shape: int) -> None:
        self._array = np.array(values, dtype=np.float64).reshape(*shape)
        self.shape = self._array.shape

    def numpy(self) -> Any:
        return self._array


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except (ImportError, OSError, ValueError):  # absent, or without the libraries that it loads
        for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
            del sys.modules[name]
        sys.modules["torch"] = types.ModuleType("torch")
        return None


def _average_precisions(evaluation: Any, frames: list[dict[str, Any]]) -> list[float]:
    counts: dict[float, dict[str, Any]] = {threshold: {"tp": [], "fp": [], "gt": 0} for threshold in THRESHOLDS}
    for frame in frames:
        truth, score = _Tensor(frame["truth"], -1, 4, 2), _Tensor(frame["score"], -1)
        found = _Tensor(frame["found"], -1, 4, 2) if frame["found"] else None
        for threshold in THRESHOLDS:
            evaluation.caluclate_tp_fp(found, score, truth, counts, threshold)
    return [float(evaluation.calculate_ap(counts, threshold)[0]) for threshold in THRESHOLDS]


def _rate(torch: Any, case: dict[str, Any]) -> float:
    where2comm = importlib.import_module("opencood.models.comm_modules.where2comm")
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
