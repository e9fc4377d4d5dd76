"""nuScenes tracking on hand-written tracks."""

import numpy as np
import pytest

from uavsim_benchmarks.evaluate.nuscenes.tracking import CLASSES, TrackingConfig, recall_thresholds, score_tracks
from uavsim_benchmarks.evaluate.nuscenes.tracking_events import count_events
from uavsim_benchmarks.evaluate.nuscenes.tracks import TrackTable

CAR = CLASSES.index("car")


def table(rows: list[tuple[int, int, float]], *, score: float = 1.0) -> TrackTable:
    """Return tracks of one scene from (frame, track, x), frames ascending."""
    frame, track, x = (np.array(column) for column in zip(*rows, strict=True))
    position_m = np.column_stack([x.astype(float), np.zeros(len(rows))])
    return TrackTable(
        np.zeros(len(rows), np.int64), frame, np.full(len(rows), CAR), track, position_m, np.full(len(rows), score)
    )


def test_a_switch_a_miss_and_a_false_positive_are_counted() -> None:
    truth = table([(0, 1, 0.0), (1, 1, 0.0), (2, 1, 0.0), (3, 1, 0.0)])
    found = table([(0, 7, 0.5), (1, 8, 0.5), (1, 9, 50.0), (3, 8, 0.5)])
    counts = count_events(truth, found, np.array([0.0]), limit_m=2.0)
    events = (counts.matches, counts.switches, counts.misses, counts.false_positives, counts.fragmentations)
    assert [int(c[0]) for c in events] == [2, 1, 1, 1, 1]
    assert counts.distance_m[0] == pytest.approx(1.5)
    assert (int(counts.gap_frames[0]), int(counts.initialisation_frames[0])) == (1, 0)


def test_a_match_goes_on_even_when_another_prediction_is_nearer() -> None:
    truth = table([(0, 1, 0.0), (1, 1, 0.0)])
    found = table([(0, 7, 0.0), (1, 7, 1.5), (1, 8, 0.1)])
    counts = count_events(truth, found, np.array([0.0]), limit_m=2.0)
    assert (int(counts.matches[0]), int(counts.switches[0])) == (2, 0)


def test_two_objects_share_two_candidates_by_the_least_total_distance() -> None:
    truth = table([(0, 1, 0.0), (0, 2, 1.0)])
    found = table([(0, 7, 0.9), (0, 8, 2.4)])  # the nearest pair first would leave object 1 without any
    counts = count_events(truth, found, np.array([0.0]), limit_m=2.0)
    assert int(counts.matches[0]) == 2
    assert counts.distance_m[0] == pytest.approx(0.9 + 1.4)


def test_thresholds_count_apart() -> None:
    truth = table([(0, 1, 0.0), (1, 1, 0.0)])
    low, high = table([(0, 7, 0.0)], score=0.2), table([(1, 7, 0.0)], score=0.8)
    found = TrackTable(*(np.concatenate([getattr(low, n), getattr(high, n)]) for n in TrackTable.__slots__))
    counts = count_events(truth, found, np.array([0.1, 0.5, 0.9]), limit_m=2.0)
    assert counts.matches.tolist() == [2, 1, 0]
    assert counts.frames.tolist() == [2, 2, 2]


def test_recalls_that_are_not_reached_have_no_threshold() -> None:
    thresholds = recall_thresholds(np.array([0.9, 0.8]), 4, TrackingConfig(thresholds=4, min_recall=0.25))
    assert np.isnan(thresholds[:2]).all()
    np.testing.assert_allclose(thresholds[2:], [0.8, 0.9])


def test_perfect_tracks_are_perfect_far_from_the_origin_only_when_corrected() -> None:
    rows = [(frame, 1, 4_000.3 + frame) for frame in range(4)]
    corrected = score_tracks(table(rows), table(rows), mode="corrected")
    official = score_tracks(table(rows), table(rows))
    assert (corrected.overall["amota"], corrected.overall["motp"]) == (1.0, 0.0)
    assert official.overall["amota"] == 1.0
    assert 0.0 <= official.overall["motp"] < 1e-3  # the devkit's expanded square


def test_a_class_with_truth_and_no_tracks_gets_the_worst_values_and_one_without_truth_none() -> None:
    truth = table([(0, 1, 0.0), (1, 1, 0.0), (1, 2, 9.0)])
    nothing = truth.take(np.zeros(0, np.int64))
    scores = score_tracks(truth, nothing)
    car = scores.by_class["car"]
    assert (car["amota"], car["amotp"], car["ml"], car["fn"], car["gt"]) == (0.0, 2.0, 2.0, 3.0, 3.0)
    assert np.isnan(scores.by_class["bus"]["amota"])


def test_an_id_twice_in_a_frame_is_walked_as_the_reference_walks_it() -> None:
    truth = table([(0, 1, 0.0), (1, 1, 0.0)])
    found = table([(0, 7, 0.0), (1, 7, 9.0), (1, 7, 0.0)])
    counts = count_events(truth, found, np.array([0.0]), limit_m=2.0)
    assert (int(counts.matches[0]), int(counts.false_positives[0])) == (2, 1)
