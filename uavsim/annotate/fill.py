"""Fill (the share of its box's silhouette that an object covers: nearly 1 for a car seen from above) and amodal size.

The fill depends on the body and on the viewing direction, and is estimated from the scene itself. In every view the object
covers at least its visible pixels, and at most those and the pixels that something nearer may hide: an interval, which is a
single number where only ground is around. The fill is fitted to all intervals of a class and then of a blueprint, by
iteration: clip the expected fill of each view to its interval, then average over nearby directions (left and right are mirror
images).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.records.classes import class_of_label
from uavsim.records.labels import BoxLabels, LabelledActor
from uavsim.typing import AnyArray, FloatArray, IntArray

_SMALLEST_PX: Final = 40  # minimum size of a reference silhouette, px
_SPREAD_RAD: Final = np.radians(8.0)
_PRIOR_PX: Final = 150.0  # weight of the prior, in pixels of views from nearby directions
_OUTLIER: Final = 0.7  # of the expected fill; lower values mean an occluder that looks like ground
_MOST_REFERENCES: Final = 1500
_ITERATIONS: Final = 5
_ROWS: Final = 256  # views processed at once, so that the working set stays in the processor's cache
_FARTHEST: Final = 0.25  # 1 - cosine of 41 degrees: beyond it the weight is below 1.5e-6 and taken as 0
_REACH: Final = math.sqrt(2 * _FARTHEST) + 1e-6  # maximum coordinate difference of nearby directions
_TRUST_FILL_BELOW: Final = 0.7  # visible share; lower without a blocker: occluded by ground-like pixels
_STEPS: Final = 1 << 15  # steps of the table up to _FARTHEST; the error of a step is 1 / 5,000


def _nearness_by_step() -> FloatArray:
    """Return the (_STEPS + 1,) weights at the middle of each step of 1 - cosine; the last one, 0, is for all beyond."""
    distances = [(step + 0.5) * _FARTHEST / _STEPS for step in range(_STEPS)]
    near = [math.exp(-(math.acos(1.0 - x) ** 2) / (2 * _SPREAD_RAD**2)) for x in distances]
    return np.array([*near, 0.0])


_NEARNESS: Final = _nearness_by_step()


def fill_of_views(
    actors: Sequence[LabelledActor],
    boxes: BoxLabels,
    *,
    box_row: IntArray,
    camera_m: FloatArray,
    column: Mapping[str, AnyArray],
) -> FloatArray:
    """Estimate the fill of each view.

    Args:
        actors: labelled actors of the scene.
        boxes: boxes of the scene.
        box_row: (M,) int64 rows in ``boxes``.
        camera_m: (M, 3) camera centres in the map frame, metres.
        column: (M,) columns of the views: ``visible_px``, ``silhouette_px``, ``blockers_px``, ``truncation``.

    Returns:
            (M,) shares of the silhouettes that the objects cover.
    """
    actor_row = boxes.actor_row[box_row]
    towards = boxes.map_SE3_box[box_row].apply_inverse(camera_m)
    towards = np.abs(towards * [0.0, 1.0, 0.0]) + towards * [1.0, 0.0, 1.0]
    towards /= np.maximum(np.linalg.norm(towards, axis=1, keepdims=True), 1e-9)
    fill = np.array([class_of_label(a.label).fill for a in actors], dtype=np.float64)[actor_row]
    intervals = Intervals.of_views(towards, column)
    for names in ([a.label for a in actors], [a.info.blueprint for a in actors]):  # first classes, then blueprints
        group = _numbered(names)[actor_row]
        for number in range(int(group.max(initial=-1)) + 1):
            rows = np.flatnonzero(group == number)
            fill[rows] = fitted(fill[rows], intervals.take(rows))
    return fill


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Bounds of the fill from M views.

    Attributes:
        towards: (M, 3) unit vectors from the box to the camera, in the box's frame.
        low: (M,) lower bounds.
        high: (M,) upper bounds.
        weight: (M,) weights, pixels: low for wide intervals and small silhouettes, 0 for truncated ones.
    """

    towards: FloatArray
    low: FloatArray
    high: FloatArray
    weight: FloatArray

    @classmethod
    def of_views(cls, towards: FloatArray, column: Mapping[str, AnyArray]) -> Intervals:
        """Compute the bounds from (M, 3) directions and (M,) pixel counts of the views."""
        silhouette = np.maximum(column["silhouette_px"], 1).astype(np.float64)
        low = np.minimum(column["visible_px"] / silhouette, 1.0)
        high = np.minimum((column["visible_px"] + column["blockers_px"]) / silhouette, 1.0)
        is_reference = (
            (column["truncation"] == 0) & (column["silhouette_px"] >= _SMALLEST_PX) & (column["visible_px"] > 0)
        )
        return cls(towards, low, high, np.where(is_reference, silhouette * (1.0 - (high - low)) ** 2, 0.0))

    def take(self, rows: IntArray) -> Intervals:
        """Select views by their rows, (K,) int64."""
        return Intervals(self.towards[rows], self.low[rows], self.high[rows], self.weight[rows])


