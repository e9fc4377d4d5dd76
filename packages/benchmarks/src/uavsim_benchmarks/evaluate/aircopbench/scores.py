"""AirCopBench: parsing of answers to questions with four options, and their accuracy.

``official`` is AirCopBench's ``evaluation.py``: its parser accepts letters within ordinary words, and questions of an unlisted
type count in no category. ``corrected`` parses strictly, counts and reports unparsed answers as wrong, and maps two
names of the question generators to listed tasks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray

__all__ = ["CATEGORIES", "AnswerScores", "parse_official", "parse_strict", "score_answers", "task_of"]

CATEGORIES: Final = {
    "scene_understanding": ("Scene Description", "Scene Comparison", "Observing Posture"),
    "object_understanding": ("Object Recognition", "Object Counting", "Object Grounding", "Object Matching"),
    "perception_assessment": ("Quality Assessment", "Usability Assessment", "Causal Assessment"),
    "collaborative_decision": (
        "When to Collaborate",
        "What to Collaborate",
        "Who to Collaborate",
        "Why to Collaborate",
    ),
}
_OTHER_NAMES: Final = {"UAV Target Counting": "Object Counting", "Scene Understanding": "Scene Description"}
_LETTERS: Final = ("A", "B", "C", "D")
_OFFICIAL: Final = (
    r"ANSWER:\s*([ABCD])",
    r"THE ANSWER IS\s*([ABCD])",
    r"\(([ABCD])\)",
    r"^([ABCD]):",
    r"OPTION\s*([ABCD])",
    r"([ABCD])\s*\.?\s*$",
)
_STATED: Final = re.compile(
    r"\b(?:answer|choice|option)\b\s*(?:is|:)?\s*(?:option\s*)?[\(\[\"'*]*([A-D])\b(?!['’])", re.IGNORECASE
)
_ALONE: Final = re.compile(r"^[\(\[\"'*\s]*([A-Da-d])(?:[\)\]\"'*.:,\s]*$|[\).:]\s)")
_THOUGHT: Final = re.compile(r"<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Accuracies: micro averages over questions, macro over tasks; ``uncategorised`` counts questions in no category."""

    micro: float
    macro: float
    by_task: dict[str, float]
    by_category: dict[str, float]
    by_dataset: dict[str, float]
    questions: dict[str, int]
    uncategorised: int


def task_of(question_type: str) -> str:
    """Return the task's name: ``4.1 When to Collaborate (UAV1)`` is ``When to Collaborate``."""
    match = re.match(r"\d+\.\d+\s+(.+?)\s*(?:\(|$)", question_type)
    return match.group(1) if match else question_type


def parse_official(text: str, rng: np.random.Generator | None = None) -> str | None:
    """Parse an answer as AirCopBench does, which falls back to any A to D in the text.

    Args:
        text: answer of the model.
        rng: draws a letter where the text has none, as the (unseeded) reference does; without it the result is None.

    Source: AirCopBench, ``AirCopBench_evaluation/evaluation.py``, ``extract_answer``.
    """
    begin = text.rfind("<think>")
    if begin != -1:
        text = text[begin + len("</think>") :].strip()
    upper = text.strip().upper()
    for pattern in _OFFICIAL:
        match = re.search(pattern, upper, re.MULTILINE)
        if match:
            return match.group(1)
    letter = next((character for character in upper if character in _LETTERS), None)
    return letter if letter or rng is None else str(rng.choice(_LETTERS))


def parse_strict(text: str) -> str | None:
    """Return the letter that a text states as its answer, or None for no letter or several.

    Text between <think> tags is ignored. A letter counts alone (``B``, ``(B)``, ``B. The red car``) or where the text
    calls it the answer, choice or option.
    """
    text = _THOUGHT.sub("", text).strip()
    alone = _ALONE.match(text)
    if alone:
        return alone.group(1).upper()
    named = {letter.upper() for letter in _STATED.findall(text)}
    return named.pop() if len(named) == 1 else None


def score_answers(
    question_type: Sequence[str], dataset: Sequence[str], correct: BoolArray, *, mode: str = "official"
) -> AnswerScores:
    """Compute accuracies of N answered questions.

    Args:
        question_type: N names such as ``2.2 Object Counting (UAV1)``.
        dataset: N names of the questions' datasets.
        correct: (N,) bool.
        mode: ``official`` leaves questions under other names out of the categories.
    """
    tasks = [task_of(name) for name in question_type]
    if mode != "official":
        tasks = [_OTHER_NAMES.get(name, name) for name in tasks]
    names = np.array(tasks, dtype=object)
    by_task = {name: _accuracy(correct[names == name]) for name in dict.fromkeys(tasks)}
    by_category = {
        category: _accuracy(correct[np.array([name in category_tasks for name in tasks], dtype=bool)])
        for category, category_tasks in CATEGORIES.items()
    }
    known = {name for category_tasks in CATEGORIES.values() for name in category_tasks}
    of_dataset = np.array(list(dataset), dtype=object)
    return AnswerScores(
        micro=_accuracy(correct),
        macro=float(np.mean(list(by_task.values()))) if by_task else 0.0,
        by_task=by_task,
        by_category=by_category,
        by_dataset={name: _accuracy(correct[of_dataset == name]) for name in dict.fromkeys(dataset)},
        questions={name: int((names == name).sum()) for name in by_task},
        uncategorised=sum(name not in known for name in tasks),
    )


def _accuracy(correct: BoolArray) -> float:
    return float(correct.mean()) if len(correct) else 0.0
