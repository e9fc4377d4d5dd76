"""Translate the simulator's mask ids to the scene's instance ids.

Instance cameras give 16 bits an object. In the headless simulator they are CARLA's actor ids. Unreal may number objects by its
own ids instead. Actor ids are therefore proven by the position of their pixels; other ids are matched to the actor with the
projected box that holds their pixels. On disk only the scene's instance ids remain; pixels of no labelled actor have id 0 and
keep their semantic tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from uavsim.capture.elimination import Elimination, projected_bounds
from uavsim.errors import MissedTick
from uavsim.geometry import cuboid, pinhole
from uavsim.geometry.se3 import SE3
from uavsim.images import mask_pixels
from uavsim.images.mask_pixels import Runs
from uavsim.records.ingredients import actor_kind
from uavsim.records.modalities import Mask
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.ports import SensorPose
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

_ENOUGH_PIXELS: Final = 16  # fewer do not determine a position
_SLACK_PX: Final = 3.0
_EDGE_PX: Final = 1.0  # width of a body's rim that may exceed its box
_PROVEN_SHARE: Final = 0.95
_WON_SHARE: Final = 0.6
_WITHIN_SHARE: Final = 0.8  # minimum share of an object's pixels inside its box in every mask
_LEAST_FILL, _MOST_FILL = 0.4, 1.25  # share of a box's width and height that the pixels of an unoccluded object span


@dataclass(frozen=True, slots=True, eq=False)
class MaskView:
    """One camera's untranslated mask: runs of pixels with labelled tags, (H, W) tags, pose and (3, 3) intrinsics."""

    pose: SensorPose
    intrinsic: FloatArray
    runs: Runs
    tags: UInt8Array


