"""Quality control of questions: form, duplicates, position of the correct answer, and text-only baselines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from scipy.stats import chisquare

from uavsim.typing import JsonDict
from uavsim_benchmarks.questions.blind import CHANCE, blind_scores
from uavsim_benchmarks.questions.draw import LETTERS, too_alike

NEAR_CHANCE: Final = 0.05
"""Accuracy above chance up to which a text-only baseline has no signal."""
_REQUIRED: Final = ("question_id", "question_type", "question", "options", "correct_answer", "uav_paths")
_SHORTEST, _LONGEST = 10, 200  # characters of a question
_LEAST_CHANCE: Final = 0.01  # p-value below which positions are not uniform


def faults_of(question: JsonDict) -> list[str]:
    """Return the faults in the form of one question."""
    missing = [name for name in _REQUIRED if not question.get(name)]
    if missing:
        return [f"lacks {', '.join(missing)}"]
    options = question["options"]
    if not isinstance(options, dict) or tuple(options) != tuple(LETTERS):
        return ["its options are not A, B, C, D"]
    found = []
    if question["correct_answer"] not in options:
        found.append("its answer is none of its options")
    if not _SHORTEST <= len(question["question"]) <= _LONGEST:
        found.append(f"its text has {len(question['question'])} characters, {_SHORTEST} to {_LONGEST} are good")
    if too_alike(list(options.values())):
        found.append("two of its options are alike")
    return found


def check_questions(questions: Sequence[JsonDict], tasks: Mapping[str, str]) -> JsonDict:
    """Return the report: counts, faults, positions and blind scores of every task.

    Args:
        questions: in AirCopBench's form.
        tasks: names, ``2.2 Object Counting``, with the requirements on a dataset; tasks without questions are reported.
    """
    of_task: dict[str, list[JsonDict]] = {name: [] for name in tasks}
    for question in questions:
        of_task[question["question_type"].partition(" (")[0]].append(question)
    found = {name: _task(members) for name, members in of_task.items()}
    priors = {name: report["prior"] for name, report in found.items() if report["prior"]}
    return {
        "questions": len(questions),
        "chance": CHANCE,
        "faults": {q["question_id"]: faults for q in questions if (faults := faults_of(q))},
        "duplicates": _duplicates(questions),
        "positions": _positions(questions),
        "tasks": found,
        "tasks_without_questions": {name: tasks[name] for name, members in of_task.items() if not members},
        "priors": priors,
    }


def _task(questions: Sequence[JsonDict]) -> JsonDict:
    if not questions:
        return {"questions": 0, "prior": ""}
    scores = blind_scores(questions)
    error = next(iter(scores.values())).error
    worst = max(scores, key=lambda name: scores[name].accuracy)
    above = scores[worst].accuracy - CHANCE
    return {
        "questions": len(questions),
        "answers": len({q["options"][q["correct_answer"]] for q in questions}),
        "positions": _positions(questions),
        "blind": {name: round(score.accuracy, 4) for name, score in scores.items()},
        "standard_error": round(error, 4),
        "near_chance": bool(above <= NEAR_CHANCE),
        "prior": "" if above <= NEAR_CHANCE else _stated(worst, above, error),
    }


def _stated(model: str, above: float, error: float) -> str:
    """Describe the margin of a text-only baseline above chance, and its significance."""
    sure = "more than chance explains" if above > 3 * error else f"chance alone gives {100 * error:.1f}"
    return f"{model}: {100 * above:.1f} points above chance, {sure}"


def _positions(questions: Sequence[JsonDict]) -> JsonDict:
    counts = Counter(q["correct_answer"] for q in questions)
    observed = np.array([counts[letter] for letter in LETTERS], dtype=np.float64)
    p_value = float(chisquare(observed).pvalue) if observed.sum() else 1.0
    return {
        "counts": {letter: counts[letter] for letter in LETTERS},
        "p_value": round(p_value, 4),
        "uniform": p_value >= _LEAST_CHANCE,
    }


def _duplicates(questions: Sequence[JsonDict]) -> int:
    """Count questions with equal text and images."""
    counts = Counter((q["question"], tuple(sorted(q["uav_paths"].items()))) for q in questions)
    return sum(count - 1 for count in counts.values())
