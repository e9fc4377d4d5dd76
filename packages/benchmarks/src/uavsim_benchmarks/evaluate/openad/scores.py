"""OpenAD: AP and AR of open-vocabulary detections by position and semantic similarity, in 2D and 3D.

A detection's tag is compared with an object's by a similarity table; CLIP is one way to make such a table. ``official`` is
OpenAD's ``online_2d`` and ``online_3d``. ``corrected`` takes the 3D sub-AR over all four distances, as the paper has it (the
code's selector finds two), and penalises detections in a scene without objects with an AP of 0.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import NOTHING

__all__ = [
    "DISTANCES_M",
    "IOU_THRESHOLDS",
    "SIMILARITIES",
    "OpenAdScene",
    "OpenAdScores",
    "match_in_order",
    "pair_scores_2d",
    "pair_scores_3d",
    "scene_ap",
    "score_openad",
    "subset_of",
]

DISTANCES_M: Final = (0.5, 1.0, 2.0, 4.0)
IOU_THRESHOLDS: Final = tuple(np.linspace(0.5, 0.95, 10).tolist())
SIMILARITIES: Final = (0.5, 0.7, 0.9)
SUBSETS: Final = ("in_domain_seen", "out_domain_seen", "in_domain_unseen", "out_domain_unseen")
_FOUND_BY_CODE_M: Final = (1.0, 4.0)  # its selector tests the fraction of 100 * threshold + similarity
_MAX_DETECTIONS: Final = 300
_ALMOST_ONE: Final = 1 - 1e-10
_RECALLS: Final = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, slots=True, eq=False)
class OpenAdScene:
    """One scene: P detections in order of confidence, G objects.

    Args:
        found: (P, 4) x0, y0, x1, y1, or (P, 7) h, w, l, x, y, z, theta.
        truth: (G, 4) or (G, 7).
        similarity: (P, G) of the tags.
        subset: (G,) index into ``SUBSETS``.
    """

    found: FloatArray
    truth: FloatArray
    similarity: FloatArray
    subset: IntArray


@dataclass(frozen=True, slots=True)
class OpenAdScores:
    """Scores over all thresholds, NaN where undefined; ``table`` is (AP, AR) by (position, similarity) threshold."""

    ap: float
    ar: float
    ate: float
    ase: float
    sub_ar: dict[str, float]
    table: dict[tuple[float, float], tuple[float, float]]
    objects: dict[str, int]


def subset_of(seen_class: BoolArray, in_domain: BoolArray) -> IntArray:
    """Return (N,) indices into ``SUBSETS`` from (N,) masks: objects of a seen class, and in a training domain."""
    subset: IntArray = 2 * (~seen_class).astype(np.int64) + (~in_domain).astype(np.int64)
    return subset


def pair_scores_2d(found: FloatArray, truth: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (P, G) IoU, distance of centres in pixels, and size error of (P, 4) and (G, 4) boxes x0, y0, x1, y1."""
    low = np.maximum(found[:, None, :2], truth[None, :, :2])
    high = np.minimum(found[:, None, 2:], truth[None, :, 2:])
    overlap = np.maximum(high - low, 0).prod(axis=2)
    size, true_size = found[:, 2:] - found[:, :2], truth[:, 2:] - truth[:, :2]
    areas = np.maximum(size, 0).prod(axis=1)[:, None] + np.maximum(true_size, 0).prod(axis=1)
    offset = ((found[:, :2] + found[:, 2:]) / 2)[:, None] - ((truth[:, :2] + truth[:, 2:]) / 2)[None]
    same = np.minimum(size[:, None], true_size[None]).prod(axis=2)
    return _ratio(overlap, areas - overlap), np.sqrt((offset**2).sum(axis=2)), 1 - _ratio(same, areas - same)