class MaskBinder:
    """Learns the actor of each mask id, once a scene, and then translates masks by table look-up.

    Attributes:
        mode: "actor_id" or "voted" once known.
    """

    def __init__(self, actors: Sequence[ActorInfo]) -> None:
        """Start with nothing proven."""
        actors = sorted(actors, key=lambda info: info.instance_id)
        self._actors = {info.instance_id: info for info in actors}
        self._ids = np.array([*self._actors], dtype=np.int64)
        self._half_m = np.array([info.half_extent_m for info in actors], dtype=np.float64).reshape(-1, 3)
        self._actor_SE3_box = SE3.stack([info.actor_SE3_box for info in actors])
        lone = [info.semantic_tag for info in actors if actor_kind(info.kind).is_lone]
        self._is_lone = np.isin(np.arange(256), lone)
        self._of_town = frozenset(info.instance_id for info in actors if actor_kind(info.kind).is_of_town)
        self._moves = ~np.isin(self._ids, [*self._of_town])
        self._mask_id = np.array([info.simulator_actor_id & 0xFFFF for info in actors], dtype=np.int64)
        self.mode = ""
        self._table = np.zeros(65536, dtype=np.uint16)
        self._votes: dict[int, Counter[int]] = {}  # mask id -> sightings in each actor's box
        self._contradicted: dict[int, set[int]] = {}  # mask id -> actors that a view excluded
        self._taken: frozenset[int] = frozenset()  # mask ids that are actor ids
        town = [info for info in actors if info.instance_id in self._of_town]
        self._town_ids = np.array([info.instance_id for info in town], dtype=np.int64)
        self._elimination = Elimination(np.array([info.semantic_tag for info in town], dtype=np.int64))

    def learn(self, views: Sequence[MaskView], states: ActorStates) -> None:
        """Prove by this tick's masks that mask ids are actor ids, or vote on each id.

        Args:
            views: the masks.
            states: actor states at this tick.

        Raises:
            MissedTick: ids were proven before, and these masks do not fit the boxes: they are of another tick.
        """
        if not views:
            return
        sightings = _sightings(views, self._is_lone)
        corners_m = self._corners(states)
        if self.mode in {"", "actor_id"}:
            proven = self._identity_holds(sightings, views, states, corners_m)
            if proven is False and self.mode == "actor_id":
                raise MissedTick("masks and boxes do not match: the images are of another tick")
            if proven is False:
                self.mode = "voted"
            elif proven:
                self._adopt_actor_ids()
        if self.mode == "voted":
            self._vote(sightings, views, states, corners_m)
            self._elect()
        self._eliminate(sightings, views, states, corners_m)  # town objects have no actor id

    def bound(self, view: MaskView) -> Mask:
        """Translate a mask to instance ids; 0 where there is no labelled actor.

        Only pixels with labelled tags are translated: masks have 16 bits, so a building or the ground may have an actor's
        number.
        """
        runs = view.runs.copy()
        runs[:, 3] = self.instance_ids(runs[:, 3])
        return Mask(None, view.tags, runs)

    def instance_ids(self, mask_ids: IntArray) -> UInt16Array:
        """Return the (...) uint16 instance ids of (...) mask ids; 0 for ids of no labelled actor."""
        return self._table[mask_ids]

    def _adopt_actor_ids(self) -> None:
        self.mode = "actor_id"
        movers = {info.simulator_actor_id & 0xFFFF: i for i, info in self._actors.items() if i not in self._of_town}
        for mask_id, instance_id in movers.items():
            self._table[mask_id] = instance_id
        self._taken = frozenset(movers)

    def _corners(self, states: ActorStates) -> FloatArray:
        """Return the (N, 8, 3) corners of every actor's box in the map frame, metres."""
        rows = np.searchsorted(self._ids, states.instance_id)
        return cuboid.corners(states.map_SE3_actor @ self._actor_SE3_box[rows], size_lwh_m=2 * self._half_m[rows])

    def _identity_holds(
        self, sightings: Sequence[_Sightings], views: Sequence[MaskView], states: ActorStates, corners_m: FloatArray
    ) -> bool | None:
        """Return whether pixels with actor ids lie in those actors' boxes; None without evidence.

        An id of no actor may belong to a parked car in front of or beside a hidden actor. Until ids are proven, it is evidence
        against them only if it fills an actor's box; afterwards it is none.
        """
        actor = np.searchsorted(self._ids, states.instance_id)
        movers = self._moves[actor]
        row_of_id = np.full(65536, -1, dtype=np.int64)
        row_of_id[self._mask_id[actor[movers]]] = np.flatnonzero(movers)
        rows = [row_of_id[sighting.ids] for sighting in sightings]
        counts = [int((r >= 0).sum()) for r in rows]
        rectangle = _rectangles_of_pairs(views, counts, corners_m[np.concatenate([r[r >= 0] for r in rows])])
        is_finite = np.isfinite(rectangle).all(axis=1)
        centre_px = np.concatenate([s.centre_px[r >= 0] for s, r in zip(sightings, rows, strict=True)])
        good = _inside(centre_px[is_finite], rectangle[is_finite])
        fits, total = int(good.sum()), int(is_finite.sum())
        if total == 0:
            return False if not self.mode and self._fills_a_box(sightings, rows, views, corners_m[movers]) else None
        return fits >= _PROVEN_SHARE * total

    @staticmethod
    def _fills_a_box(
        sightings: Sequence[_Sightings], rows: Sequence[IntArray], views: Sequence[MaskView], corners_m: FloatArray
    ) -> bool:
        """Return whether pixels with an id of no actor (row -1) fill the box of an actor, (N, 8, 3) corners."""
        for sighting, row, view in zip(sightings, rows, views, strict=True):
            if (row < 0).any():
                rectangles = _rectangles(view, corners_m)
                for centre, extent in zip(sighting.centre_px[row < 0], sighting.extent_px[row < 0], strict=True):
                    if (_inside(centre, rectangles) & _fills(extent, rectangles)).any():
                        return True
        return False

    def _vote(
        self,
        sightings: Sequence[_Sightings],
        views: Sequence[MaskView],
        states: ActorStates,
        corners_m: FloatArray,
    ) -> None:
        """Vote for the actor with the box that holds each mask id; an actor that a view contradicts is excluded.

        Args:
            sightings: sightings in each mask.
            views: the masks.
            states: actor states.
            corners_m: (N, 8, 3) corners of the actors' boxes in the map frame, metres.
        """
        instance_id = states.instance_id
        tag = np.array([self._actors[int(i)].semantic_tag for i in instance_id])
        for sighting, view in zip(sightings, views, strict=True):
            rectangles = _rectangles(view, corners_m)
            for mask_id, centre, extent, seen_tag in zip(
                sighting.ids.tolist(), sighting.centre_px, sighting.extent_px, sighting.tags, strict=True
            ):
                if mask_id == 0 or mask_id in self._taken:  # 0: no id
                    continue
                within = _share_within(centre, extent, rectangles)
                self._contradicted.setdefault(mask_id, set()).update(instance_id[within < _WITHIN_SHARE].tolist())
                inside = np.flatnonzero(((tag == 0) | (tag == seen_tag)) & (within >= _WITHIN_SHARE))
                if len(inside):
                    middle = (rectangles[inside, :2] + rectangles[inside, 2:]) / 2
                    best = inside[int(np.argmin(np.sum((middle - centre) ** 2, axis=1)))]
                    votes = self._votes.setdefault(mask_id, Counter())
                    votes[int(instance_id[best])] += 1

    def _elect(self) -> None:
        most: Counter[int] = Counter()
        for votes in self._votes.values():
            for instance_id, count in votes.items():
                most[instance_id] = max(most[instance_id], count)
        for mask_id, votes in self._votes.items():
            winner, count = max(votes.items(), key=lambda item: (item[1], -item[0]))
            clear = count >= _WON_SHARE * votes.total() and count == most[winner]
            clear = clear and winner not in self._contradicted[mask_id]
            self._table[mask_id] = winner if clear and winner not in self._of_town else 0

    def _eliminate(
        self, sightings: Sequence[_Sightings], views: Sequence[MaskView], states: ActorStates, corners_m: FloatArray
    ) -> None:
        """Bind mask ids to town objects, and unbind those that these masks contradict."""
        rows = np.flatnonzero(np.isin(states.instance_id, self._town_ids))
        if not len(rows):
            return
        row_of = {int(states.instance_id[row]): row for row in rows.tolist()}
        town_m = corners_m[[row_of[int(i)] for i in self._town_ids]]
        before = self._elimination.bound()
        for sighting, view in zip(sightings, views, strict=True):
            is_free = (sighting.ids != 0) & ~np.isin(sighting.ids, list(self._taken))  # 0: no id
            rectangles = projected_bounds(view.pose.map_SE3_optical.apply_inverse(town_m), view.intrinsic)
            self._elimination.add(
                sighting.ids[is_free],
                sighting.tags[is_free],
                extents_px=sighting.bounds_px[is_free],
                rectangles_px=rectangles,
                image_px=(view.tags.shape[1], view.tags.shape[0]),
            )
        bound = self._elimination.bound()
        for mask_id in before.keys() - bound.keys():
            self._table[mask_id] = 0
        for mask_id, row in bound.items():
            self._table[mask_id] = self._town_ids[row]


