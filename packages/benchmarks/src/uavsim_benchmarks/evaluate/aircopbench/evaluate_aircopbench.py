"""Score AirCopBench's own files: ``uavsim evaluate aircopbench``."""

from pathlib import Path
from typing import Any

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import JsonDict
from uavsim_benchmarks.evaluate.aircopbench.scores import parse_official, parse_strict, score_answers
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, Row, Table
from uavsim_benchmarks.evaluate.readers.json_stream import read_json


def evaluate_aircopbench(request: EvaluationRequest) -> Outcome:
    """Score answers to AirCopBench's questions.

    Truth: a question file, ``{"dataset", "results": [...]}`` or a list, or a folder of such files. Results: a list of
    ``{"question_id", "predicted_answer"}`` (a letter) or ``"response"`` (a model's text), with ``"dataset"`` where there are
    several. Option ``seed`` draws the letter of an answer without one in ``official``.

    Raises:
        InputError: a file is invalid, or a question is unknown or answered twice.
    """
    questions = _questions(request.truth)
    texts = _answers(request.results, questions)
    rng = np.random.default_rng(request.count("seed", 0))
    official = request.mode == "official"
    missing = [key for key in questions if key not in texts]
    if official and missing:
        raise InputError(
            f"{request.results}: {len(missing)} of {len(questions)} questions have no answer, first {missing[0][1]} "
            "(--mode corrected counts them as wrong)"
        )
    letters = {
        key: text if chosen else parse_official(text, rng) if official else parse_strict(text)
        for key, (text, chosen) in texts.items()
    }
    correct = np.array([letters.get(key) == row["correct_answer"] for key, row in questions.items()], dtype=bool)
    kinds, datasets = [str(row["question_type"]) for row in questions.values()], [key[0] for key in questions]
    scores = score_answers(kinds, datasets, correct, mode=request.mode)
    unread = sum(text not in "ABCD" if chosen else parse_strict(text) is None for text, chosen in texts.values())
    summary: JsonDict = {
        "accuracy": scores.micro, "accuracy_macro": scores.macro, "by_task": scores.by_task,
        "by_category": scores.by_category, "by_dataset": scores.by_dataset, "questions": scores.questions,
        "uncategorised": scores.uncategorised, "unanswered": len(missing), "unparsed": unread,
        "unparsed_rate": unread / len(texts) if texts else 0.0,
    }  # fmt: skip
    rows: list[Row] = [(name, scores.questions[name], value) for name, value in scores.by_task.items()]
    rows += [(name, None, value) for name, value in scores.by_category.items()]
    table = Table("accuracy by task and category", ("", "questions", "accuracy"), tuple(rows))
    names = tuple(scores.by_task)
    bars = {"accuracy": (np.arange(len(names) + 1.0), np.array(list(scores.by_task.values())))}
    curve = Curve("accuracy by task", "", "accuracy", bars, steps=True, ticks=names)
    return Outcome("aircopbench", request.mode, summary, ("accuracy", "accuracy_macro"), (table,), (curve,))


def _questions(path: Path) -> dict[tuple[str, str], JsonDict]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path}: holds no question files (*.json)")
    questions: dict[tuple[str, str], JsonDict] = {}
    for file in files:
        content = read_json(file)
        name = str(content.get("dataset", file.stem)) if isinstance(content, dict) else file.stem
        for row in _rows(file, content):
            if "correct_answer" not in row or "question_type" not in row:
                raise InputError(f"{file}: question {row.get('question_id')} lacks correct_answer or question_type")
            key = (str(row.get("dataset", name)), str(row.get("question_id")))
            if key in questions:
                raise InputError(f"{file}: question {key[1]} occurs twice")
            questions[key] = row
    return questions


def _answers(path: Path, questions: dict[tuple[str, str], JsonDict]) -> dict[tuple[str, str], tuple[str, bool]]:
    """Return the text of each answer, and whether it is the chosen letter already."""
    of_id: dict[str, list[str]] = {}
    for dataset, identity in questions:
        of_id.setdefault(identity, []).append(dataset)
    texts: dict[tuple[str, str], tuple[str, bool]] = {}
    for row in _rows(path, read_json(path)):
        identity = str(row.get("question_id"))
        datasets = of_id.get(identity, [])
        dataset = str(row["dataset"]) if "dataset" in row and len(datasets) != 1 else (datasets or [""])[0]
        if (dataset, identity) not in questions:
            raise InputError(f"{path}: question {identity!r} is not in the question file")
        if (dataset, identity) in texts:
            raise InputError(f"{path}: question {identity} is answered twice")
        answer_key = next((key for key in ("response", "predicted_answer") if isinstance(row.get(key), str)), None)
        if answer_key is None:
            raise InputError(f"{path}: question {identity} has neither a response nor a predicted_answer")
        texts[dataset, identity] = (row[answer_key], answer_key == "predicted_answer")
    return texts


def _rows(path: Path, content: Any) -> list[JsonDict]:
    rows = content.get("results") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: expected a list of questions, or an object with such a list under 'results'")
    return rows
