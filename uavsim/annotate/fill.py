"""Share of its box's silhouette that an object covers: a car seen from above nearly all, seen from its corner less.

That share depends on the body and on the direction from which it is seen, and the scene itself reports it. In every view the
object covers at least the pixels that it shows and at most those and the ones that something nearer may hide: an interval,
and a single number where nothing but ground is around. The shares are fitted to all intervals of a class and then of a
blueprint, by iteration: what a view would show is put into its interval, and near directions (left and right are mirror
images) are averaged.
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
_PRIOR_PX: Final = 150.0  # weight of what is known so far, in pixels of views from nearby directions
_OUTLIER: Final = 0.7  # of what is expected: hidden by something that looks like ground
_MOST_REFERENCES: Final = 1500
_ITERATIONS: Final = 5
_ROWS: Final = 256  # views at once: what is worked on stays in the cache
_FARTHEST: Final = (
    0.25  # 1 - the cosine of an angle (41 degrees) from which on nothing is near: 1.5e-6 is left of the weight
)
_REACH: Final = math.sqrt(2 * _FARTHEST) + 1e-6  # no coordinate of near directions is farther apart
_STEPS: Final = 1 << 15  # up to there; what lies in one is as near but for a part in 5,000


def _nearness_by_step() -> FloatArray:
    """Return (_STEPS + 1,) how near directions are, by the middle of each step of 1 - cosine; the last is of all beyond."""
    apart = [(step + 0.5) * _FARTHEST / _STEPS for step in range(_STEPS)]
    near = [math.exp(-(math.acos(1.0 - x) ** 2) / (2 * _SPREAD_RAD**2)) for x in apart]
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
    """Return the share (M,) of the silhouette that the object covers in each view.

    Args:
        actors: of the scene.
        boxes: of the scene.
        box_row: (M,) box of each view.
        camera_m: (M, 3) camera centre of each view, map frame.
        column: of the views: ``visible_px``, ``silhouette_px``, ``blockers_px``, ``truncation``.
    """
    actor_row = boxes.actor_row[box_row]
    towards = boxes.map_SE3_box[box_row].apply_inverse(camera_m)
    towards = np.abs(towards * [0.0, 1.0, 0.0]) + towards * [1.0, 0.0, 1.0]
    towards /= np.maximum(np.linalg.norm(towards, axis=1, keepdims=True), 1e-9)
    fill = np.array([class_of_label(a.label).fill for a in actors], dtype=np.float64)[actor_row]
    intervals = Intervals.of_views(towards, column)
    for names in ([a.label for a in actors], [a.info.blueprint for a in actors]):  # from the general to the particular
        group = _numbered(names)[actor_row]
        for number in range(int(group.max(initial=-1)) + 1):
            own = np.flatnonzero(group == number)
            fill[own] = fitted(fill[own], intervals.take(own))
    return fill


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Bounds from M views of the share that an object covers.

    Attributes:
        towards: (M, 3) unit vectors from the box to the camera, in the box's frame.
        low: (M,) the share is not below.
        high: (M,) the share is not above.
        weight: (M,) in pixels: wide intervals and small silhouettes count little, cut off ones nothing.
    """

    towards: FloatArray
    low: FloatArray
    high: FloatArray
    weight: FloatArray

    @classmethod
    def of_views(cls, towards: FloatArray, column: Mapping[str, AnyArray]) -> Intervals:
        """Read them off the counted pixels."""
        silhouette = np.maximum(column["silhouette_px"], 1).astype(np.float64)
        low = np.minimum(column["visible_px"] / silhouette, 1.0)
        high = np.minimum((column["visible_px"] + column["blockers_px"]) / silhouette, 1.0)
        is_reference = (
            (column["truncation"] == 0) & (column["silhouette_px"] >= _SMALLEST_PX) & (column["visible_px"] > 0)
        )
        return cls(towards, low, high, np.where(is_reference, silhouette * (1.0 - (high - low)) ** 2, 0.0))

    def take(self, rows: IntArray) -> Intervals:
        """Return some of them."""
        return Intervals(self.towards[rows], self.low[rows], self.high[rows], self.weight[rows])


def fitted(fill: FloatArray, views: Intervals) -> FloatArray:
    """Fit the shares (M,) of one kind of object to what its views say, starting from ``fill``."""
    is_reference = (views.weight > 0) & (views.high >= _OUTLIER * fill)
    references = np.flatnonzero(is_reference)
    references = references[np.argsort(-views.weight[references], kind="stable")[:_MOST_REFERENCES]]
    if not len(references):
        return fill
    ahead = views.towards[references, 0]  # along it, those that are near lie together: three in ten are not looked at
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
    for start in range(0, len(others), _ROWS):  # of a scene, the nearness of all views to all reference views is 300 MB
        own = others[start : start + _ROWS]
        ends = views.towards[own[[0, -1]], 0] + (-_REACH, _REACH)
        near = slice(*np.searchsorted(reference_views.towards[:, 0], ends).tolist())
        sums_px[own] = nearness(views.towards[own], reference_views.towards[near]) @ weighted[near]
    near_px, *weighted_sums_px = sums_px.T
    for iteration, weighted_sum_px in zip(iterations, weighted_sums_px, strict=True):
        fill = (weighted_sum_px + _PRIOR_PX * np.minimum(fill * iteration.scale, 1.0)) / (near_px + _PRIOR_PX)
    return fill


@dataclass(frozen=True, slots=True, eq=False)
class _Iteration:
    """One iteration of fitting: by how much all shares were wrong, and the share (K,) of each reference view, clipped."""

    scale: float
    clipped_share: FloatArray


def _iterations_of(fill: FloatArray, reference_views: Intervals, nearby: FloatArray) -> list[_Iteration]:
    """Fit the reference views' own shares (K,) to their intervals, by the nearness (K, K) of each to each."""
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
    """Return (M, K) weights, 1 to 0, that fall with the angle between unit vectors (M, 3) and (K, 3).

    In steps, from a table: exponentials and arcs of NumPy cost three times as much, and differ between processors.
    """
    scaled = np.column_stack([-_STEPS / _FARTHEST * others, np.full(len(others), _STEPS / _FARTHEST)]).T
    near = np.empty((len(towards), len(others)))
    for start in range(0, len(near), _ROWS):  # or what is worked on would take twice the memory of the answer
        some = towards[start : start + _ROWS]
        apart = np.column_stack([some, np.ones(len(some))]) @ scaled  # 1 - cosine, in steps
        _NEARNESS.take(apart.astype(np.intp), mode="clip", out=near[start : start + _ROWS])
    return near


def _numbered(names: Sequence[str]) -> IntArray:
    """Return a number for each name, equal names having equal numbers."""
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.int64)