@dataclass(frozen=True, slots=True, eq=False)
class _Sightings:
    """Objects with enough pixels in a mask: ids (N,), tags (N,), mean pixel and width and height (N, 2), bounds (N, 4).

    Width and height are those of a filled rectangle with the same spread of pixels, so that a few stray pixels have no effect.
    """

    ids: IntArray
    tags: IntArray
    centre_px: FloatArray
    extent_px: FloatArray
    bounds_px: IntArray


def _sightings(views: Sequence[MaskView], is_lone: BoolArray) -> list[_Sightings]:
    """Return the sightings of each mask; objects that fly alone in the sky need a single pixel."""
    runs, of_view = np.concatenate([view.runs for view in views]), np.arange(len(views)) << 16
    runs[:, 3] += np.repeat(of_view, [len(view.runs) for view in views])  # keeps equal ids of two masks apart
    ids, sums = mask_pixels.moments(runs)
    tag = np.rint(sums[:, 5] / np.maximum(sums[:, 0], 1)).astype(np.int64)
    enough = sums[:, 0] >= np.where(is_lone[tag], 1, _ENOUGH_PIXELS)
    ids, bounds, sums = ids[enough], sums[enough, 6:], sums[enough].astype(np.float64)
    count = sums[:, :1]
    centre_px = (sums[:, 1:3] + 0.5 * count) / count  # pixel centres are at halves
    squares = (sums[:, 3:5] + sums[:, 1:3] + 0.25 * count) / count
    extent_px = np.sqrt(12.0 * np.maximum(squares - centre_px**2, 0.0))
    tags, ends = tag[enough], [*np.searchsorted(ids, of_view).tolist(), len(ids)]
    return [
        _Sightings(ids[part] & 0xFFFF, tags[part], centre_px[part], extent_px[part], bounds[part])
        for part in (slice(begin, end) for begin, end in pairwise(ends))
    ]


