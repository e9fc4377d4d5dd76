"""Scores of a run by ``uavsim evaluate``'s functions."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import uavsim
from uavsim_baselines.data.results import read_results, write_json
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.tracking.trackers import TRACKERS
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

DETECTIONS: Final = "detections.json"
SCORES: Final = "scores.json"


def tracks_file(tracker: str) -> str:
    """Return the name of a tracker's results in a run's folder."""
    return f"tracks_{tracker}.json"


def score_run(
    run: Path, *, truth: Path, version: str | None = None, against: Mapping[str, Path] = MappingProxyType({})
) -> dict[str, Any]:
    """Score a run's results in mode ``corrected``, write ``scores.json`` beside them, and return its content.

    Args:
        run: output folder of ``predict``.
        truth: dataset of the predictions.
        version: version folder of the dataset.
        against: other runs by name; AP and recall are compared on the same bootstrap draws, if the dataset has the drones
            that see each box.

    Raises:
        BaselineError: a run has no predictions.
        UavsimError: a result is refused.
    """
    _, about = read_results(run / DETECTIONS)
    has_visibility = _has_visibility(truth, version)
    benchmarks = ["nuscenes-detection", "uav3d", *(["swarm"] if has_visibility else [])]
    scores = {name: _score(name, truth, run / DETECTIONS, version) for name in benchmarks}
    for tracker in TRACKERS:
        scores[f"tracking-{tracker}"] = _score("nuscenes-tracking", truth, run / tracks_file(tracker), version)
    paired = {}
    for name, other in against.items() if has_visibility else ():
        options = {"against": str(other / DETECTIONS)}
        paired[name] = _score("swarm", truth, run / DETECTIONS, version, options)["comparison"]
    content = {"about": about, "scores": scores, "paired": paired}
    write_json(run / SCORES, content)
    return content


def ap_at_2m(results: Path, *, truth: Path, version: str | None = None) -> float:
    """Return the AP at 2 m of a detection file by the benchmark ``swarm``, over all classes together.

    Raises:
        UavsimError: the result is refused.
    """
    return float(_score("swarm", truth, results, version, {"draws": "1"})["ap"])


def score_around(
    ego: int | str,
    results: Path,
    *,
    truth: Path,
    range_m: float,
    version: str | None = None,
    against: Path | None = None,
) -> dict[str, Any]:
    """Return the scores of the benchmark ``swarm`` around an agent, with ``comparison`` to a second file.

    Raises:
        UavsimError: a result is refused.
    """
    options = {"ego": str(ego), "range": f"{range_m:g}"} | ({"against": str(against)} if against else {})
    return _score("swarm", truth, results, version, options)


def read_scores(run: Path) -> dict[str, Any]:
    """Read the scores that ``score_run`` wrote.

    Raises:
        BaselineError: the run has no scores.
    """
    try:
        content: dict[str, Any] = json.loads((run / SCORES).read_text("utf-8"))
    except OSError as error:
        raise BaselineError(
            f"{run / SCORES}: {error.strerror or error}; run uavsim-baselines evaluate first"
        ) from error
    except ValueError as error:
        raise BaselineError(f"{run / SCORES}: not JSON; run uavsim-baselines evaluate again") from error
    return content


def _has_visibility(truth: Path, version: str | None) -> bool:
    """Return whether the dataset has the drones that see each box, as the benchmark ``swarm`` requires."""
    return any(any(sample.boxes.seen_by) for scene in uavsim.open(truth, version) for sample in scene)


def _score(
    benchmark: str, truth: Path, results: Path, version: str | None, options: dict[str, str] | None = None
) -> dict[str, Any]:
    request = EvaluationRequest(truth, results, "corrected", version, None, options or {})
    scores: dict[str, Any] = evaluate(benchmark, request).as_json()
    return scores
