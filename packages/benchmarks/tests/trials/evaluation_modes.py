"""Measure what every official/corrected difference of ``uavsim evaluate`` amounts to, on a dataset and on made-up results.

    scripts/trial evaluation-modes DATASET [--version VERSION]

The detector finds three quarters of the boxes that a drone sees and adds six false positives a sample; its tracker keeps their
names. AOT, OpenAD and AirCopBench are scored on made-up cases in their own formats. docs/evaluation*.md hold the figures of
the dataset that docs/evaluation.md names.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluate import openad_cases
from uavsim.dataset.tables import read_rows
from uavsim.errors import InputError
from uavsim.records.classes import detection_class
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.nuscenes.result_input import only_version
from uavsim_benchmarks.evaluate.nuscenes.tracking import CLASSES as TRACKED
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

FOREIGN = 6


@dataclass(frozen=True)
class Effect:
    """One difference: what it is, the figure that shows it, and its value in both modes."""

    benchmark: str
    difference: str
    figure: str
    official: object
    corrected: object


def main() -> int:
    """Print a line an effect."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--version")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for effect in effects(EvaluationRequest(options.dataset, Path(folder), version=options.version), Path(folder)):
            both = (f"{v:.4g}" if isinstance(v, float) else str(v) for v in (effect.official, effect.corrected))
            line = f"{effect.benchmark:20} {effect.difference:34} {effect.figure:22} {' -> '.join(both)}"
            sys.stdout.write(line + "\n")
    return 0


def effects(request: EvaluationRequest, work: Path) -> Iterator[Effect]:
    """Yield every effect; ``request`` names the dataset, ``work`` is an empty folder."""
    version = only_version(request)
    request = replace(request, version=version)
    yield from _detection(request, work, detections(request.truth / version, seed=0))
    yield from _tracking(request, work, detections(request.truth / version, seed=0, task="tracking"))
    yield from _overlap(request, work)
    yield from effects_on_made_up_files(work)


def effects_on_made_up_files(work: Path) -> Iterator[Effect]:
    """Yield the effects for the benchmarks with files of their own; they need no dataset."""
    yield from _aot(work)
    yield from _openad(work)
    yield from _aircopbench(work)


def detections(tables: Path, *, seed: int, task: str = "detection") -> dict[str, list[dict[str, Any]]]:
    """Return made-up results on a dataset: boxes by sample."""
    rng = np.random.default_rng(seed)
    category = {row["token"]: row["name"] for row in read_rows(tables / "category.json")}
    kind = {
        row["token"]: detection_class(category[row["category_token"]]) for row in read_rows(tables / "instance.json")
    }
    found: dict[str, list[dict[str, Any]]] = {row["token"]: [] for row in read_rows(tables / "sample.json")}
    for row in read_rows(tables / "sample_annotation.json"):
        name, drones = kind[row["instance_token"]], len(row["uav_seen_by"])
        if name is None or not drones or rng.random() < 0.25 or (task == "tracking" and name not in TRACKED):
            continue
        score = float(np.clip(rng.normal(0.35 + 0.1 * drones, 0.15), 0.01, 0.99))
        place = np.array(row["translation"]) + rng.normal(0, 0.8 / drones, 3)
        size = np.array(row["size"]) * rng.uniform(0.8, 1.2, 3)
        box = _box(row["sample_token"], place.tolist(), size.tolist(), row["rotation"])
        found[row["sample_token"]].append(box | _named(task, name, score, row["instance_token"]))
    for token, boxes in found.items():
        for _ in range(FOREIGN if task == "detection" else 0):
            box = _box(token, [*rng.uniform(-60, 60, 2).tolist(), 1.0], [2.0, 4.5, 1.5], [1.0, 0.0, 0.0, 0.0])
            boxes.append(box | _named(task, "car", float(rng.random() * 0.5), ""))
    return found


def _box(token: str, place: list[float], size: list[float], rotation: list[float]) -> dict[str, Any]:
    return {"sample_token": token, "translation": place, "size": size, "rotation": rotation, "velocity": [0.0, 0.0]}


def _named(task: str, name: str, score: float, track: str) -> dict[str, Any]:
    if task == "detection":
        return {"detection_name": name, "detection_score": score, "attribute_name": ""}
    return {"tracking_name": name, "tracking_score": score, "tracking_id": track}


