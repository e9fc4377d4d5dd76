"""Our scores beside the benchmarks' own code, which is not ours to commit: each test runs where a checkout is named."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluate import aot_cases, openad_cases, overlap_cases
from tools.common import ROOT
from uavsim.validate.devkit_process import judge_python
from uavsim_benchmarks.evaluate.aircopbench.scores import parse_official, score_answers
from uavsim_benchmarks.evaluate.aot.run import evaluate_aot
from uavsim_benchmarks.evaluate.coperception import communication_rate, match_by_overlap, voc_ap
from uavsim_benchmarks.evaluate.openad.run import evaluate_openad
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.uav3d import IouCounter

TOLERANCE = 1e-9
pytestmark = pytest.mark.timeout(1800)


def checkout(name: str) -> str:
    """Return the folder that a variable names; skip, and say so, where it names none."""
    folder = os.environ.get(name, "")
    if not folder:
        pytest.skip(f"{name} names no checkout")
    return folder


def answers(script: str, folder: str, cases: Any, work: Path, python: str | None = None) -> Any:
    file = work / "cases.json"
    file.write_text(json.dumps(cases))
    command = [
        python or str(judge_python()),
        "-W",
        "ignore",
        str(ROOT / f"packages/benchmarks/reference/{script}.py"),
        folder,
        str(file),
    ]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_uav3d_ap_by_overlap(tmp_path: Path) -> None:
    folder = checkout("UAVSIM_UAV3D_FOLDER")
    cases = overlap_cases.cases(300)
    for case, theirs in zip(cases, answers("uav3d_reference", folder, cases, tmp_path), strict=True):
        counter = IouCounter()
        counter.add(*overlap_cases.as_boxes(case))
        assert counter.scores()[f"ap_{case['iou']}"] == pytest.approx(theirs, abs=TOLERANCE)


def test_where2comm_ap_and_communication(tmp_path: Path) -> None:
    folder, python = checkout("UAVSIM_WHERE2COMM_FOLDER"), checkout("UAVSIM_WHERE2COMM_PYTHON")
    rng = np.random.default_rng(0)
    overlaps = overlap_cases.turned_cases(200)
    smooth = (None, [5, 1.0], [3, 2.0])
    communications = [
        {
            "logits": rng.normal(-2, 2, (int(rng.integers(1, 5)), 2, 9, 11)).astype(np.float32).tolist(),
            "threshold": float(rng.choice([0.0, 0.01, 0.2, 0.5])), "smooth": smooth[number % 3],
        }
        for number in range(150)
    ]  # fmt: skip
    frames = [overlap_cases.corners_by_frame(case) for case in overlaps]
    reported = answers(
        "where2comm_reference", folder, {"overlap": frames, "communication": communications}, tmp_path, python
    )
    for case, theirs in zip(overlaps, reported["overlap"], strict=True):
        matches = match_by_overlap(*case)
        ours = [voc_ap(matched, matches.truth_count) for matched in matches.matched]
        assert ours == pytest.approx(theirs, abs=TOLERANCE)
    if reported["communication"] is None:
        pytest.skip("UAVSIM_WHERE2COMM_PYTHON has no torch: overlaps agree, communication is not compared")
    for own, theirs in zip(communications, reported["communication"], strict=True):
        logits = np.array(own["logits"], dtype=np.float32)
        confidence = (1 / (1 + np.exp(-logits))).max(axis=1)
        kernel = (own["smooth"][0], own["smooth"][1]) if own["smooth"] else None
        assert communication_rate(confidence, own["threshold"], smooth=kernel) == pytest.approx(theirs, abs=TOLERANCE)


def test_aot_summaries(tmp_path: Path) -> None:
    folder = checkout("UAVSIM_AOT_FOLDER")
    python = checkout("UAVSIM_AOT_PYTHON")
    cases: list[dict[str, Any]] = []
    for number in range(200):
        truth, results = aot_cases.make_case(number)
        if number >= 100:
            aot_cases.make_odd(truth, results, number)
        files = [tmp_path / f"{kind}{number}.json" for kind in ("truth", "results")]
        for file, content in zip(files, (truth, results), strict=True):
            file.write_text(json.dumps(content))
        options = {"min_score": (0.0, 0.3)[number % 2], "min_track_len": (0, 0, 5)[number % 3]}
        budgets = {"hfar": (None, 30.0, None, None)[number % 4], "fppi": (None, None, 0.05, None)[number % 4]}
        cases.append({"truth": str(files[0]), "results": str(files[1]), **options, **budgets})
    compared = 0
    for case, theirs in zip(cases, answers("aot_reference", folder, cases, tmp_path, python), strict=True):
        if "error" in theirs:  # no detections left, or no box of a group: their tables have no columns
            continue
        given = {k: str(v) for k, v in case.items() if v is not None and k not in {"truth", "results"}}
        ours = evaluate_aot(EvaluationRequest(Path(case["truth"]), Path(case["results"]), options=given)).scores
        encounters = theirs["Tracking"]["Encounters"]["300"]
        named = {"edr": "All", "edr_below": "Below Horizon", "edr_mixed": "Mixed", "edr_above": "Above Horizon"}
        wanted = {name: encounters[group]["dr"] for name, group in named.items()}
        wanted |= {"hfar": theirs["far"], "fppi": theirs["fppi"], "afdr": theirs["fl_dr_in_range"]}
        wanted |= {"afdr_above_area": theirs["fl_dr_above_area"], "afdr_below_area": theirs["fl_dr_below_area"]}
        wanted |= {"threshold": theirs["min_det_score"]} if case["hfar"] or case["fppi"] else {}
        assert {name: ours[name] for name in wanted} == pytest.approx(wanted, abs=TOLERANCE)
        compared += 1
    assert compared > 160


def test_openad_scores(tmp_path: Path) -> None:
    folder = checkout("UAVSIM_OPENAD_FOLDER")
    cases: list[dict[str, Any]] = []
    for dimensions in (2, 3):
        for seed in range(54):  # most with a few scenes that are not empty, some with hundreds
            used = 250 if seed < 4 else 5 + seed
            truth, results = openad_cases.write_case(tmp_path, dimensions, seed, used=used)
            cases.append({"dimensions": dimensions, "truth": str(truth), "results": str(results)})
    compared = 0
    for case, theirs in zip(cases, answers("openad_reference", folder, cases, tmp_path), strict=True):
        request = EvaluationRequest(
            Path(case["truth"]), Path(case["results"]), options={"dimensions": str(case["dimensions"])}
        )
        ours = evaluate_openad(request).scores
        if "error" in theirs:  # a threshold without a match, or a subset without objects, ends it
            continue
        for name, value in theirs.items():
            key = name.lower().replace(" ", "_").replace("-", "_")
            assert ours[key] == pytest.approx(value, abs=TOLERANCE, nan_ok=True), name
        compared += 1
    assert compared > 80


def test_aircopbench_parser_and_accuracies(tmp_path: Path) -> None:
    folder = checkout("UAVSIM_AIRCOPBENCH_FOLDER")
    rng = np.random.default_rng(0)
    words = ["The", "correct", "choice", "is", "B", "because", "(C)", "A.", "answer:", "D", "option", "I", "cannot", "report",
             "<think>", "</think>", "visible", "\n", "no", "b", "The answer is", "UAV1"]  # fmt: skip
    texts = [" ".join(rng.choice(words, int(rng.integers(0, 9))).tolist()) for _ in range(600)]
    kinds = [
        "2.2 Object Counting (UAV1)",
        "4.1 When to Collaborate (UAV2)",
        "1.1 Scene Understanding",
        "no number",
        "3.1 Quality Assessment",
    ]
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
    reported = answers("aircopbench_reference", folder, {"texts": texts, "responses": responses}, tmp_path)
    assert [parse_official(text) or "?" for text in texts] == reported["letters"]
    names = {"scene_understanding": "Scene Understanding", "object_understanding": "Object Understanding",
             "perception_assessment": "Perception Assessment", "collaborative_decision": "Collaborative Decision"}  # fmt: skip
    for rows, theirs in zip(responses, reported["scores"], strict=True):
        correct = np.array([row["correct_answer"] == row["predicted_answer"] for row in rows])
        ours = score_answers([row["question_type"] for row in rows], [row["dataset"] for row in rows], correct)
        assert ours.micro == pytest.approx(theirs["accuracy"], abs=TOLERANCE)
        assert ours.by_task == pytest.approx(theirs["by_task"], abs=TOLERANCE)
        assert ours.by_dataset == pytest.approx(theirs["by_dataset"], abs=TOLERANCE)
        assert {names[k]: v for k, v in ours.by_category.items()} == pytest.approx(theirs["by_category"], abs=TOLERANCE)
