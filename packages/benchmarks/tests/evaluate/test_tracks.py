"""Conversion of boxes to tracks: gaps are filled, scores are averaged, and tables keep their order in memory and on disk."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.test_ranges import boxes
from uavsim_benchmarks.evaluate.nuscenes import tracks
from uavsim_benchmarks.evaluate.nuscenes.tracks import TrackStore, TrackTable, fill_tracks


def table(rng: np.random.Generator, count: int) -> TrackTable:
    scene, frame, label, track = rng.integers(0, 9, (4, count))
    return TrackTable(scene, frame, label, track, rng.normal(size=(count, 2)), rng.uniform(size=count))


def test_rows_of_one_class_keep_their_order() -> None:
    rng = np.random.default_rng(2)
    full = table(rng, 50)
    part = full.of_label(3)
    np.testing.assert_array_equal(part.score, full.score[full.label == 3])
    assert len(part) == int((full.label == 3).sum())


@pytest.mark.parametrize("held_bytes", [0, 1 << 20])
def test_pairs_come_back_as_they_were_put(held_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracks, "_HELD_BYTES", held_bytes)
    rng = np.random.default_rng(4)
    pairs = [(table(rng, n), table(rng, n + 3)) for n in (0, 5, 200)]
    store = TrackStore()
    for pair in pairs:
        store.put(*pair)
    for _ in range(2):
        for put, got in zip(pairs, store, strict=True):
            for one, other in zip(put, got, strict=True):
                np.testing.assert_array_equal(one.position_m, other.position_m)
                np.testing.assert_array_equal(one.track, other.track)
    store.close()


@pytest.mark.parametrize(("mode", "positions_m"), [("corrected", [0, 10, 20, 30]), ("official", [0, 20, 10, 30])])
def test_a_hole_of_two_samples_is_filled(mode: str, positions_m: list[float]) -> None:
    """The devkit swaps the weights of the two neighbours, which matters if two samples are missing."""
    made = replace(boxes((0, 0, 0), (30, 0, 0), sample=(0, 3)), track=np.array([7, 7]), score=np.array([0.2, 0.6]))
    samples = np.arange(4)
    found = fill_tracks(made, np.zeros(4, int), samples, samples * 500_000, mean_scores=True, mode=mode)
    assert found.frame.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(found.position_m[:, 0], positions_m)
    np.testing.assert_allclose(found.score, 0.4)
    assert set(found.track.tolist()) == {7}


def test_a_track_of_the_same_number_in_another_scene_is_another_track() -> None:
    made = replace(boxes((0, 0, 0), (30, 0, 0), sample=(0, 1)), track=np.array([7, 7]))
    found = fill_tracks(made, np.array([0, 1]), np.array([0, 2]), np.arange(2) * 500_000, mean_scores=False)
    assert len(found) == 2
