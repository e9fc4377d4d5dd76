"""Scores of a run by ``uavsim evaluate``'s functions, and tables of runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from uavsim.evaluate.metrics import evaluate
from uavsim.evaluate.outcome import EvaluationRequest
from uavsim_baselines.data.results import read_results, write_json
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.tracking.trackers import TRACKERS

__all__ = ["DETECTIONS", "SCORES", "score_run", "table_of", "tracks_file"]

DETECTIONS: Final = "detections.json"
SCORES: Final = "scores.json"
_COLUMNS: Final = ("sharing", "AP 1 m", "AP 2 m", "AP 4 m", "AP@IoU .5", "AP@IoU .7", "NDS", "AMOTA greedy", "AMOTA Kalman",
                   "bytes a frame")  # fmt: skip


def tracks_file(tracker: str) -> str:
    """Return the name of a tracker's results in a run's folder."""
    return f"tracks_{tracker}.json"


def score_run(run: Path, *, truth: Path, version: str | None = None) -> dict[str, Any]:
    """Score a run's results in mode ``corrected``, write ``scores.json`` beside them, and return what it holds.

    Args:
        run: folder that ``predict`` wrote.
        truth: the data set that the predictions are of.
        version: its version folder.

    Raises:
        BaselineError: the run has no predictions.
        UavsimError: a result is refused.
    """
    _, about = read_results(run / DETECTIONS)
    wanted = {"nuscenes-detection": DETECTIONS, "uav3d": DETECTIONS}
    scores = {name: _score(name, truth, run / file, version) for name, file in wanted.items()}
    for tracker in TRACKERS:
        scores[f"tracking-{tracker}"] = _score("nuscenes-tracking", truth, run / tracks_file(tracker), version)
    content = {"about": about, "scores": scores}
    write_json(run / SCORES, content)
    return content


def _score(benchmark: str, truth: Path, results: Path, version: str | None) -> dict[str, Any]:
    request = EvaluationRequest(truth, results, "corrected", version, None, {})
    scores: dict[str, Any] = evaluate(benchmark, request).as_json()
    return scores


def table_of(runs: Sequence[Path]) -> str:
    """Return a table in Markdown, one row a run, in the order given.

    Raises:
        BaselineError: a run has no scores.
    """
    lines = [" | ".join(_COLUMNS), " | ".join("---" for _ in _COLUMNS)]
    for run in runs:
        lines.append(" | ".join(_row(run)))
    return "\n".join(f"| {line} |" for line in lines)


def _row(run: Path) -> list[str]:
    try:
        content = json.loads((run / SCORES).read_text("utf-8"))
    except OSError as error:
        raise BaselineError(
            f"{run / SCORES}: {error.strerror or error}; uavsim-baselines evaluate writes it"
        ) from error
    except ValueError as error:
        raise BaselineError(f"{run / SCORES}: not what uavsim-baselines evaluate wrote") from error
    about, scores = content["about"], content["scores"]
    detection, uav3d = scores["nuscenes-detection"], scores["uav3d"]
    figures = [
        *(_mean_ap(detection, metres) for metres in ("1.0", "2.0", "4.0")),
        uav3d["ap_0.5"], uav3d["ap_0.7"], detection["nds"],
        *(scores[f"tracking-{tracker}"]["amota"] for tracker in TRACKERS),
    ]  # fmt: skip
    shown = ["-" if figure is None else f"{figure:.3f}" for figure in figures]
    return [str(about["sharing"]), *shown, f"{about['bytes_per_frame']:.0f}"]


def _mean_ap(detection: dict[str, Any], metres: str) -> float | None:
    """Return the mean over the classes that the truth has."""
    found = [aps[metres] for label, aps in detection["label_aps"].items() if detection["boxes"][label]]
    return sum(found) / len(found) if found else None
