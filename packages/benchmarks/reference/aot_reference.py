"""Score AOT results with the starter kit's own, unmodified metrics; prints one JSON list of summaries.

    PYTHON aot_reference.py CHECKOUT CASES

PYTHON has pandas 1.5.3, which the metrics need. CHECKOUT is a folder of the airborne-detection-starter-kit, with
``core/metrics``. CASES is a JSON list of {"truth", "results", "min_score", "min_track_len", "hfar", "fppi"}: files, then
numbers, the last two of which may be null.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import logging
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any


def main() -> int:
    """Print the summaries, or the error of the metrics."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(Path(sys.argv[1]) / "core" / "metrics"))
    metrics = importlib.import_module("run_airborne_metrics")

    with contextlib.redirect_stdout(sys.stderr):
        answers = [_score(metrics, case) for case in json.loads(Path(sys.argv[2]).read_text())]
    json.dump(answers, sys.stdout)
    return 0


def _score(metrics: Any, case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:  # tables are cached beside the inputs
        work = Path(folder)
        for name, source, target in (
            ("data", case["truth"], "groundtruth.json"),
            ("r", case["results"], "result.json"),
        ):
            (work / name).mkdir()
            shutil.copyfile(source, work / name / target)
        parser = argparse.ArgumentParser()
        metrics.add_flags(parser)
        arguments = ["-d", str(work / "data"), "-r", str(work / "r"), "-s", str(work / "s")]
        arguments += ["--min-score", str(case["min_score"]), "-l", str(case["min_track_len"])]
        arguments += ["--baseline-far", str(case["hfar"])] if case["hfar"] is not None else []
        arguments += ["--baseline-fppi", str(case["fppi"])] if case["fppi"] is not None else []
        try:
            metrics.run(parser.parse_args(arguments))
        except Exception as error:  # noqa: BLE001 - whatever they raise is their answer
            return {"error": f"{type(error).__name__}: {error}"}
        summaries = [json.loads(path.read_text()) for path in sorted((work / "s").glob("*.json"))]
        target_metric = "fppi" if case["fppi"] is not None else "far" if case["hfar"] is not None else None
        return next(summary for summary in summaries if summary["target_metrics"] == target_metric)


if __name__ == "__main__":
    sys.exit(main())
