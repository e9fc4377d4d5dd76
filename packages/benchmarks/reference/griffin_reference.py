"""Score results with Griffin's own, unmodified detection and tracking code; prints one JSON list.

    PYTHON griffin_reference.py CHECKOUT CASES

PYTHON has the nuScenes devkit 1.1 or later. CHECKOUT is a folder of https://github.com/wang-jh18-SVM/Griffin. CASES is
{"root", "version", "cases": [{"task", "scenes": names, "results": file}, ...]}. Each answer is what Griffin's dataset class
takes from its summary, figures of its three classes within 50 m, or {"error": ...} where it ends. mmcv, which only starts the
evaluation there, is not needed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from nuscenes import NuScenes
from nuscenes.eval.common.config import config_factory
from nuscenes.eval.detection.utils import category_to_detection_name

CLASSES = ["car", "bicycle", "pedestrian"]  # class_names and class_range of Griffin's configurations
RANGES_M = dict.fromkeys(CLASSES, 50)
EVALUATION = "projects/mmdet3d_plugin/datasets/eval_utils/nuscenes_eval.py"


def main() -> int:
    """Print the answer of Griffin's code for each case."""
    request = json.loads(Path(sys.argv[2]).read_text())
    with contextlib.redirect_stdout(sys.stderr):
        griffin = _module(Path(sys.argv[1]) / EVALUATION)
        nusc = NuScenes(version=request["version"], dataroot=request["root"], verbose=False)
        answers = [_answer(griffin, nusc, case) for case in request["cases"]]
    json.dump(answers, sys.stdout)
    return 0


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("griffin_evaluation", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _name(category: str) -> str | None:
    """Return one of the three classes; Griffin's own categories have these names themselves."""
    name = category_to_detection_name(category)
    return name if name in CLASSES else None


def _answer(griffin: Any, nusc: Any, case: dict[str, Any]) -> dict[str, Any]:
    try:
        return _score(griffin, nusc, case)
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return {"error": f"{type(error).__name__}: {error}"}


def _score(griffin: Any, nusc: Any, case: dict[str, Any]) -> dict[str, Any]:
    same = {"splits": {"val": case["scenes"]}, "category_to_type_name": _name, "verbose": False}
    with tempfile.TemporaryDirectory() as work:
        if case["task"] == "detection":
            config = config_factory("detection_cvpr_2019")
            config.class_names, config.class_range = CLASSES, RANGES_M
            judge = griffin.NuScenesEval_custom(nusc, config, case["results"], "val", work, **same)
            summary = judge.evaluate()[0].serialize()
            return {
                "mean_ap": summary["mean_ap"],
                **{part: {name: summary[part][name] for name in CLASSES} for part in ("label_aps", "label_tp_errors")},
            }
        config = config_factory("tracking_nips_2019")
        config.class_names, config.tracking_names, config.class_range = CLASSES, CLASSES, RANGES_M
        judge = griffin.TrackingEval_custom(config, case["results"], "val", work, nusc.version, nusc.dataroot, **same)
        summary = judge.evaluate()[0].serialize()
        metrics = {metric: {n: by_class[n] for n in CLASSES} for metric, by_class in summary["label_metrics"].items()}
        return {"amota": summary["amota"], "label_metrics": metrics}


if __name__ == "__main__":
    sys.exit(main())
