"""Tracks of predictions, as rows of nuScenes' tracking results."""

from collections.abc import Iterable, Sequence
from typing import Any

from uavsim_baselines.data.results import box_rows
from uavsim_baselines.tracking.trackers import TRACKERS, Tracker
from uavsim_baselines.training.predict import Prediction


def track_rows(
    predictions: Iterable[Prediction], *, tracker: str, classes: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each sample; each scene is tracked separately, in the samples' order.

    Args:
        predictions: predictions in time order within each scene.
        tracker: name in ``TRACKERS``.
        classes: names of the labels.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    running: dict[str, Tracker] = {}
    for prediction in predictions:
        frame = prediction.frame
        scene = running.setdefault(frame.scene, TRACKERS[tracker]())
        numbers = scene.step(prediction.boxes, time_s=frame.timestamp_us / 1e6)
        found = box_rows(prediction.boxes, token=frame.token, classes=classes)
        rows[frame.token] = [
            _tracked(row, f"{frame.scene}:{number}") for row, number in zip(found, numbers, strict=True)
        ]
    return rows


def _tracked(row: dict[str, Any], track: str) -> dict[str, Any]:
    common = {key: row[key] for key in ("sample_token", "translation", "size", "rotation", "velocity")}
    return {
        **common,
        "tracking_id": track,
        "tracking_name": row["detection_name"],
        "tracking_score": row["detection_score"],
    }
