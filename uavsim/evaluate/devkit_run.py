"""The outside devkit's own figures: ``uavsim evaluate devkit``, for those who want the original's word."""

from __future__ import annotations

from uavsim.errors import InputError
from uavsim.evaluate.devkit import devkit_scores
from uavsim.evaluate.outcome import EvaluationRequest, Outcome, Row, Table
from uavsim.evaluate.result_input import only_version
from uavsim.typing import JsonDict

__all__ = ["evaluate_with_devkit"]


def evaluate_with_devkit(request: EvaluationRequest) -> Outcome:
    """Let the unmodified devkit, in its own environment, score detections or tracks at 102.4 m.

    Raises:
        InputError: the devkit refuses the results, or is not installed.
    """
    if not request.results.is_file():
        raise InputError(f"{request.results}: no such file")
    scores = devkit_scores(request.truth, only_version(request), request.results, split=request.split)
    if not scores["ok"]:
        raise InputError(f"{request.results}: the devkit refuses it: {scores['problem']}")
    first: JsonDict = next(iter(scores["classes"].values()), {})
    columns = [name for name, value in first.items() if not isinstance(value, dict)]
    rows: list[Row] = [(name, *(row[c] for c in columns)) for name, row in scores["classes"].items()]
    numbers = [name for name, value in scores.items() if isinstance(value, float)]
    return Outcome(
        "devkit", request.mode, scores, tuple(numbers), (Table("by class", ("class", *columns), tuple(rows)),)
    )
