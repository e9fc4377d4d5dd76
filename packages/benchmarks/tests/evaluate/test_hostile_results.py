"""Files of all benchmarks with one irregular value: scored, or refused in one line with exit code 2."""

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from evaluate import aot_cases
from evaluate.synthetic import VERSION, results_for, truth_of, write_dataset
from uavsim.errors import DatasetError, UavsimError
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

ODD = (
    None, "", "x", "\udcff", [], {}, [[]], True, -1, 0, 10**30, -(10**400), float("nan"), float("inf"), 1e300, [1, 2],
    {"a": 1},
)  # fmt: skip
CHANGES = 120
Content = Any


def value_paths(value: Content, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in nested lists and dicts."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner_path for key, item in inner for inner_path in value_paths(item, (*path, key)))]


def changed(content: Content, rng: np.random.Generator) -> Content:
    """Return a copy with one value replaced or removed, at any depth."""
    content = copy.deepcopy(content)
    every = value_paths(content)
    depth = int(rng.integers(max(len(path) for path in every) + 1))
    path = [p for p in every if len(p) == depth][int(rng.integers(sum(len(p) == depth for p in every)))]
    odd = ODD[int(rng.integers(len(ODD)))]
    if not path:
        return odd
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    if isinstance(holder, dict) and rng.random() < 0.2:
        del holder[path[-1]]
    else:
        holder[path[-1]] = odd
    return content


def openad(rng: np.random.Generator) -> tuple[Content, Content]:
    box = [1.0, 1.0, 9.0, 9.0, 1.5, 2.0, 4.0, 1.0, 2.0, 3.0, 0.5, 1, 0, 1, 0, 0, "car"]
    scenes: list[Any] = [[list(box), list(box)], []]
    found: list[Any] = [[[1.5, 2.0, 4.0, 1.1, 2.0, 3.0, 0.5, "car"]], []]
    features = rng.normal(size=(1, 4)).tolist()
    return [scenes, ["car"], features], [found, ["car"], features, {"av2": True, "kitti": False}]


def aircopbench(rng: np.random.Generator) -> tuple[Content, Content]:
    kinds = ("2.2 Object Counting (UAV1)", "4.1 When to Collaborate (UAV2)")
    rows = [{"question_id": f"q{n}", "question_type": kinds[n % 2], "correct_answer": "A"} for n in range(4)]
    answers = [{"question_id": f"q{n}", "response": str(rng.choice(["A", "B is it", "<think>"]))} for n in range(4)]
    return {"dataset": "Sim3", "results": rows}, answers


def aot(rng: np.random.Generator) -> tuple[Content, Content]:
    """Return a random case with the first images of its first flight only."""
    truth, results = aot_cases.make_case(int(rng.integers(3)))
    name, flight = next(iter(truth["samples"].items()))
    flight["entities"] = flight["entities"][:4]
    images = {entity["img_name"] for entity in flight["entities"]}
    entries = [entry for entry in results if entry["img_name"] in images]
    entries[0]["detections"].append({"n": "airborne", "x": 9.0, "y": 9.0, "w": 5.0, "h": 5.0, "s": 0.5, "track_id": 3})
    return {"samples": {name: flight}}, entries


CASES: dict[str, Callable[[np.random.Generator], tuple[Content, Content]]] = {
    "aot": aot,
    "openad": openad,
    "aircopbench": aircopbench,
}


def scored_or_refused(benchmark: str, truth: Path, results: Path, **choices: Any) -> bool:
    """Score files; returns False if they are correctly refused."""
    refusal: UavsimError | None = None
    try:
        outcome = evaluate(benchmark, EvaluationRequest(truth, results, **choices))
        json.dumps(outcome.as_json(), allow_nan=False)
    except UavsimError as error:
        refusal = error
    if refusal is not None:
        assert refusal.exit_code in {2, 4}, refusal
        assert "\n" not in str(refusal)
    return refusal is None


@pytest.mark.parametrize("mode", ["official", "corrected"])
@pytest.mark.parametrize("benchmark", sorted(CASES))
def test_a_benchmarks_own_files_with_an_odd_value(benchmark: str, mode: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(benchmark))
    suffix = "pkl" if benchmark == "openad" else "json"
    files = tmp_path / f"truth.{suffix}", tmp_path / f"results.{suffix}"
    refused = 0
    for number in range(CHANGES):
        contents = list(CASES[benchmark](rng))
        contents[number % 2] = changed(contents[number % 2], rng)
        for file, content in zip(files, contents, strict=True):
            file.write_bytes(pickle.dumps(content) if suffix == "pkl" else json.dumps(content).encode())
        refused += not scored_or_refused(benchmark, *files, mode=mode)
    assert 0 < refused < CHANGES


@pytest.mark.parametrize("value", [[5.0], [5.0, "x", 1.0], "abc", [1.0, 2.0]])
def test_a_truth_whose_places_are_none_is_refused(value: object, tmp_path: Path) -> None:
    root, file = write_dataset(tmp_path / "data", scenes=1, samples=3, boxes=8), tmp_path / "results.json"
    file.write_text(json.dumps(results_for(truth_of(root, 0), "detection", 0, "random")))
    table = root / VERSION / "sample_annotation.json"
    table.write_text(json.dumps([row | {"translation": value} for row in json.loads(table.read_text())]))
    with pytest.raises(DatasetError, match="a box's translation is not 3 numbers"):
        evaluate("nuscenes-detection", EvaluationRequest(root, file, split="case_0"))


@pytest.mark.parametrize("task", ["detection", "tracking"])
def test_a_nuscenes_result_with_an_odd_value(task: str, tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "data", scenes=1, samples=3, boxes=8)
    content = results_for(truth_of(root, 0), task, 0, "random")
    rng = np.random.default_rng(5)
    file = tmp_path / "results.json"
    refused = 0
    for _ in range(CHANGES):
        file.write_text(json.dumps(changed(content, rng)))
        refused += not scored_or_refused(f"nuscenes-{task}", root, file, split="case_0")
    assert 0 < refused < CHANGES


def test_an_opv2v_folder_with_an_odd_value(tmp_path: Path) -> None:
    vehicle = {
        "location": [10, 2, 0],
        "center": [0.5, 0, 0.8],
        "extent": [2.4, 1.0, 0.8],
        "angle": [0, 90, 0],
        "speed": 3,
    }
    frame = {"lidar_pose": [1, 2, 3, 0, 0, 0], "vehicles": {7: vehicle, 8: vehicle}}
    file, results = tmp_path / "set/2021_08/0/000068.yaml", tmp_path / "results.json"
    file.parent.mkdir(parents=True)
    box: Content = {"sample_token": "2021_08/000068", "translation": [10.5, 2.0, 0.8], "size": [2.0, 4.8, 1.6]}
    box |= {"rotation": [0.7071, 0, 0, 0.7071], "velocity": [0, 0], "attribute_name": ""}
    box |= {"detection_name": "car", "detection_score": 0.5}
    results.write_text(json.dumps({"meta": {}, "results": {"2021_08/000068": [box]}}))
    rng = np.random.default_rng(6)
    refused = 0
    for _ in range(CHANGES):
        content = changed(frame, rng)
        file.write_text(yaml.safe_dump(content) if content != "\udcff" else "\x00", errors="surrogatepass")
        refused += not scored_or_refused("coperception-uav", tmp_path / "set", results)
    assert 0 < refused < CHANGES
    for text in (
        "",
        "[" * 100_000,
        "a: &a [*a]",
        "- " * 20_000 + "1",
        "vehicles: !!python/object:os.system {}",
        "{1: 2",
    ):
        file.write_text(text)
        assert not scored_or_refused("coperception-uav", tmp_path / "set", results)


@pytest.mark.parametrize("benchmark", ["aot", "aircopbench", "nuscenes-detection"])
@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\x00", b"[1, 2", b'{"samples": {"f":', b"[" * 100_000, b"\x80\x04K\x01."]
)
def test_a_file_that_is_cut_off_or_no_text(benchmark: str, data: bytes, tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "data", scenes=1, samples=3, boxes=8)
    truth, results = tmp_path / "truth.json", tmp_path / "results.json"
    own_truth, _ = CASES.get(benchmark, aircopbench)(np.random.default_rng(0))
    truth.write_text(json.dumps(own_truth))
    results.write_bytes(data)
    assert not scored_or_refused(benchmark, root if benchmark == "nuscenes-detection" else truth, results)
    if benchmark != "nuscenes-detection":
        assert not scored_or_refused(benchmark, results, truth)
