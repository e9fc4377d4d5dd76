"""Parsing and counting of answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.aircopbench.evaluate_aircopbench import evaluate_aircopbench
from uavsim_benchmarks.evaluate.aircopbench.scores import parse_official, parse_strict, score_answers, task_of
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


@pytest.mark.parametrize(
    ("text", "official", "strict"),
    [
        ("B", "B", "B"),
        ("(c)", "C", "C"),
        ("A. The red car", "A", "A"),
        ("The answer is D.", "D", "D"),
        ("The correct choice is B because it is visible", "C", "B"),
        ("I cannot report", "C", None),
        ("A and B", "B", None),
        ("The answer is A, not the answer is B", "A", None),
        ("<think>Is it A or B?</think>C", "C", "C"),
        ("", None, None),
        ("none", None, None),
        ("B because it is nearer", "B", None),
    ],
)
def test_how_a_text_is_read(text: str, official: str | None, strict: str | None) -> None:
    assert parse_official(text) == official
    assert parse_strict(text) == strict


def test_accuracies() -> None:
    kinds = ["2.2 Object Counting (UAV1)", "2.2 UAV Target Counting", "4.1 When to Collaborate (UAV2)"]
    correct = np.array([True, False, True])
    official = score_answers(kinds, ["Sim3"] * 3, correct)
    assert (official.micro, official.macro, official.uncategorised) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 1)
    assert official.by_category["object_understanding"] == 1.0
    corrected = score_answers(kinds, ["Sim3"] * 3, correct, mode="corrected")
    assert corrected.by_category["object_understanding"] == 0.5
    assert corrected.macro == 0.75
    assert task_of("4.1 When to Collaborate (UAV1)") == "When to Collaborate"


def test_aircopbenchs_files(tmp_path: Path) -> None:
    questions, results = tmp_path / "q.json", tmp_path / "r.json"
    row = {"question_type": "2.2 Object Counting", "correct_answer": "B"}
    questions.write_text(json.dumps({"dataset": "Sim3", "results": [row | {"question_id": n} for n in ("1", "2")]}))
    texts = {"1": "The correct choice is B because it is visible", "2": "I cannot report"}
    results.write_text(json.dumps([{"question_id": n, "response": text} for n, text in texts.items()]))
    assert evaluate_aircopbench(EvaluationRequest(questions, results)).scores["accuracy"] == 0.0
    corrected = evaluate_aircopbench(EvaluationRequest(questions, results, mode="corrected")).scores
    assert (corrected["accuracy"], corrected["unparsed_rate"]) == (0.5, 0.5)
    results.write_text(json.dumps([{"question_id": "1", "predicted_answer": "B"}]))
    with pytest.raises(InputError, match="1 of 2 questions have no answer"):
        evaluate_aircopbench(EvaluationRequest(questions, results))
    for rows, words in (
        ([{"question_id": "9", "response": "B"}], "not in the question file"),
        ([{"question_id": "1"}], "neither"),
    ):
        results.write_text(json.dumps(rows))
        with pytest.raises(InputError, match=words):
            evaluate_aircopbench(EvaluationRequest(questions, results))