def _both(
    benchmark: str, request: EvaluationRequest, work: Path, content: Any, figure: str, **options: str
) -> tuple[Any, Any]:
    """Return a figure in both modes; ``refused`` where a mode refuses the result."""
    if content is not None:
        request = replace(request, results=work / "results.json")
        request.results.write_text(json.dumps(content))
    values: list[Any] = []
    for mode in ("official", "corrected"):
        try:
            values.append(evaluate(benchmark, replace(request, mode=mode, options=options)).scores[figure])
        except InputError:
            values.append("refused")
    return values[0], values[1]


def _detection(request: EvaluationRequest, work: Path, found: dict[str, list[dict[str, Any]]]) -> Iterator[Effect]:
    name, results = "nuscenes-detection", {"meta": {}, "results": found}
    yield Effect(
        name, "absent classes count as 0", "mean_ap", *_both(name, request, work, results, "mean_ap", range="102.4")
    )
    yield Effect(
        name,
        "ranges of 30 to 50 m",
        "boxes",
        *(dict(boxes)["car"] for boxes in _both(name, request, work, results, "boxes")),
    )
    flat = {token: [box | {"size": [0.0, *box["size"][1:]]} for box in boxes] for token, boxes in found.items()}
    yield Effect(
        name, "a box without volume", "mase", *_both(name, request, work, {"results": flat}, "mase", range="102.4")
    )
    first = next(iter(found))
    left_out = {token: boxes for token, boxes in found.items() if token != first}
    yield Effect(name, "a sample left out", "mean_ap", *_both(name, request, work, {"results": left_out}, "mean_ap"))


def _tracking(request: EvaluationRequest, work: Path, found: dict[str, list[dict[str, Any]]]) -> Iterator[Effect]:
    name, wide = "nuscenes-tracking", {"range": "200"}
    tokens = [row["token"] for row in read_rows(request.truth / str(request.version) / "sample.json")]
    holes = {token: [] if number % 5 in {1, 2} else found[token] for number, token in enumerate(tokens)}
    for figure in ("motp", "recall"):
        values = _both(name, request, work, {"results": holes}, figure, **wide)
        yield Effect(name, "two samples are missing", figure, *values)
    exact = _exact_tracks(request.truth / str(request.version))
    yield Effect(name, "the expanded square", "motp", *_both(name, request, work, {"results": exact}, "motp", **wide))
    late = {token: [] if number % 5 == 0 else exact[token] for number, token in enumerate(tokens)}
    yield Effect(name, "0.5 s a sample", "tid", *_both(name, request, work, {"results": late}, "tid", **wide))


