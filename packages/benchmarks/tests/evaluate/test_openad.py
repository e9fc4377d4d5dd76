"""OpenAD's matching by semantic similarity."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from evaluate.openad_cases import write_case
from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.boxes import NOTHING
from uavsim_benchmarks.evaluate.openad.evaluate_openad import evaluate_openad
from uavsim_benchmarks.evaluate.openad.scores import (
    OpenAdScene,
    match_in_order,
    pair_scores_3d,
    scene_ap,
    score_openad,
    subset_of,
)
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


def scene(found_x: list[float], truth_x: list[float], similarity: float = 1.0) -> OpenAdScene:
    rows = [np.array([[1.0, 2.0, 4.0, x, 0, 0, 0] for x in xs]).reshape(-1, 7) for xs in (found_x, truth_x)]
    alike = np.full((len(found_x), len(truth_x)), similarity)
    return OpenAdScene(rows[0], rows[1], alike, np.zeros(len(truth_x), np.int64))


def test_of_equal_objects_the_last_is_taken_in_order() -> None:
    position = np.array([[0.8, 0.8, 0.1], [0.8, 0.9, 0.1], [0.8, 0.9, 0.1]])
    assert match_in_order(position, 0.5).tolist() == [1, 0, NOTHING]


def test_ap_of_a_scene() -> None:
    assert scene_ap(np.array([True, False]), 1) == 1.0
    assert scene_ap(np.array([False, True]), 1) == 0.5
    assert scene_ap(np.array([True]), 2) == pytest.approx(51 / 101)
    assert scene_ap(np.zeros(0, bool), 2) == 0.0


def test_width_and_length_may_change_places() -> None:
    *_, size = pair_scores_3d(np.array([[1.0, 4, 2, 0, 0, 0, 0]]), np.array([[1.0, 2, 4, 0, 0, 0, 0]]))
    assert size[0, 0] == 0.0


def test_meaning_counts_below_its_threshold_as_nothing() -> None:
    scores = score_openad([scene([0.0], [0.0], similarity=0.8)], dimensions=3)
    assert scores.table[0.5, 0.7] == (1.0, 1.0)
    assert scores.table[0.5, 0.9] == (0.0, 0.0)
    assert scores.sub_ar["in_domain_seen"] == 0.0


def test_the_codes_sub_ar_leaves_out_two_distances() -> None:
    near = [scene([1.5], [0.0])]  # found at 2 and 4 m only
    assert score_openad(near, dimensions=3).sub_ar["in_domain_seen"] == 0.5
    assert score_openad(near, dimensions=3, mode="corrected").sub_ar["in_domain_seen"] == 0.5
    nearer = [scene([0.7], [0.0])]  # at 1, 2 and 4 m
    assert score_openad(nearer, dimensions=3).sub_ar["in_domain_seen"] == 1.0
    assert score_openad(nearer, dimensions=3, mode="corrected").sub_ar["in_domain_seen"] == 0.75


def test_a_scene_without_objects_costs_when_corrected() -> None:
    both = [scene([0.0], [0.0]), scene([0.0], [])]
    assert score_openad(both, dimensions=3).ap == 1.0
    assert score_openad(both, dimensions=3, mode="corrected").ap == 0.5


def test_subsets() -> None:
    assert subset_of(np.array([True, True, False, False]), np.array([True, False, True, False])).tolist() == [
        0,
        1,
        2,
        3,
    ]


def test_openads_files_and_a_table_instead_of_text_features(tmp_path: Path) -> None:
    truth, results = write_case(tmp_path, 3, 0, used=5)
    outcome = evaluate_openad(EvaluationRequest(truth, results, mode="corrected"))
    assert 0 <= outcome.scores["ap"] <= 1
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"car": {"vehicle": 0.95}}))
    scored = evaluate_openad(EvaluationRequest(truth, results, mode="corrected", options={"similarity": str(table)}))
    assert scored.scores["ar"] != outcome.scores["ar"]
    with pytest.raises(InputError, match="2 or 3"):
        evaluate_openad(EvaluationRequest(truth, results, options={"dimensions": "4"}))
    results.write_bytes(pickle.dumps([[], [], np.zeros((0, 8)), {}]))
    with pytest.raises(InputError, match="0 scenes, the ground truth has 2000"):
        evaluate_openad(EvaluationRequest(truth, results))
