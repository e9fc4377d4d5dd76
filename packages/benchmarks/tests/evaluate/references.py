"""Comparison of scores with the answers of the benchmarks' unmodified programs for synthetic inputs.

The answers are stored in ``references/*.json`` with their repository and commit. ``trials/references.py`` queries a
checkout again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from evaluate import aot_cases, openad_cases, overlap_cases, synthetic
from uavsim_benchmarks.evaluate.aircopbench.scores import parse_official, score_answers
from uavsim_benchmarks.evaluate.aot.evaluate_aot import evaluate_aot
from uavsim_benchmarks.evaluate.coperception import communication_rate, match_by_overlap, voc_ap
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.openad.evaluate_openad import evaluate_openad
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.uav3d import IouCounter

__all__ = ["REFERENCES", "STORED", "Reference"]

TOLERANCE: Final = 1e-9
STORED: Final = Path(__file__).with_name("references")


@dataclass(frozen=True)
class Reference:
    """One benchmark's own code.

    Attributes:
        program: program in ``packages/benchmarks/reference`` that runs it.
        repository: repository and commit of the stored answers.
        needs: requirements of a separate interpreter; "" for the judges' environment.
        cases: folder for files -> the program's input.
        keep: the program's answers -> stored answers.
        compare: folder, cases, stored answers -> number of comparisons; fails on differences.
    """

    program: str
    repository: str
    needs: str
    cases: Callable[[Path], Any]
    keep: Callable[[Any], Any]
    compare: Callable[[Any, Any], int]


def _uav3d_cases(_: Path) -> Any:
    return overlap_cases.cases(300)


def _compare_uav3d(cases: Any, answers: Any) -> int:
    for case, theirs in zip(cases, answers, strict=True):
        counter = IouCounter()
        counter.add(*overlap_cases.as_boxes(case))
        assert counter.scores()[f"ap_{case['iou']}"] == pytest.approx(theirs, abs=TOLERANCE)
    return len(answers)


def _where2comm_cases(_: Path) -> Any:
    rng = np.random.default_rng(0)
    smooth = (None, [5, 1.0], [3, 2.0])
    communications = [
        {
            "logits": rng.normal(-2, 2, (int(rng.integers(1, 5)), 2, 9, 11)).astype(np.float32).tolist(),
            "threshold": float(rng.choice([0.0, 0.01, 0.2, 0.5])), "smooth": smooth[number % 3],
        }
        for number in range(150)
    ]  # fmt: skip
    frames = [overlap_cases.corners_by_frame(case) for case in overlap_cases.turned_cases(200)]
    return {"overlap": frames, "communication": communications}


def _airv2x_cases(_: Path) -> Any:
    frames = [overlap_cases.corners_by_frame(case) for case in overlap_cases.turned_cases(200)]
    return {"overlap": frames, "communication": []}


def _compare_airv2x(_: Any, answers: Any) -> int:
    for case, theirs in zip(overlap_cases.turned_cases(200), answers["overlap"], strict=True):
        matches = match_by_overlap(*case)
        ours = [voc_ap(matched, matches.truth_count) for matched in matches.matched]
        assert ours == pytest.approx(theirs, abs=TOLERANCE)
    return len(answers["overlap"])


def _compare_where2comm(cases: Any, answers: Any) -> int:
    _compare_airv2x(cases, answers)
    assert answers["communication"] is not None, "the interpreter has no torch"
    for case, theirs in zip(cases["communication"], answers["communication"], strict=True):
        logits = np.array(case["logits"], dtype=np.float32)
        confidence = (1 / (1 + np.exp(-logits))).max(axis=1)
        kernel = (case["smooth"][0], case["smooth"][1]) if case["smooth"] else None
        assert communication_rate(confidence, case["threshold"], smooth=kernel) == pytest.approx(theirs, abs=TOLERANCE)
    return len(answers["overlap"]) + len(answers["communication"])


def _aot_cases(work: Path) -> Any:
    cases: list[dict[str, Any]] = []
    for number in range(200):
        truth, results = aot_cases.make_case(number)
        if number >= 100:
            aot_cases.make_odd(truth, results, number)
        files = [work / f"{kind}{number}.json" for kind in ("truth", "results")]
        for file, content in zip(files, (truth, results), strict=True):
            file.write_text(json.dumps(content))
        options = {"min_score": (0.0, 0.3)[number % 2], "min_track_len": (0, 0, 5)[number % 3]}
        budgets = {"hfar": (None, 30.0, None, None)[number % 4], "fppi": (None, None, 0.05, None)[number % 4]}
        cases.append({"truth": str(files[0]), "results": str(files[1]), **options, **budgets})
    return cases


def _keep_aot(answers: Any) -> list[dict[str, Any] | None]:
    """Return answers under uavsim's names; None for errors: no detections remain, or a group has no box."""
    groups = {"edr": "All", "edr_below": "Below Horizon", "edr_mixed": "Mixed", "edr_above": "Above Horizon"}
    names = {"hfar": "far", "fppi": "fppi", "afdr": "fl_dr_in_range", "afdr_above_area": "fl_dr_above_area",
             "afdr_below_area": "fl_dr_below_area", "threshold": "min_det_score"}  # fmt: skip
    return [
        None
        if "error" in theirs
        else {name: theirs["Tracking"]["Encounters"]["300"][group]["dr"] for name, group in groups.items()}
        | {name: theirs[key] for name, key in names.items()}
        for theirs in answers
    ]