def _rectangles(view: MaskView, corners_map_m: FloatArray) -> FloatArray:
    """Project (N, 8, 3) map corners to (N, 4) bounds u_min, v_min, u_max, v_max, pixels; NaN unless all are in front."""
    return _rectangles_of_pairs([view], [len(corners_map_m)], corners_map_m)


def _rectangles_of_pairs(views: Sequence[MaskView], counts: Sequence[int], corners_map_m: FloatArray) -> FloatArray:
    """Return the (N, 4) bounds of the boxes of several views, concatenated; ``counts`` has the number of each view."""
    poses = SE3.stack([view.pose.map_SE3_optical for view in views])
    which = np.repeat(np.arange(len(views)), counts)
    intrinsic = np.array([view.intrinsic for view in views]).reshape(-1, 3, 3)
    optical_m = poses[which][:, None].apply_inverse(corners_map_m)
    pixels = pinhole.project(optical_m, intrinsic=intrinsic[which])
    pixels[(optical_m[..., 2] < 0.1).any(axis=1)] = np.nan
    by_corner = np.ascontiguousarray(pixels.swapaxes(0, 1))  # the minimum over long rows is six times as fast
    return np.concatenate([by_corner.min(axis=0), by_corner.max(axis=0)], axis=1)


def _fills(extent_px: FloatArray, rectangles: FloatArray) -> BoolArray:
    size = rectangles[:, 2:] - rectangles[:, :2]
    fills = (extent_px >= _LEAST_FILL * size) & (extent_px <= _MOST_FILL * size + 2 * _SLACK_PX)
    return np.asarray(fills.all(axis=1), dtype=np.bool_)


def _share_within(centre_px: FloatArray, extent_px: FloatArray, rectangles: FloatArray) -> FloatArray:
    """Return the (N,) shares of an object, (2,) centre and (2,) size, inside (N, 4) boxes; NaN for a NaN box."""
    half = np.maximum(extent_px, 1.0) / 2
    low = np.maximum(centre_px - half, rectangles[:, :2] - _EDGE_PX)
    high = np.minimum(centre_px + half, rectangles[:, 2:] + _EDGE_PX)
    share: FloatArray = np.prod(np.maximum(high - low, 0.0) / (2 * half), axis=1)
    return share


def _inside(point_px: FloatArray, rectangles: FloatArray) -> BoolArray:
    """Return (N,) bool, True where a rectangle, (N, 4), holds the (2,) point, or the same row of (N, 2) points."""
    low = point_px >= rectangles[:, :2] - _SLACK_PX
    high = point_px <= rectangles[:, 2:] + _SLACK_PX
    return np.asarray((low & high).all(axis=1), dtype=np.bool_)
