"""AOT's overlap, encounters and rates on hand-written flights."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluate.aot_cases import make_case
from uavsim.errors import InputError
from uavsim.typing import FloatArray
from uavsim_benchmarks.evaluate.aot.encounters import detected_in_time, find_encounters, horizon_of, tracked_until
from uavsim_benchmarks.evaluate.aot.evaluate_aot import evaluate_aot
from uavsim_benchmarks.evaluate.aot.files import read_aot_results, read_aot_truth
from uavsim_benchmarks.evaluate.aot.scores import AotResults, extended_iou, keep_results, score_aot
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


def test_a_small_box_and_a_small_detection_on_it_are_enlarged() -> None:
    far = np.array([[0.0, 0.0, 4.0, 4.0]])
    assert extended_iou(far, np.array([[8.0, 2.0, 4.0, 4.0]])) == pytest.approx(4 * 10 / (200 - 40))  # both 10 px wide
    assert extended_iou(far, np.array([[2.0, 2.0, 20.0, 20.0]])) == pytest.approx(100 / 400)  # a large one stays
    big = np.array([[0.0, 0.0, 20.0, 20.0]])
    assert extended_iou(big, np.array([[10.0, 10.0, 4.0, 4.0]])) == pytest.approx(16 / 400)  # on a large one none grows
    assert extended_iou(np.array([[0.0, 0.0, 0.0, 4.0]]), np.array([[0.0, 2.0, 4.0, 4.0]])) == 0.0
    assert extended_iou(np.full((1, 4), np.nan), np.array([[0.0, 2.0, 4.0, 4.0]])) == 0.0


def rows(frames: list[int], range_m: float, object_: int = 0) -> dict[str, Any]:
    count = len(frames)
    return {
        "flight": np.zeros(count, int), "object_": np.full(count, object_), "time": np.array(frames),
        "frame": np.array(frames), "range_m": np.full(count, range_m),
    }  # fmt: skip


def joined(*parts: dict[str, Any]) -> dict[str, Any]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.parametrize("far", [1e308, -1e308, 1e200])
@pytest.mark.parametrize("width", [1e308, 1e-300, -1e308, 0.0])
@pytest.mark.parametrize("height", [1e308, 1e-300, 3.0])
def test_a_box_that_numbers_cannot_hold_overlaps_nothing_and_warns_of_nothing(
    far: float, width: float, height: float
) -> None:
    true = np.array([[0.0, 0.0, 2.0, 2.0]])
    assert extended_iou(true, np.array([[far, far, width, height]])).tolist() == [0.0]
    assert np.isfinite(extended_iou(np.array([[far, 0.0, width, height]]), np.array([[1.0, 1.0, 2.0, 2.0]]))).all()


def test_an_encounter_ends_after_a_gap_of_more_than_two_missing_frames() -> None:
    with_gap = [*range(20), *range(22, 42)]
    assert find_encounters(**rows(with_gap, 200.0)).valid.tolist() == [True]
    assert find_encounters(**rows([*range(20), *range(23, 43)], 200.0)).valid.tolist() == [False, False]


def test_an_encounter_needs_thirty_rows_and_330_metres() -> None:
    assert find_encounters(**rows(list(range(29)), 200.0)).valid.tolist() == [False]
    assert find_encounters(**rows(list(range(30)), 331.0)).valid.tolist() == [False]
    assert find_encounters(**rows(list(range(30)), 701.0)).valid.tolist() == []


def test_two_intruders_one_after_the_other_are_one_encounter_officially() -> None:
    both = joined(rows(list(range(15)), 200.0), rows(list(range(16, 31)), 200.0, object_=1))
    assert find_encounters(**both).valid.tolist() == [True]
    assert find_encounters(**both, mode="corrected").valid.tolist() == [False, False]


def tracked_windows(matched_tracks: list[list[float]], scores: list[list[float]] | None = None) -> FloatArray:
    pairs = [(row, track) for row, tracks in enumerate(matched_tracks) for track in tracks]
    match_row, track = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    score = np.array([s for row in scores or [] for s in row]) if scores else np.ones(len(pairs))
    return tracked_until(len(matched_tracks), match_row.astype(np.int64), track, score)


@pytest.mark.parametrize("seed", range(4))
def test_windows_are_tracked_up_to_the_score_at_which_a_count_of_each_says_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tracks = [rng.choice([1.0, 1.0, 2.0, np.nan], rng.integers(0, 3)).tolist() for _ in range(90)]
    scores = [rng.choice([0.2, 0.5, 0.5, 0.9], len(row)).tolist() for row in tracks]
    until = tracked_windows(tracks, scores)
    for threshold in (0.1, 0.5, 0.9, 1.0):
        valid = [[t for t, s in zip(*row, strict=True) if s >= threshold] for row in zip(tracks, scores, strict=True)]
        for row in range(90):
            in_window = Counter(t for of_row in valid[row - 29 : row + 1] for t in of_row if t == t)
            is_tracked = row >= 29 and max(in_window.values(), default=0) >= 15
            assert (until[row] >= threshold) == is_tracked


def test_half_of_thirty_rows_by_one_track_is_a_detection() -> None:
    matched = [[1.0] if row % 2 else [] for row in range(40)]
    assert np.flatnonzero(tracked_windows(matched) >= 1.0)[0] == 29
    assert not (tracked_windows([[float(row)] for row in range(40)]) >= 0.0).any()
    assert not (tracked_windows([[float("nan")] for _ in range(40)]) >= 0.0).any()
    frame, image = np.arange(40), np.arange(40)
    assert detected_in_time(tracked_windows(matched) >= 1.0, np.full(40, 100.0), frame, image)  # fast: row 29
    late = tracked_windows([[], *matched]) >= 1.0
    assert not detected_in_time(late, np.full(41, 299.0), np.arange(41), np.arange(41))
    assert detected_in_time(late, np.full(41, 300.0), np.arange(41), np.arange(41))


def test_horizons() -> None:
    assert [horizon_of(np.array(v)) for v in ([-1.0, -1.0], [1.0], [1.0, -1.0], [0.0], [np.nan])] == [
        "below", "above", "mixed", "mixed", None,
    ]  # fmt: skip


def written(folder: Path, seed: int = 0) -> tuple[Path, Path]:
    truth, results = make_case(seed)
    paths = folder / "groundtruth.json", folder / "results.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(content))
    return paths


def test_a_track_counts_one_false_alarm_and_filters_go_by_its_age(tmp_path: Path) -> None:
    truth_file, _ = written(tmp_path)
    truth, _ = read_aot_truth(truth_file)
    sky = np.array([[2000.0, 2000.0, 9.0, 9.0]] * 4)
    images = truth.image[truth.flight == truth.flight[0]]
    four = np.unique(images)[:4]
    results = AotResults(four, sky, np.full(4, 0.5), np.array([1.0, 1.0, 2.0, np.nan]))
    scores = score_aot(truth, results)
    flights = len(truth.flight_hours)
    assert scores.hfar == pytest.approx(2 / (flights / 30))  # the detection without a track is no alarm
    assert scores.fppi == pytest.approx(4 / len(np.unique(truth.image)))
    corrected = score_aot(truth, results, mode="corrected")
    assert corrected.hfar == pytest.approx(3 / truth.flight_hours.sum())
    assert len(keep_results(results, truth, min_track_length=2).score) == 1


def test_files_are_scored_with_budgets_and_refused_in_words(tmp_path: Path) -> None:
    truth, results = written(tmp_path, 3)
    outcome = evaluate_aot(EvaluationRequest(tmp_path, results, options={"fppi": "0.05"}))
    assert outcome.scores["fppi"] <= 0.05 + 1e-5
    assert set(outcome.headline) <= set(outcome.scores)
    with pytest.raises(InputError, match="one budget"):
        evaluate_aot(EvaluationRequest(truth, results, options={"fppi": "1", "hfar": "1"}))
    _, images = read_aot_truth(truth)
    for content, words in (
        ([{"img_name": "x.png", "detections": []}], "not in the ground truth"),
        ({"a": 1}, "a result of AOT: not a JSON array"),
        ([{"img_name": next(iter(images)), "detections": [{"x": 1}]}], "lacks a number"),
        ([{"img_name": next(iter(images)), "detections": [dict.fromkeys("xywhs", float("nan"))]}], "not finite"),
    ):
        results.write_text(json.dumps(content))
        with pytest.raises(InputError, match=words):
            read_aot_results(results, images)
    results.write_text("[]")
    with pytest.raises(InputError, match="no detections"):
        evaluate_aot(EvaluationRequest(truth, results))
    assert evaluate_aot(EvaluationRequest(truth, results, mode="corrected")).scores["edr"] == 0.0


def test_of_no_encounter_there_is_no_rate(tmp_path: Path) -> None:
    truth, results = written(tmp_path)
    content = json.loads(truth.read_text())
    for flight in content["samples"].values():
        for entity in flight["entities"]:
            if "range_distance_m" in entity["blob"]:
                entity["blob"]["range_distance_m"] += 2000.0
    truth.write_text(json.dumps(content))

    outcome = evaluate_aot(EvaluationRequest(truth, results))
    assert outcome.scores["counts"]["edr_all"]["total"] == 0
    assert np.isnan([outcome.scores[name] for name in ("edr", "edr_above", "edr_mixed", "edr_below", "afdr")]).all()
    assert outcome.as_json()["edr"] is None
