"""Scores of the unmodified devkit."""

import json
from pathlib import Path

import pytest

from tests.validate.small import VERSION, write_small
from tests.validate.unreal_view import load
from uavsim.typing import JsonDict
from uavsim_benchmarks.evaluate.nuscenes.devkit import devkit_scores


def test_predictions_off_by_three_metres_lose_the_strict_thresholds(tmp_path: Path) -> None:
    strict = write_small(tmp_path / "small", tmp_path / "recordings")
    results: dict[str, list[JsonDict]] = {}
    for box in load(strict, VERSION, "sample_annotation").values():
        found = results.setdefault(box["sample_token"], [])
        if box["uav_blueprint"] == "vehicle.mitsubishi.fusorosa":
            moved_m = [box["translation"][0] + 3.0, *box["translation"][1:]]
            found.append(
                {"sample_token": box["sample_token"], "translation": moved_m, "size": box["size"], "rotation": box["rotation"],
                 "velocity": [0.0, 0.0], "detection_name": "bus", "detection_score": 0.5, "attribute_name": ""}
            )  # fmt: skip
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"meta": {}, "results": results}))
    scores = devkit_scores(strict, VERSION, file)
    assert scores["task"] == "detection"
    assert scores["classes"]["bus"]["ap"] == pytest.approx(
        0.25
    )  # of 0.5, 1, 2 and 4 m only the last one is large enough
    assert scores["classes"]["car"]["ap"] == 0.0
