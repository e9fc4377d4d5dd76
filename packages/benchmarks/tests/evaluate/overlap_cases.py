"""Random samples of axis-aligned boxes with detections, for comparisons by overlap."""

from typing import Any

import numpy as np

from uavsim_benchmarks.evaluate.bev_iou import corners_of
from uavsim_benchmarks.evaluate.boxes import Boxes

Case = dict[str, Any]


def cases(count: int, *, seed: int = 0) -> list[Case]:
    """Return cases; every sample has ground truth and detections, because UAV3D's code fails otherwise.

    Scores of a case are unique, because UAV3D's order of equal scores depends on numpy's version.
    """
    rng = np.random.default_rng(seed)
    drawn: list[Case] = []
    for _ in range(count):
        samples = []
        for number in range(int(rng.integers(1, 5))):
            truth = _boxes(rng, int(rng.integers(1, 9)))
            copies = truth[rng.integers(0, len(truth), int(rng.integers(1, 15)))]
            found = copies + rng.normal(0, rng.choice([0.0, 0.2, 0.6]), copies.shape)
            found[:, 2:] = np.abs(found[:, 2:]) + 0.1
            score = rng.permutation(len(found)) / 20 + number / 1000
            samples.append({"truth": truth.tolist(), "found": np.column_stack([found, score]).tolist()})
        drawn.append({"iou": float(rng.choice([0.5, 0.7])), "samples": samples})
    return drawn


def _boxes(rng: np.random.Generator, count: int) -> Any:
    return np.column_stack([rng.uniform(-15, 15, (count, 2)) + 200, rng.uniform(1, 5, (count, 2))])


def as_boxes(case: Case) -> tuple[Boxes, Boxes]:
    """Return ground truth and detections of a case."""
    pair = []
    for key in ("truth", "found"):
        sample = np.concatenate([np.full(len(s[key]), n) for n, s in enumerate(case["samples"])])
        rows = np.concatenate([np.array(s[key]).reshape(-1, 4 + (key == "found")) for s in case["samples"]])
        columns = {"size_m": np.column_stack([rows[:, 2:4], np.ones(len(rows))])}
        columns |= {"score": rows[:, 4]} if key == "found" else {}
        pair.append(
            Boxes.make(sample, np.zeros(len(rows)), np.column_stack([rows[:, :2], np.zeros(len(rows))]), **columns)
        )
    return pair[0], pair[1]


def turned_cases(count: int, *, seed: int = 0) -> list[tuple[Boxes, Boxes]]:
    """Return ground truth and detections of rotated boxes; each case has truth, some samples lack truth or detections."""
    rng = np.random.default_rng(seed)
    pairs = []
    for number in range(count):
        samples = int(rng.integers(1, 6))
        counts = rng.integers(0 if number % 2 else 1, 8, samples)
        counts[0] = max(counts[0], 1)
        truth = _turned(rng, np.repeat(np.arange(samples), counts))
        copies = np.flatnonzero(rng.random(len(truth)) < 0.9).repeat(2)
        copies = copies[rng.random(len(copies)) < 0.8]
        foreign = _turned(rng, rng.integers(0, samples, int(rng.integers(0, 5))))
        near = truth.take(copies)
        shift = rng.normal(0, rng.choice([0.0, 0.3, 1.0]), (len(near), 3))
        score = rng.random(len(near))
        moved = Boxes.make(
            near.sample,
            near.label,
            near.centre_m + shift,
            size_m=near.size_m,
            yaw_rad=near.yaw_rad + shift[:, 2],
            score=score,
        )
        pairs.append((truth, Boxes.concat([moved, foreign])))
    return pairs


def _turned(rng: np.random.Generator, sample: Any) -> Boxes:
    count = len(sample)
    return Boxes.make(
        sample,
        np.zeros(count),
        np.column_stack([rng.uniform(-12, 12, (count, 2)) + 300, np.zeros(count)]),
        size_m=rng.uniform(1, 5, (count, 3)),
        yaw_rad=rng.uniform(-4, 4, count),
        score=rng.random(count),
    )


def corners_by_frame(case: tuple[Boxes, Boxes]) -> list[Case]:
    """Return the corners on the ground, metres, of a case's boxes by frame, as lists."""
    truth, found = case
    frames = []
    for sample in np.union1d(truth.sample, found.sample).tolist():
        frame_truth, frame_found = (boxes.take(boxes.sample == sample) for boxes in case)
        corners = {
            name: corners_of(b.centre_m, b.size_m, b.yaw_rad).tolist()
            for name, b in (("truth", frame_truth), ("found", frame_found))
        }
        frames.append(corners | {"score": frame_found.score.tolist()})
    return frames
