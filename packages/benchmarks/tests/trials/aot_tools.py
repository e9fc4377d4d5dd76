"""Hold AOT's own files against AOT's own tools: truth and a perturbed result, scored by both; encounters planned and found.

    scripts/trial aot-tools EXPORTED [--checkout DIR --python PYTHON] [--seed 0]

EXPORTED is what ``uavsim export --format aot`` wrote. A result is made of its truth: boxes moved by a pixel or two, one in
ten left out, one false track a flight. ``uavsim evaluate aot`` scores it. With a checkout of AOT's starter kit and an
interpreter with pandas 1.5.3 (``UAVSIM_AOT_FOLDER``, ``UAVSIM_AOT_PYTHON`` by default) AOT's own metrics do so too, and both
must agree. The encounters that AOT's tool finds must be those that the export lists, and each of them one that was planned.
Prints one JSON line; ends with 4 where something differs.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tools.common import ROOT
from uavsim_benchmarks.evaluate.aot.run import evaluate_aot
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

LISTED = "valid_encounters_maxRange700_maxGap3_minEncLen30.csv"
WITHIN = 1e-9
SAME = 1e-4  # their summaries are rounded


def perturbed(truth: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return a result as a good detector would give it."""
    result = []
    for flight in truth["samples"].values():
        false_from = int(rng.integers(0, max(len(flight["entities"]) - 40, 1)))
        size = flight["metadata"]["resolution"]
        for number, entity in enumerate(flight["entities"]):
            detections = []
            if "bb" in entity and rng.random() > 0.1:
                left, top, width, height = entity["bb"]
                x, y = np.array([left + width / 2, top + height / 2]) + rng.normal(0.0, 1.0, 2)
                detections.append(_detection(x, y, width, height, score=0.6 + 0.4 * rng.random(), track=1))
            if false_from <= number < false_from + 20:
                x, y = 0.9 * size["width"], 0.95 * size["height"]
                detections.append(_detection(x, y, 8.0, 8.0, score=0.3 + 0.2 * rng.random(), track=2))
            if detections:
                result.append({"img_name": entity["img_name"], "detections": detections})
    return result


def _detection(x: float, y: float, width: float, height: float, *, score: float, track: int) -> dict[str, Any]:
    """Return one detection; x and y are the centre."""
    return {"n": "airborne", "x": x, "y": y, "w": width, "h": height, "s": score, "track_id": track}


def theirs(checkout: Path, python: str, truth: Path, result: Path, work: Path) -> dict[str, Any]:
    """Score a result with the starter kit's own metrics."""
    case = {
        "truth": str(truth),
        "results": str(result),
        "min_score": 0.0,
        "min_track_len": 0,
        "hfar": None,
        "fppi": None,
    }
    (work / "cases.json").write_text(json.dumps([case]))
    command = [
        python,
        str(ROOT / "packages/benchmarks/reference/aot_reference.py"),
        str(checkout),
        str(work / "cases.json"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    summary: dict[str, Any] = json.loads(done.stdout)[0]
    return summary


def theirs_found(checkout: Path, python: str, truth: Path, work: Path) -> list[dict[str, str]]:
    """Return the encounters that the starter kit's own finder lists."""
    shutil.copyfile(truth, work / "groundtruth.json")  # it writes a table beside what it reads
    metrics = checkout / "core" / "metrics"
    script = metrics / "airborne_metrics" / "calculate_encounters.py"
    command = [python, str(script), "-g", str(work / "groundtruth.json"), "-o", str(work / "found")]
    environment = os.environ | {"PYTHONPATH": str(metrics), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(command, cwd=metrics, env=environment, capture_output=True, check=True)
    return _listed(work / "found" / LISTED)


def _listed(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def same_encounters(a: list[dict[str, str]], b: list[dict[str, str]]) -> bool:
    """Return whether two lists hold the same encounters, to the last digits."""
    exact = ("flight_id", "framemin", "framemax", "framecount")
    near = ("is_above_horizon", "min_enc_range", "max_enc_range", "mean_enc_range", "median_enc_range")
    return len(a) == len(b) and all(
        all(x[key] == y[key] for key in exact)
        and all(
            abs(float(x[key] or 9) - float(y[key] or 9)) <= WITHIN * max(1.0, abs(float(y[key] or 9))) for key in near
        )
        for x, y in zip(a, b, strict=True)
    )


def planned_of(reported: list[dict[str, Any]], listed: list[dict[str, str]]) -> int:
    """Return how many listed encounters are planned ones: the flight has a planned intruder that comes as near."""
    nearest = {flight["flight_id"]: [e["cpa_m"] for e in flight["encounters"] if e["planned"]] for flight in reported}
    return sum(
        any(cpa_m <= float(row["min_enc_range"]) + 1e-6 for cpa_m in nearest.get(row["flight_id"], []))
        for row in listed
    )


def differences(ours: dict[str, Any], summary: dict[str, Any]) -> dict[str, float]:
    """Return by how much our scores differ from theirs."""
    named = {
        "edr": summary["Tracking"]["Encounters"]["300"]["All"]["dr"],
        "hfar": summary["far"],
        "fppi": summary["fppi"],
        "afdr": summary["fl_dr_in_range"],
    }
    return {name: abs(float(ours[name]) - float(value)) for name, value in named.items()}


def main() -> int:
    """Compare and say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exported", type=Path)
    parser.add_argument("--checkout", type=Path, default=os.environ.get("UAVSIM_AOT_FOLDER"))
    parser.add_argument("--python", default=os.environ.get("UAVSIM_AOT_PYTHON"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sets = options.exported / "part1" / "ImageSets"
    truth_file = sets / "groundtruth.json"
    truth = json.loads(truth_file.read_text(encoding="utf-8"))
    reported = json.loads((options.exported / "encounters.json").read_text(encoding="utf-8"))
    listed = _listed(sets / LISTED)
    report: dict[str, Any] = {
        "flights": len(truth["samples"]),
        "images": sum(flight["metadata"]["number_of_frames"] for flight in truth["samples"].values()),
        "objects": sum(len(flight["objects"]) for flight in reported),
        "planned_encounters": sum(len(flight["encounters"]) for flight in reported),
        "valid_encounters": len(listed),
        "of_them_planned": planned_of(reported, listed),
    }
    good = report["of_them_planned"] == len(listed)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        result = work / "result.json"
        result.write_text(json.dumps(perturbed(truth, np.random.default_rng(options.seed))))
        ours = evaluate_aot(EvaluationRequest(truth_file, result, "official")).scores
        report["ours"] = {key: ours[key] for key in ("edr", "hfar", "afdr", "fppi")}
        if options.checkout and options.python:
            summary = theirs(Path(options.checkout), options.python, truth_file, result, work)
            report["error_of_theirs"] = summary.get("error")
            report["differences"] = {} if "error" in summary else differences(ours, summary)
            found = theirs_found(Path(options.checkout), options.python, truth_file, work)
            report["their_finder_agrees"] = same_encounters(found, listed)
            near = [difference <= SAME for difference in report["differences"].values()]
            good = good and report["their_finder_agrees"] and bool(near) and all(near)
    print(json.dumps(report))
    return 0 if good else 4
