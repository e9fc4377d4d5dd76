"""``uavsim evaluate devkit``: scores of the unmodified nuScenes devkit."""

from pathlib import Path

from uavsim.errors import InputError
from uavsim.typing import JsonDict
from uavsim.validate.devkit_process import run_judge
from uavsim_benchmarks.evaluate.nuscenes.result_input import only_version
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest, Outcome, Row, Table


def evaluate_with_devkit(request: EvaluationRequest) -> Outcome:
    """Score detections or tracks within 102.4 m by the unmodified devkit in its own environment.

    Raises:
        InputError: the devkit refuses the results, or is not installed.
    """
    if not request.results.is_file():
        raise InputError(f"{request.results}: no such file")
    scores = devkit_scores(request.truth, only_version(request), request.results, split=request.split)
    if not scores["ok"]:
        raise InputError(f"{request.results}: the devkit rejects the results: {scores['problem']}")
    first: JsonDict = next(iter(scores["classes"].values()), {})
    columns = [name for name, value in first.items() if not isinstance(value, dict)]
    rows: list[Row] = [(name, *(row[c] for c in columns)) for name, row in scores["classes"].items()]
    numbers = [name for name, value in scores.items() if isinstance(value, float)]
    return Outcome(
        "devkit", request.mode, scores, tuple(numbers), (Table("by class", ("class", *columns), tuple(rows)),)
    )


def devkit_scores(root: Path, version: str, predictions: Path, *, split: str | None = None) -> JsonDict:
    """Evaluate a result file in nuScenes' own format, detection or tracking.

    Args:
        root: the dataset's folder, strict dialect.
        version: its version folder.
        predictions: ``{"meta": ..., "results": {sample_token: [boxes]}}``.
        split: of ``splits.json``; default: the scenes that the results are about.

    Returns:
        ``{"task", "range_m", "classes": {name: {...}}, ...}``; means are over the classes that have ground truth.

    Raises:
        InputError: no such file, or the judge's environment is not installed.
        SystemFailure: the judge crashed.
    """
    arguments = [str(root.resolve()), version, str(predictions.resolve())]
    return run_judge("devkit_score", *arguments, *(["--split", split] if split else []))
