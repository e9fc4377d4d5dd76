"""Scores by blocks, in any order of the file, equal scores at once."""

import json
from pathlib import Path

import numpy as np
import pytest

import uavsim_benchmarks.evaluate as public
from evaluate.synthetic import results_for, truth_of, write_dataset
from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.coperception import (
    communication_rate,
    mean_communication_rate,
)
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest, histogram, thinned
from uavsim_benchmarks.evaluate.readers import nuscenes_results


@pytest.mark.parametrize("benchmark", ["nuscenes-detection", "nuscenes-tracking"])
def test_the_order_of_the_samples_in_a_file_does_not_matter(
    benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nuscenes_results, "_SAMPLES_PER_BLOCK", 2)
    root = write_dataset(tmp_path / "data", scenes=3, samples=4, boxes=10)
    results: dict[str, object] = {}
    for scene in range(3):
        results |= results_for(truth_of(root, scene), benchmark.removeprefix("nuscenes-"), scene, "random")["results"]
    scores = []
    for seed in (None, 1, 2):
        names = list(results) if seed is None else np.random.default_rng(seed).permutation(list(results)).tolist()
        file = tmp_path / "results.json"
        file.write_text(json.dumps({"results": {name: results[name] for name in names}}))
        scores.append(evaluate(benchmark, EvaluationRequest(root, file)).as_json())
    headline = {name: value for name, value in scores[0].items() if isinstance(value, float)}
    assert len(headline) >= 7
    for other in scores[1:]:
        assert {name: other[name] for name in headline} == pytest.approx(headline, abs=1e-12)


def test_tracks_of_a_scene_that_a_file_leaves_out_are_missed_when_corrected(tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "data", scenes=1, samples=4, boxes=10)
    results = results_for(truth_of(root, 0), "tracking", 0, "as the truth")["results"]
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"results": dict(list(results.items())[:2])}))
    reported = evaluate("nuscenes-tracking", EvaluationRequest(root, file, mode="corrected")).scores
    assert reported["fn"] > 0
    with pytest.raises(InputError, match="samples are missing"):
        evaluate("nuscenes-tracking", EvaluationRequest(root, file))


def test_communication_in_single_precision_and_through_a_gaussian() -> None:
    confidence = np.full((2, 3, 3), 0.4)
    assert communication_rate(confidence, 0.3) == 1.0
    edge = 1 / (2 * np.pi) * (1 + 2 * np.exp(-0.5) + np.exp(-1)) * 0.4  # a corner has four cells under the Gaussian
    assert communication_rate(confidence, float(edge) + 1e-3, smooth=(3, 1.0)) == pytest.approx(5 / 9)
    assert communication_rate(confidence[:, :1, :], 0.5) == 0.0
    assert mean_communication_rate([0.1, 0.2]) == float((np.float32(0.1) + np.float32(0.2)) / np.float32(2))
    assert mean_communication_rate([], mode="corrected") == 0.0


def test_histograms_are_shares_and_lines_are_thinned() -> None:
    curve = histogram("errors", "m", {"car": np.array([0.01, 0.01, 9.0, np.nan]), "bus": np.zeros(0)}, highest=2.0)
    assert list(curve.lines) == ["car"]
    _, shares = curve.lines["car"]
    np.testing.assert_allclose([shares[0], shares[-1], shares.sum()], [2 / 3, 1 / 3, 1.0])
    (x, y) = thinned({"a": (np.arange(5000.0), np.arange(5000.0))})["a"]
    assert (len(x), x[0], x[-1]) == (1000, 0.0, 4999.0)
    np.testing.assert_array_equal(x, y)


def test_every_public_name_is_there_and_documented() -> None:
    for name in public.__all__:
        assert getattr(public, name).__doc__, name
