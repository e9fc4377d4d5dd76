"""Random samples of axis-aligned boxes with detections, for comparisons by overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from uavsim.evaluate.boxes import Boxes

Case = dict[str, Any]


def cases(count: int, *, seed: int = 0) -> list[Case]:
    """Return cases; every sample has ground truth and detections, since UAV3D's code ends where one has none."""
    rng = np.random.default_rng(seed)
    told: list[Case] = []
    for number in range(count):
        samples = []
        for _ in range(int(rng.integers(1, 5))):
            truth = _boxes(rng, int(rng.integers(1, 9)))
            copies = truth[rng.integers(0, len(truth), int(rng.integers(1, 15)))]
            found = copies + rng.normal(0, rng.choice([0.0, 0.2, 0.6]), copies.shape)
            found[:, 2:] = np.abs(found[:, 2:]) + 0.1
            score = rng.permutation(len(found)) / 20 if number % 4 else np.full(len(found), 0.5)
            samples.append({"truth": truth.tolist(), "found": np.column_stack([found, score]).tolist()})
        told.append({"iou": float(rng.choice([0.5, 0.7])), "samples": samples})
    return told


def _boxes(rng: np.random.Generator, count: int) -> Any:
    return np.column_stack([rng.uniform(-15, 15, (count, 2)) + 200, rng.uniform(1, 5, (count, 2))])


def as_boxes(case: Case) -> tuple[Boxes, Boxes]:
    """Return ground truth and detections of a case."""
    told = []
    for key in ("truth", "found"):
        sample = np.concatenate([np.full(len(s[key]), n) for n, s in enumerate(case["samples"])])
        rows = np.concatenate([np.array(s[key]) for s in case["samples"]])
        columns = {"size_m": np.column_stack([rows[:, 2:4], np.ones(len(rows))])}
        columns |= {"score": rows[:, 4]} if key == "found" else {}
        told.append(
            Boxes.make(sample, np.zeros(len(rows)), np.column_stack([rows[:, :2], np.zeros(len(rows))]), **columns)
        )
    return told[0], told[1]