def fitted(fill: FloatArray, views: Intervals) -> FloatArray:
    """Fit the fill of one class or blueprint to its views.

    Args:
        fill: (M,) initial fill of each view.
        views: bounds of the views.

    Returns:
        (M,) fitted fill.
    """
    is_reference = (views.weight > 0) & (views.high >= _OUTLIER * fill)
    references = np.flatnonzero(is_reference)
    references = references[np.argsort(-views.weight[references], kind="stable")[:_MOST_REFERENCES]]
    if not len(references):
        return fill
    ahead = views.towards[
        references, 0
    ]  # sorted by it, nearby directions are contiguous: three in ten pairs are skipped
    references = references[np.argsort(ahead, kind="stable")]
    reference_views = views.take(references)
    nearby = nearness(reference_views.towards, reference_views.towards)
    iterations = _iterations_of(fill[references], reference_views, nearby)
    weighted = np.stack([np.ones(len(references)), *(iteration.clipped_share for iteration in iterations)], axis=1)
    weighted *= reference_views.weight[:, None]
    sums_px = np.empty((len(fill), 1 + _ITERATIONS))
    sums_px[references] = nearby @ weighted
    others = np.setdiff1d(np.arange(len(fill)), references)
    others = others[np.argsort(views.towards[others, 0], kind="stable")]
    for start in range(0, len(others), _ROWS):  # all pairs of a scene's views and references would take 300 MB
        rows = others[start : start + _ROWS]
        ends = views.towards[rows[[0, -1]], 0] + (-_REACH, _REACH)
        near = slice(*np.searchsorted(reference_views.towards[:, 0], ends).tolist())
        sums_px[rows] = nearness(views.towards[rows], reference_views.towards[near]) @ weighted[near]
    near_px, *weighted_sums_px = sums_px.T
    for iteration, weighted_sum_px in zip(iterations, weighted_sums_px, strict=True):
        fill = (weighted_sum_px + _PRIOR_PX * np.minimum(fill * iteration.scale, 1.0)) / (near_px + _PRIOR_PX)
    return fill


@dataclass(frozen=True, slots=True, eq=False)
class _Iteration:
    """One iteration of fitting: the common scale error, and the (K,) clipped fill of each reference view."""

    scale: float
    clipped_share: FloatArray


def _iterations_of(fill: FloatArray, reference_views: Intervals, nearby: FloatArray) -> list[_Iteration]:
    """Fit the (K,) fill of the reference views to their intervals, with (K, K) weights of each for each."""
    weight = reference_views.weight
    known_px = nearby @ weight + _PRIOR_PX
    iterations: list[_Iteration] = []
    for _ in range(_ITERATIONS):
        clipped_share = np.clip(fill, reference_views.low, reference_views.high)
        scale = float(
            (reference_views.weight @ clipped_share + _PRIOR_PX) / (reference_views.weight @ fill + _PRIOR_PX)
        )
        general = np.minimum(fill * scale, 1.0)
        clipped_share = np.clip(general, reference_views.low, reference_views.high)
        fill = (nearby @ (weight * clipped_share) + _PRIOR_PX * general) / known_px
        iterations.append(_Iteration(scale, clipped_share))
    return iterations


def nearness(towards: FloatArray, others: FloatArray) -> FloatArray:
    """Return weights that fall with the angle between directions, from a table.

    NumPy's ``exp`` and ``arccos`` take three times as long, and differ between processors.

    Args:
        towards: (M, 3) unit vectors.
        others: (K, 3) unit vectors.

    Returns:
        (M, K) weights from 1 (equal) to 0.
    """
    scaled = np.column_stack([-_STEPS / _FARTHEST * others, np.full(len(others), _STEPS / _FARTHEST)]).T
    near = np.empty((len(towards), len(others)))
    for start in range(0, len(near), _ROWS):  # limits temporary memory
        batch = towards[start : start + _ROWS]
        distances = np.column_stack([batch, np.ones(len(batch))]) @ scaled  # 1 - cosine, in steps
        _NEARNESS.take(distances.astype(np.intp), mode="clip", out=near[start : start + _ROWS])
    return near


def _numbered(names: Sequence[str]) -> IntArray:
    """Return (N,) int64 numbers of names; equal names have equal numbers."""
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([number_of[name] for name in names], dtype=np.int64)


def amodal_pixels(
    visible_px: IntArray, *, silhouette_px: IntArray, blockers_px: IntArray, fill: FloatArray
) -> IntArray:
    """Estimate how many pixels objects would have if nothing were in front of them.

    Args:
        visible_px: (M,) visible pixels.
        silhouette_px: (M,) pixels inside the silhouettes of their boxes.
        blockers_px: (M,) silhouette pixels that show something nearer.
        fill: (M,) share of the box's silhouette that the object covers from this direction.

    Returns:
            (M,) int64 pixels, at least ``visible_px``.
    """
    expected = fill * silhouette_px
    hidden_at_most = visible_px + blockers_px
    trust_fill = visible_px < _TRUST_FILL_BELOW * np.minimum(expected, 1e9)
    trust_fill &= blockers_px < 0.5 * (expected - visible_px)
    amodal_px = np.where(trust_fill, expected, np.minimum(expected, hidden_at_most))
    return np.maximum(np.rint(amodal_px).astype(np.int64), visible_px)
