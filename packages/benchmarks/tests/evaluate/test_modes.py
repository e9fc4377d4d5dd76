"""Documented differences between official and corrected mode equal the measured ones."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from evaluate import openad_cases
from tools.common import ROOT
from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

PAGE = ROOT / "packages/benchmarks/docs/evaluation-aot.md"


@dataclass(frozen=True)
class Effect:
    """One difference between the modes: a score with its value in both."""

    benchmark: str
    figure: str
    official: object
    corrected: object


def measured_effects(work: Path) -> Iterator[Effect]:
    """Score synthetic cases of the benchmarks with their own file formats in both modes."""
    yield from _aot(work)
    yield from _openad(work)
    yield from _aircopbench(work)


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


def _aot(work: Path) -> Iterator[Effect]:
    truth, results = _two_intruders()
    (work / "groundtruth.json").write_text(json.dumps(truth))
    request = EvaluationRequest(work / "groundtruth.json", work / "results.json")
    totals = (counts["edr_all"]["total"] for counts in map(dict, _both("aot", request, work, results, "counts")))
    yield Effect("aot", "encounters", *totals)
    yield Effect("aot", "hfar", *_both("aot", request, work, results, "hfar"))
    for entry in results[::2]:
        for detection in entry["detections"]:
            detection["track_id"] = None
    yield Effect("aot", "hfar", *_both("aot", request, work, results, "hfar"))
    nothing = [entry | {"detections": []} for entry in results]
    yield Effect("aot", "fppi", *_both("aot", request, work, nothing, "fppi"))


def _two_intruders() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a flight of one minute with two successive planned intruders, 20 images each, and false detections."""
    entities: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for frame in range(600):
        base = {"time": frame * 10**8, "flight_id": "f", "img_name": f"{frame:019d}f.png"}
        found = []
        for name, begin in (("Airplane1", 100), ("Airplane2", 122)):
            if begin <= frame < begin + 20:
                planned = {"blob": {"frame": frame, "range_distance_m": 320.0 - frame + begin}, "id": name}
                entities.append(base | planned | {"bb": [500.0, 500.0, 20.0, 20.0], "labels": {"is_above_horizon": 1}})
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
    for figure in ("ar_in_domain_seen", "ar_out_domain_unseen", "ap"):
        yield Effect("openad", figure, *_both("openad", request, work, None, figure, dimensions="3"))


def _aircopbench(work: Path) -> Iterator[Effect]:
    replies = [
        ("B", "B"), ("B", "(B)"), ("B", "The answer is B."), ("B", "The correct choice is B because it is visible."),
        ("A", "I cannot say from the images."), ("D", "Option D: both drones see it."), ("C", "Neither A nor B, so C."),
        ("A", "<think>B is hidden.</think> A"), ("B", "Because of the fog, B"), ("D", "None of them can be seen."),
    ]  # fmt: skip
    kinds = ("2.2 UAV Target Counting (UAV1)", "4.1 When to Collaborate (UAV2)")
    questions = [
        {"question_id": f"q{n}", "question_type": kinds[n % 2], "correct_answer": right}
        for n, (right, _) in enumerate(replies)
    ]
    (work / "questions.json").write_text(json.dumps({"dataset": "Sim3", "results": questions}))
    answers = [{"question_id": f"q{n}", "response": text} for n, (_, text) in enumerate(replies)]
    request = EvaluationRequest(work / "questions.json", work / "results.json")
    for figure in ("accuracy", "uncategorised"):
        yield Effect("aircopbench", figure, *_both("aircopbench", request, work, answers, figure))


def formatted(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@pytest.fixture(scope="module")
def effects(tmp_path_factory: pytest.TempPathFactory) -> list[Effect]:
    return list(measured_effects(tmp_path_factory.mktemp("effects")))


@pytest.mark.parametrize("benchmark", ["aot", "openad", "aircopbench"])
def test_page_states_the_measured_effects(benchmark: str, effects: list[Effect]) -> None:
    measured = [effect for effect in effects if effect.benchmark == benchmark]
    assert measured
    rows = re.findall(r"^\|.*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    for effect in measured:
        both = f"{formatted(effect.official)} (?:to|, or `{effect.figure}`) {formatted(effect.corrected)}"
        refused = f"{formatted(effect.official)}, or `{effect.figure}` {formatted(effect.corrected)}"
        assert any(re.search(both, row) or refused in row for row in rows), (effect, rows)
