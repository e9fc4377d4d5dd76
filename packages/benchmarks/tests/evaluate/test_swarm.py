"""Overlaps and swarm matches by blocks equal those at once."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluate.overlap_cases import turned_cases
from evaluate.synthetic import CATEGORIES, NAMES, VERSION, write_dataset
from uavsim.errors import UnknownNameError
from uavsim_benchmarks.evaluate.coperception import (
    OverlapMatches,
    match_by_overlap,
)
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.swarm.evaluate_swarm import evaluate_swarm
from uavsim_benchmarks.evaluate.swarm.scores import SwarmCounter, match_swarm


def test_overlaps_and_the_swarms_matches_in_blocks() -> None:
    for truth, found in turned_cases(20, seed=3):
        samples = int(max(truth.sample.max(), found.sample.max(initial=0))) + 1
        blocks = [found.take(found.sample == sample) for sample in reversed(range(samples))]
        at_once_matches = match_by_overlap(truth, found)
        parts = [match_by_overlap(truth.take(truth.rows_of(np.unique(b.sample))), b) for b in blocks]
        joined = OverlapMatches.concat(parts, truth_count=len(truth))
        np.testing.assert_array_equal(joined.matched, at_once_matches.matched)
        np.testing.assert_array_equal(joined.score, at_once_matches.score)
        scene = np.zeros(samples, np.int64)
        counter = SwarmCounter(truth, scene)
        for block in blocks:
            counter.add(block)
        ours, at_once = counter.matched(np.ones(samples, bool)), match_swarm(truth, found, scene)
        np.testing.assert_array_equal(ours.found, at_once.found)
        np.testing.assert_array_equal(ours.took, at_once.took)


def test_boxes_are_grouped_by_the_kinds_of_agents_that_measure_them(tmp_path: Path) -> None:
    """Drones find all boxes that they see; boxes seen by the car only are missed, so air adds to ground."""
    root = write_dataset(tmp_path / "data", scenes=2, seed=5)
    folder = root / VERSION
    boxes = json.loads((folder / "sample_annotation.json").read_text())
    agents = [["0", "3"], ["v0"], ["2", "v1", "r0"]]
    detail = []
    for number, box in enumerate(boxes):
        names_of_agents = agents[number % 3]
        box["uav_seen_by"] = [int(agent) for agent in names_of_agents if agent.isdigit()]
        measured = [{"agent": agent, "visible_px": 9, "amodal_px": 9} for agent in names_of_agents]
        detail.append({"sample_annotation_token": box["token"], "seen_by": [], "views": [], "agents": measured})
    (folder / "sample_annotation.json").write_text(json.dumps(boxes))
    (folder / "visibility_detail.json").write_text(json.dumps(detail))
    names = {row["token"]: row["category_token"] for row in json.loads((folder / "instance.json").read_text())}
    results: dict[str, list[dict[str, object]]] = {box["sample_token"]: [] for box in boxes}
    for number, box in enumerate(boxes):
        name = NAMES.get(CATEGORIES[int(names[box["instance_token"]][1:])])
        if name and agents[number % 3] != ["v0"]:
            keep = {key: box[key] for key in ("sample_token", "translation", "size", "rotation")}
            more = {"velocity": [0, 0], "detection_name": name, "detection_score": 0.9, "attribute_name": ""}
            results[box["sample_token"]].append(keep | more)
    meta = dict.fromkeys(("use_camera", "use_lidar", "use_radar", "use_map", "use_external"), False)
    (tmp_path / "results.json").write_text(json.dumps({"meta": meta, "results": results}))
    request = EvaluationRequest(
        root, tmp_path / "results.json", version=VERSION, mode="corrected", options={"draws": "20"}
    )
    groups = evaluate_swarm(request).scores["by_kinds"]
    assert set(groups) == {"drones", "vehicles", "drones and vehicles and roadside"}
    assert groups["vehicles"]["recall"]["value"] == 0.0
    assert groups["drones"]["recall"]["value"] == groups["drones and vehicles and roadside"]["recall"]["value"] == 1.0


def test_boxes_count_around_the_agent_that_is_the_ego_and_a_car_is_no_object_to_itself(tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "data", scenes=2, seed=5)
    folder = root / VERSION
    tables = {name: json.loads((folder / f"{name}.json").read_text()) for name in
              ("sample_annotation", "sensor", "calibrated_sensor", "sample_data", "ego_pose", "instance")}  # fmt: skip
    labels = {row["token"]: NAMES.get(CATEGORIES[int(row["category_token"][1:])]) for row in tables["instance"]}
    boxes = tables["sample_annotation"]
    tables["sensor"].append({"token": "front", "channel": "CAM_FRONT_id_v0", "modality": "camera"})
    tables["calibrated_sensor"].append({**tables["calibrated_sensor"][0], "token": "mount", "sensor_token": "front"})
    # The car of each sample.
    ego_boxes = {box["sample_token"]: box for box in reversed(boxes) if labels[box["instance_token"]]}
    lidar = {pose["token"]: pose for pose in tables["ego_pose"]}
    for shot in list(tables["sample_data"]):
        source = ego_boxes.get(shot["sample_token"], lidar[shot["ego_pose_token"]])
        pose = {key: source[key] for key in ("translation", "rotation")}
        tables["ego_pose"].append({**pose, "token": f"v0 {shot['token']}", "timestamp": shot["timestamp"]})
        tokens = dict.fromkeys(("token", "ego_pose_token"), f"v0 {shot['token']}")
        tables["sample_data"].append({**shot, **tokens, "calibrated_sensor_token": "mount"})
    results: dict[str, list[dict[str, object]]] = {sample: [] for sample in ego_boxes}
    around = 0
    for box in boxes:
        box["uav_seen_by"] = [0]
        ego = ego_boxes.get(box["sample_token"])
        if ego is None or labels[box["instance_token"]] is None:
            continue
        away_m = float(np.hypot(*np.subtract(box["translation"], ego["translation"])[:2]))
        around += 2.0 <= away_m < 40.0
        keep = {key: box[key] for key in ("sample_token", "translation", "size", "rotation")}
        name = labels[box["instance_token"]]
        found = {"velocity": [0, 0], "detection_name": name, "detection_score": 0.9, "attribute_name": ""}
        results[box["sample_token"]].append(keep | found)
        if box is ego:  # a second one in the same place would be a false alarm anywhere else
            results[box["sample_token"]].append(keep | found | {"detection_score": 1.0})
    for name, rows in tables.items():
        (folder / f"{name}.json").write_text(json.dumps(rows))
    meta = dict.fromkeys(("use_camera", "use_lidar", "use_radar", "use_map", "use_external"), False)
    (tmp_path / "results.json").write_text(json.dumps({"meta": meta, "results": results}))

    def scores(**options: str) -> dict[str, object]:
        request = EvaluationRequest(
            root, tmp_path / "results.json", "corrected", VERSION, options={"draws": "9", **options}
        )
        return evaluate_swarm(request).scores

    from_car = scores(ego="v0", range="40")
    assert from_car["overall"]["boxes"] == around > 10
    assert (from_car["ap"], from_car["recall"]) == pytest.approx((1.0, 1.0))
    assert scores()["ap"] < 1.0  # type: ignore[operator]  # from the drone the second one is a false alarm
    with pytest.raises(UnknownNameError, match="v1"):
        scores(ego="v1")
