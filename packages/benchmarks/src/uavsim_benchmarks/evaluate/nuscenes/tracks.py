"""Conversion of boxes to gap-free tracks with one score each, for nuScenes tracking."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.lib.format import read_array, write_array

from uavsim.typing import FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import Boxes, ranks_within

__all__ = ["TrackStore", "TrackTable", "fill_tracks"]

_HELD_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True, eq=False)
class TrackTable:
    """N boxes of tracks, sorted by scene, then frame.

    Args:
        scene: (N,) number of the scene.
        frame: (N,) position of the sample within its scene, in time order.
        label: (N,) class.
        track: (N,) number of the track or object, unique within a scene.
        position_m: (N, 2) centre on the ground.
        score: (N,) the track's score.
    """

    scene: IntArray
    frame: IntArray
    label: IntArray
    track: IntArray
    position_m: FloatArray
    score: FloatArray

    def __len__(self) -> int:
        return len(self.scene)

    def take(self, rows: IntArray) -> TrackTable:
        """Return the rows of (M,) indices."""
        return TrackTable(*(getattr(self, name)[rows] for name in TrackTable.__slots__))

    def of_label(self, label: int) -> TrackTable:
        """Return the rows of one class."""
        return self.take(np.flatnonzero(self.label == label))


class TrackStore:
    """A queue of pairs of track tables that spools to disk past 64 MB."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_HELD_BYTES)  # noqa: SIM115 - see close
        self._count = 0

    def close(self) -> None:
        """Discard the tables."""
        self._file.close()

    def put(self, truth: TrackTable, found: TrackTable) -> None:
        """Append a pair."""
        for table in (truth, found):
            for name in TrackTable.__slots__:
                write_array(self._file, getattr(table, name), allow_pickle=False)
        self._count += 1

    def __iter__(self) -> Iterator[tuple[TrackTable, TrackTable]]:
        self._file.seek(0)
        for _ in range(self._count):
            yield self._table(), self._table()

    def _table(self) -> TrackTable:
        return TrackTable(*(read_array(self._file, allow_pickle=False) for _ in TrackTable.__slots__))


def fill_tracks(
    boxes: Boxes, scene: IntArray, frame: IntArray, time_us: IntArray, *, mean_scores: bool, mode: str = "official"
) -> TrackTable:
    """Return tracks with an interpolated box at every sample between their first and last one.

    Args:
        boxes: after range and point filters; ``track`` is unique over all classes.
        scene: (S,) scene of each sample.
        frame: (S,) position of each sample within its scene.
        time_us: (S,).
        mean_scores: give each box the mean score of its track (predictions).
        mode: ``official`` swaps the weights of the two neighbours of an interpolated box, as the devkit does, which matters
            for gaps of two or more samples.

    Source: nuscenes-devkit 1.2.0, ``eval/tracking/loaders.py``.
    """
    order = np.lexsort((np.arange(len(boxes)), frame[boxes.sample], scene[boxes.sample]))
    rows = TrackTable(
        scene[boxes.sample][order],
        frame[boxes.sample][order],
        boxes.label[order],
        boxes.track[order],
        boxes.centre_m[order, :2],
        boxes.score[order],
    )
    by_track = np.lexsort((rows.frame, rows.track, rows.scene))
    track = _numbered(rows.scene[by_track], rows.track[by_track])
    score = rows.score.copy()
    if mean_scores and len(rows):
        begins = np.flatnonzero(np.r_[True, track[1:] != track[:-1]])
        pieces = np.split(rows.score[by_track], begins[1:])
        score[by_track] = np.repeat([np.mean(piece) for piece in pieces], [len(piece) for piece in pieces])
    rows = TrackTable(rows.scene, rows.frame, rows.label, rows.track, rows.position_m, score)
    left, right = by_track[:-1], by_track[1:]
    holes = np.where(track[1:] == track[:-1], rows.frame[right] - rows.frame[left] - 1, 0)
    if not (holes > 0).any():
        return rows
    pair = np.repeat(np.arange(len(holes)), np.maximum(holes, 0))
    hole_frame = rows.frame[left[pair]] + 1 + ranks_within(pair)
    seconds = _frame_times(scene, frame, time_us)
    middle = seconds[rows.scene[left[pair]], hole_frame]
    begin, end = (seconds[rows.scene[rows_], rows.frame[rows_]] for rows_ in (left[pair], right[pair]))
    weight = (end - middle) / (end - begin) if mode == "official" else (middle - begin) / (end - begin)
    first = _first_rows(rows, by_track, track)
    filled = _interpolated(rows, left[pair], right[pair], hole_frame, weight)
    filled = filled.take(np.lexsort((first[left[pair]], hole_frame, filled.scene)))
    return _merged(rows, filled)


def _numbered(scene: IntArray, track: IntArray) -> IntArray:
    """Return (N,) ascending numbers of (scene, track), for rows sorted by both."""
    if not len(scene):
        return np.zeros(0, np.int64)
    changed = (scene[1:] != scene[:-1]) | (track[1:] != track[:-1])
    numbers: IntArray = np.r_[0, np.cumsum(changed)]
    return numbers


def _frame_times(scene: IntArray, frame: IntArray, time_us: IntArray) -> FloatArray:
    table = np.zeros((int(scene.max()) + 1, int(frame.max()) + 1))
    table[scene, frame] = time_us
    return table


def _first_rows(rows: TrackTable, by_track: IntArray, track: IntArray) -> IntArray:
    """Return (N,) first rows of each row's track, which order the interpolated boxes of a frame."""
    lowest = np.full(int(track[-1]) + 1, len(rows), dtype=np.int64)
    np.minimum.at(lowest, track, by_track)
    first = np.zeros(len(rows), np.int64)
    first[by_track] = lowest[track]
    return first


def _interpolated(rows: TrackTable, left: IntArray, right: IntArray, frame: IntArray, weight: FloatArray) -> TrackTable:
    score = (1.0 - weight) * rows.score[left] + weight * rows.score[right]
    position_m = (1.0 - weight[:, None]) * rows.position_m[left] + weight[:, None] * rows.position_m[right]
    return TrackTable(rows.scene[left], frame, rows.label[right], rows.track[right], position_m, score)


def _merged(rows: TrackTable, filled: TrackTable) -> TrackTable:
    both = [(getattr(rows, name), getattr(filled, name)) for name in TrackTable.__slots__]
    joined = TrackTable(*(np.concatenate(pair) for pair in both))
    return joined.take(np.lexsort((np.arange(len(joined)), joined.frame, joined.scene)))