def _exact_tracks(tables: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the truth itself as tracks."""
    found = detections(tables, seed=0, task="tracking")
    category = {row["token"]: row["name"] for row in read_rows(tables / "category.json")}
    kind = {
        row["token"]: detection_class(category[row["category_token"]]) for row in read_rows(tables / "instance.json")
    }
    exact: dict[str, list[dict[str, Any]]] = {token: [] for token in found}
    for row in read_rows(tables / "sample_annotation.json"):
        name = kind[row["instance_token"]]
        if name in TRACKED and row["uav_seen_by"]:
            box = _box(row["sample_token"], row["translation"], row["size"], row["rotation"])
            exact[row["sample_token"]].append(box | _named("tracking", name, 0.5, row["instance_token"]))
    return exact


def _overlap(request: EvaluationRequest, work: Path) -> Iterator[Effect]:
    found = {"results": detections(request.truth / str(request.version), seed=0)}
    for figure in ("ap_0.5", "ap_0.7"):
        yield Effect("uav3d", "headings, second choice, steps", figure, *_both("uav3d", request, work, found, figure))
    name = "coperception-uav"
    yield Effect(name, "sorted within a frame only", "ap_0.5", *_both(name, request, work, found, "ap_0.5"))
    maps = np.random.default_rng(0).beta(0.3, 3.0, (10, 5, 48, 48))
    maps[:, 0] *= 0.5  # the agent that receives is less sure than the others
    np.savez(work / "maps.npz", *maps)
    for figure in ("communication_rate", "communication_volume"):
        values = _both(name, request, work, found, figure, confidence=str(work / "maps.npz"), threshold="0.1")
        yield Effect(name, "cells of the first agent", figure, *values)
    some = {"results": {token: boxes if n % 2 else [] for n, (token, boxes) in enumerate(found["results"].items())}}
    skipped, _ = _both(name, request, work, some, "ap_0.5", skip_empty="1")
    counted, _ = _both(name, request, work, some, "ap_0.5")
    yield Effect(name, "skip_empty=1, half the frames empty", "ap_0.5", skipped, counted)


def _aot(work: Path) -> Iterator[Effect]:
    truth, results = _two_intruders()
    (work / "groundtruth.json").write_text(json.dumps(truth))
    request = EvaluationRequest(work / "groundtruth.json", work / "results.json")
    totals = (counts["edr_all"]["total"] for counts in map(dict, _both("aot", request, work, results, "counts")))
    yield Effect("aot", "one encounter of two intruders", "encounters", *totals)
    yield Effect("aot", "a flight counts two minutes", "hfar", *_both("aot", request, work, results, "hfar"))
    for entry in results[::2]:
        for detection in entry["detections"]:
            detection["track_id"] = None
    yield Effect("aot", "and tracks that are lost", "hfar", *_both("aot", request, work, results, "hfar"))
    nothing = [entry | {"detections": []} for entry in results]
    yield Effect("aot", "no detections at all", "fppi", *_both("aot", request, work, nothing, "fppi"))


def _two_intruders() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a flight of one minute: two planned intruders, 20 images each, one after the other; and false detections."""
    entities: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for frame in range(600):
        base = {"time": frame * 10**8, "flight_id": "f", "img_name": f"{frame:019d}f.png"}
        found = []
        for name, begin in (("Airplane1", 100), ("Airplane2", 122)):
            if begin <= frame < begin + 20:
                own = {"blob": {"frame": frame, "range_distance_m": 320.0 - frame + begin}, "id": name}
                entities.append(base | own | {"bb": [500.0, 500.0, 20.0, 20.0], "labels": {"is_above_horizon": 1}})
                found.append({"x": 510.0, "y": 510.0, "w": 20.0, "h": 20.0, "s": 0.9, "track_id": 1})
        if not found:
            entities.append(base | {"blob": {"frame": frame}, "labels": {}})
        if frame % 60 == 0:
            found.append({"x": 50.0, "y": 50.0, "w": 9.0, "h": 9.0, "s": 0.6, "track_id": 100 + frame // 120})
        results.append({"img_name": base["img_name"], "detections": found})
    metadata = {"fps": 10.0, "number_of_frames": 600, "duration": 60_000.0}
    return {"samples": {"f": {"metadata": metadata, "entities": entities}}}, results


def _openad(work: Path) -> Iterator[Effect]:
    truth, results = openad_cases.write_case(work, 3, 0)
    request = EvaluationRequest(truth, results)
    for difference, figure in (
        ("1 m and 4 m only", "ar_in_domain_seen"),
        ("1 m and 4 m only", "ar_out_domain_unseen"),
        ("scenes without objects cost nothing", "ap"),
    ):
        yield Effect("openad", difference, figure, *_both("openad", request, work, None, figure, dimensions="3"))


def _aircopbench(work: Path) -> Iterator[Effect]:
    said = [
        ("B", "B"), ("B", "(B)"), ("B", "The answer is B."), ("B", "The correct choice is B because it is visible."),
        ("A", "I cannot say from the images."), ("D", "Option D: both drones see it."), ("C", "Neither A nor B, so C."),
        ("A", "<think>B is hidden.</think> A"), ("B", "Because of the fog, B"), ("D", "None of them can be seen."),
    ]  # fmt: skip
    kinds = ("2.2 UAV Target Counting (UAV1)", "4.1 When to Collaborate (UAV2)")
    questions = [
        {"question_id": f"q{n}", "question_type": kinds[n % 2], "correct_answer": right}
        for n, (right, _) in enumerate(said)
    ]
    (work / "questions.json").write_text(json.dumps({"dataset": "Sim3", "results": questions}))
    answers = [{"question_id": f"q{n}", "response": text} for n, (_, text) in enumerate(said)]
    request = EvaluationRequest(work / "questions.json", work / "results.json")
    for difference, figure in (("any letter is an answer", "accuracy"), ("two names in no category", "uncategorised")):
        yield Effect("aircopbench", difference, figure, *_both("aircopbench", request, work, answers, figure))