def _compare_aot(cases: Any, answers: Any) -> int:
    compared = 0
    for case, theirs in zip(cases, answers, strict=True):
        if theirs is None:
            continue
        choices = {k: str(v) for k, v in case.items() if v is not None and k not in {"truth", "results"}}
        ours = evaluate_aot(EvaluationRequest(Path(case["truth"]), Path(case["results"]), options=choices)).scores
        expected = theirs if case["hfar"] or case["fppi"] else {k: v for k, v in theirs.items() if k != "threshold"}
        none = {name for name in expected if np.isnan(ours[name])}  # an undefined rate: NaN here, 0 there
        assert all(expected[name] == 0.0 for name in none)
        measured = {name: value for name, value in expected.items() if name not in none}
        assert {name: ours[name] for name in measured} == pytest.approx(measured, abs=TOLERANCE)
        compared += 1
    return compared


def _openad_cases(work: Path) -> Any:
    cases: list[dict[str, Any]] = []
    for dimensions in (2, 3):
        for seed in range(20):  # with a few scenes that are not empty
            truth, results = openad_cases.write_case(work, dimensions, seed, used=5 + seed)
            cases.append({"dimensions": dimensions, "truth": str(truth), "results": str(results)})
    return cases


def _keep_openad(answers: Any) -> list[dict[str, float] | None]:
    """Return answers under uavsim's names; None if a threshold has no match or a subset no objects."""
    return [
        None if "error" in theirs else {k.lower().replace(" ", "_").replace("-", "_"): v for k, v in theirs.items()}
        for theirs in answers
    ]


def _compare_openad(cases: Any, answers: Any) -> int:
    compared = 0
    for case, theirs in zip(cases, answers, strict=True):
        files = (Path(case["truth"]), Path(case["results"]))
        ours = evaluate_openad(EvaluationRequest(*files, options={"dimensions": str(case["dimensions"])})).scores
        for name, value in (theirs or {}).items():
            assert ours[name] == pytest.approx(value, abs=TOLERANCE, nan_ok=True), name
        compared += theirs is not None
    return compared


_GRIFFIN_CLASSES: Final = ("car", "bicycle", "pedestrian")


def _griffin_cases(work: Path) -> Any:
    kinds = ("random", "ties", "coarse grid", "as the truth", "nothing in most samples", "unknown velocities")
    root = synthetic.write_dataset(work / "data", scenes=24, seed=33)
    cases = []
    for number in range(24):
        task = "tracking" if number % 3 == 2 else "detection"
        results = synthetic.results_for(synthetic.truth_of(root, number), task, number, kinds[number % len(kinds)])
        for sample, boxes in results["results"].items():  # it fails at an unknown class
            results["results"][sample] = [box for box in boxes if box[f"{task}_name"] in _GRIFFIN_CLASSES]
        file = work / f"{number}.json"
        file.write_text(json.dumps(results))
        cases.append({"task": task, "scenes": [f"scene_{number}"], "split": f"case_{number}", "results": str(file)})
    return {"root": str(root), "version": synthetic.VERSION, "cases": cases}


def _compare_griffin(cases: Any, answers: Any) -> int:
    compared = 0
    for case, theirs in zip(cases["cases"], answers, strict=True):
        request = EvaluationRequest(
            Path(cases["root"]), Path(case["results"]), split=case["split"], options={"range": "50"}
        )
        ours = evaluate(f"nuscenes-{case['task']}", request).scores
        for part in ("label_aps", "label_tp_errors"):
            for name, figures in theirs.get(part, {}).items():
                assert ours[part][name] == pytest.approx(figures, abs=TOLERANCE, nan_ok=True), (part, name)
                compared += len(figures)
        for metric, figures in theirs.get("label_metrics", {}).items():
            class_scores = {name: ours["label_metrics"][metric][name] for name in figures}
            assert class_scores == pytest.approx(figures, abs=TOLERANCE, nan_ok=True), metric
            compared += len(figures)
    return compared


