"""Score many results with the unmodified devkit; prints one JSON list.

    .venv-judge/bin/python reference_scores.py DATAROOT VERSION CASES

CASES is a JSON list of {"task", "split", "results", "range_m": null or metres}. Each answer is the devkit's own summary, or
{"error": ...} where it ends.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import devkit_metrics
from nuscenes.eval.common.config import config_factory
from nuscenes.eval.detection.data_classes import DetectionConfig
from nuscenes.eval.detection.evaluate import DetectionEval
from nuscenes.eval.tracking.data_classes import TrackingConfig
from nuscenes.eval.tracking.evaluate import TrackingEval
from nuscenes.nuscenes import NuScenes


def main() -> int:
    """Print the devkit's summaries."""
    root, version, cases = Path(sys.argv[1]), sys.argv[2], json.loads(Path(sys.argv[3]).read_text())
    with devkit_metrics.prints_to_stderr():
        nusc = NuScenes(version=version, dataroot=str(root), verbose=False)
        answers = [_score(nusc, case) for case in cases]
    json.dump(answers, sys.stdout)
    return 0


def _score(nusc: NuScenes, case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as work:
        try:
            return _detection(nusc, case, work) if case["task"] == "detection" else _tracking(nusc, case, work)
        except Exception as error:  # noqa: BLE001 - whatever the devkit raises is its answer
            return {"error": f"{type(error).__name__}: {error}"}


def _config(name: str, case: dict[str, Any]) -> dict[str, Any]:
    content = config_factory(name).serialize()
    if case.get("range_m"):
        content["class_range"] = dict.fromkeys(content["class_range"], case["range_m"])
    return dict(content)


def _detection(nusc: NuScenes, case: dict[str, Any], work: str) -> dict[str, Any]:
    config = DetectionConfig.deserialize(_config("detection_cvpr_2019", case))
    metrics, _ = DetectionEval(nusc, config, case["results"], case["split"], work, verbose=False).evaluate()
    summary: dict[str, Any] = metrics.serialize()
    return summary


def _tracking(nusc: NuScenes, case: dict[str, Any], work: str) -> dict[str, Any]:
    config = TrackingConfig.deserialize(_config("tracking_nips_2019", case))
    judge = TrackingEval(config, case["results"], case["split"], work, nusc.version, nusc.dataroot, verbose=False)
    metrics, _ = judge.evaluate()
    summary: dict[str, Any] = metrics.serialize()
    return summary


if __name__ == "__main__":
    sys.exit(main())