def pair_scores_3d(found: FloatArray, truth: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (P, G) 1 / (1 + distance), distance of the centres in metres, and size error.

    Boxes are (P, 7) and (G, 7): h, w, l, x, y, z, theta. Width and length are sorted, so exchanging them has no effect.
    """
    offset = found[:, None, 3:6] - truth[None, :, 3:6]
    distance = np.sqrt((offset**2).sum(axis=2))
    size, true_size = np.sort(found[:, 1:3], axis=1), np.sort(truth[:, 1:3], axis=1)
    size, true_size = np.column_stack([size, found[:, 0]]), np.column_stack([true_size, truth[:, 0]])
    same = np.minimum(size[:, None], true_size[None]).prod(axis=2)
    volumes = size.prod(axis=1)[:, None] + true_size.prod(axis=1)
    return 1 / (1 + distance), distance, 1 - _ratio(same, volumes - same)


def match_in_order(position: FloatArray, threshold: float) -> IntArray:
    """Match detections to objects in order as in COCO: each takes the best free object, the last of equal ones.

    Args:
        position: (P, G) scores.
        threshold: lowest score of a match.

    Returns:
        (P,) column or ``NOTHING``.
    """
    limit = min(threshold, _ALMOST_ONE)
    took = np.full(len(position), NOTHING, dtype=np.int64)
    if not position.size:
        return took
    free = position.copy()
    last = position.shape[1] - 1
    for row in np.flatnonzero((position >= limit).any(axis=1)).tolist():
        column = last - int(free[row, ::-1].argmax())
        if free[row, column] >= limit:
            took[row] = column
            free[:, column] = -1.0
    return took


def scene_ap(hits: BoolArray, objects: int) -> float:
    """Return the mean of the interpolated precision at 101 recalls.

    Args:
        hits: (P,) in order of confidence.
        objects: number of objects of the scene, at least one.
    """
    found = np.cumsum(hits)
    precision = found / np.arange(1, len(hits) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    index = np.searchsorted(found / objects, _RECALLS, side="left")
    return float(np.mean(np.r_[best, 0.0][index]))


def score_openad(scenes: list[OpenAdScene], *, dimensions: int, mode: str = "official") -> OpenAdScores:
    """Score the detections of all scenes.

    Args:
        scenes: all scenes of the benchmark, including empty ones.
        dimensions: 2 or 3.
        mode: ``official`` or ``corrected``.

    Source: OpenAD, ``openad/evaluate/online_2d.py`` and ``online_3d.py``.
    """
    levels = [1 / (1 + distance_m) for distance_m in DISTANCES_M] if dimensions == 3 else list(IOU_THRESHOLDS)
    names = list(DISTANCES_M) if dimensions == 3 else list(IOU_THRESHOLDS)
    pairs = [_pairs(scene, dimensions) for scene in scenes]
    counted = np.bincount(np.concatenate([np.zeros(0, np.int64), *(s.subset for s in scenes)]), minlength=len(SUBSETS))
    table: dict[tuple[float, float], tuple[float, float]] = {}
    errors: list[tuple[float, float]] = []
    sub: list[FloatArray] = []
    of_scene = [_of_scene(scene, pair, np.array(levels), mode=mode) for scene, pair in zip(scenes, pairs, strict=True)]
    for row, name in enumerate(names):
        for column, similarity in enumerate(SIMILARITIES):
            ap, hits, error = _together([one[row][column] for one in of_scene])
            table[name, similarity] = (ap, float(hits.sum()) / max(int(counted.sum()), 1))
            errors.append(error)
            if similarity == SIMILARITIES[-1] and (mode != "official" or dimensions == 2 or name in _FOUND_BY_CODE_M):
                sub.append(hits)
    mean_hits = np.mean(sub, axis=0)
    return OpenAdScores(
        ap=float(np.mean([ap for ap, _ in table.values()])),
        ar=float(np.mean([ar for _, ar in table.values()])),
        ate=float(np.mean([ate for ate, _ in errors])) if mode == "official" else _nanmean([a for a, _ in errors]),
        ase=float(np.mean([ase for _, ase in errors])) if mode == "official" else _nanmean([s for _, s in errors]),
        sub_ar={
            name: float(hits / count) if count else float("nan")
            for name, hits, count in zip(SUBSETS, mean_hits, counted, strict=True)
        },
        table=table,
        objects=dict(zip(SUBSETS, counted.tolist(), strict=True)),
    )


_Pairs = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _pairs(scene: OpenAdScene, dimensions: int) -> _Pairs:
    """Return position score, distance, size error and similarity of pairs, blanked below the lowest similarity."""
    found, similarity = scene.found[:_MAX_DETECTIONS], scene.similarity[:_MAX_DETECTIONS]
    position, distance, size = (pair_scores_3d if dimensions == 3 else pair_scores_2d)(found, scene.truth)
    alike = similarity >= SIMILARITIES[0]
    return np.where(alike, position, 0.0), distance, size, np.where(alike, similarity, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Hits:
    """Hits of one scene at one pair of thresholds; AP is None where the scene does not count."""

    ap: float | None
    by_subset: IntArray
    errors: FloatArray


def _hits(scene: OpenAdScene, pair: _Pairs, scored: FloatArray, level: float, *, mode: str) -> _Hits:
    _, distance, size, _ = pair
    took = match_in_order(scored, level)
    rows = np.flatnonzero(took != NOTHING)
    ap = scene_ap(took != NOTHING, len(scene.truth)) if len(scene.truth) else None
    return _Hits(
        0.0 if ap is None and mode != "official" and len(took) else ap,
        np.bincount(scene.subset[took[rows]], minlength=len(SUBSETS)),
        np.array([distance[rows, took[rows]].sum(), size[rows, took[rows]].sum()]),
    )


def _of_scene(scene: OpenAdScene, pair: _Pairs, levels: FloatArray, *, mode: str) -> list[list[_Hits]]:
    """Return the hits of a scene by threshold pair; pairs with equal masked scores are matched once."""
    position, _, _, alike = pair
    columns: list[list[_Hits]] = []
    previous: BoolArray | None = None
    for similarity in SIMILARITIES:
        similar = alike >= similarity
        if previous is not None and np.array_equal(similar, previous):
            columns.append(columns[-1])
            continue
        previous = similar
        column: list[_Hits] = []
        scored = np.where(similar, position, 0.0)
        below = np.searchsorted(np.sort(scored, axis=None), np.minimum(levels, _ALMOST_ONE), side="left").tolist()
        for number, level in enumerate(levels.tolist()):
            same = [earlier for earlier in range(number) if below[earlier] == below[number]]
            column.append(column[same[0]] if same else _hits(scene, pair, scored, level, mode=mode))
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def _together(found: list[_Hits]) -> tuple[float, FloatArray, tuple[float, float]]:
    """Return mean AP, hits by subset and mean errors of hits over scenes at one pair of thresholds."""
    aps = [one.ap for one in found if one.ap is not None]
    hits, errors = np.zeros(len(SUBSETS)), np.zeros(2)
    for one in found:
        hits += one.by_subset
        errors += one.errors
    total = hits.sum()
    means = errors / total if total else np.full(2, np.nan)
    return (float(np.mean(aps)) if aps else 0.0), hits, (float(means[0]), float(means[1]))


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _nanmean(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