def _aircopbench_cases(_: Path) -> Any:
    rng = np.random.default_rng(0)
    words = ["The", "correct", "choice", "is", "B", "because", "(C)", "A.", "answer:", "D", "option", "I", "cannot", "say",
             "<think>", "</think>", "visible", "\n", "no", "b", "The answer is", "UAV1"]  # fmt: skip
    texts = [" ".join(rng.choice(words, int(rng.integers(0, 9))).tolist()) for _ in range(600)]
    kinds = [
        "2.2 Object Counting (UAV1)", "4.1 When to Collaborate (UAV2)", "1.1 Scene Understanding", "no number",
        "3.1 Quality Assessment",
    ]  # fmt: skip
    responses = [
        [
            {
                "dataset": str(rng.choice(["Sim3", "Real2"])), "question_type": str(rng.choice(kinds)),
                "correct_answer": str(rng.choice(list("ABCD"))), "predicted_answer": str(rng.choice(list("ABCD"))),
            }
            for _ in range(int(rng.integers(1, 40)))
        ]
        for _ in range(200)
    ]  # fmt: skip
    return {"texts": texts, "responses": responses}


def _compare_aircopbench(cases: Any, answers: Any) -> int:
    assert "".join(parse_official(text) or "?" for text in cases["texts"]) == answers["letters"]
    names = {"scene_understanding": "Scene Understanding", "object_understanding": "Object Understanding",
             "perception_assessment": "Perception Assessment", "collaborative_decision": "Collaborative Decision"}  # fmt: skip
    for rows, theirs in zip(cases["responses"], answers["scores"], strict=True):
        correct = np.array([row["correct_answer"] == row["predicted_answer"] for row in rows])
        ours = score_answers([row["question_type"] for row in rows], [row["dataset"] for row in rows], correct)
        assert ours.micro == pytest.approx(theirs["accuracy"], abs=TOLERANCE)
        assert ours.by_task == pytest.approx(theirs["by_task"], abs=TOLERANCE)
        assert ours.by_dataset == pytest.approx(theirs["by_dataset"], abs=TOLERANCE)
        assert {names[k]: v for k, v in ours.by_category.items()} == pytest.approx(theirs["by_category"], abs=TOLERANCE)
    return len(cases["texts"]) + len(answers["scores"])


REFERENCES: Final = {
    "uav3d": Reference(
        "uav3d_reference", "https://github.com/huiyegit/UAV3D 5cee0e94971e", "", _uav3d_cases, list, _compare_uav3d
    ),
    "where2comm": Reference(
        "where2comm_reference",
        "https://github.com/MediaBrain-SJTU/Where2comm d3432523973b",
        "torch, shapely and PyYAML",
        _where2comm_cases,
        dict,
        _compare_where2comm,
    ),
    "airv2x": Reference(
        "where2comm_reference",
        "https://github.com/taco-group/AirV2X-Perception 907d854",
        "torch, shapely and PyYAML",
        _airv2x_cases,
        lambda answers: {"overlap": answers["overlap"]},
        _compare_airv2x,
    ),
    "griffin": Reference(
        "griffin_reference",
        "https://github.com/wang-jh18-SVM/Griffin 370095644e2a",
        "",
        _griffin_cases,
        list,
        _compare_griffin,
    ),
    "aot": Reference(
        "aot_reference",
        "https://github.com/LIUHAO121/airborne_track 6c3ec28426e6, with AIcrowd's starter kit of AOT",
        "pandas 1.5.3",
        _aot_cases,
        _keep_aot,
        _compare_aot,
    ),
    "openad": Reference(
        "openad_reference",
        "https://github.com/VDIGPKU/OpenAD 98c245b2d40d",
        "",
        _openad_cases,
        _keep_openad,
        _compare_openad,
    ),
    "aircopbench": Reference(
        "aircopbench_reference",
        "https://github.com/zhajirong/AirCopBench 9ea23cce456c",
        "",
        _aircopbench_cases,
        lambda answers: answers | {"letters": "".join(answers["letters"])},
        _compare_aircopbench,
    ),
}
