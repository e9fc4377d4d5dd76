"""Translate the actor ids of points to instance ids, verified by the boxes of that tick."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.errors import MissedTick
from uavsim.images.points import Returns
from uavsim.records.actors import MOVER_TAGS
from uavsim.records.ingredients import actor_kind
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.typing import BoolArray, FloatArray, IntArray

_SLACK_M: Final = 0.5  # mirrors, antennas and arms exceed CARLA's boxes
_BOX_SLACK_M: Final = 0.1
_PROVEN_SHARE: Final = 0.9
_ENOUGH_POINTS: Final = 20  # fewer are no evidence


class PointOwners:
    """Translates the simulator's actor ids of points to the scene's instance ids."""

    def __init__(self, actors: Sequence[ActorInfo]) -> None:
        """Build the tables; town objects have no actor id."""
        self._info = {info.instance_id: info for info in actors}
        self._instance_of = np.zeros(65536, dtype=np.int64)
        for info in actors:
            if not actor_kind(info.kind).is_of_town and info.simulator_actor_id & 0xFFFF:  # 0: no actor
                self._instance_of[info.simulator_actor_id & 0xFFFF] = info.instance_id
        self._boxed = frozenset(info.instance_id for info in actors if _has_box(info))

    def instance_ids(self, returns: Returns, map_m: FloatArray, states: ActorStates) -> IntArray:
        """Return the instance ids of points.

        Points with an actor's id belong to that actor; other points with a tag of movers (town vehicles, movers beyond
        AirSim's numbers) belong to the box that contains them.

        Args:
            returns: (N,) returns of one tick.
            map_m: (N, 3) positions in the map frame, metres.
            states: actor states at that tick.

        Returns:
                (N,) int64 instance ids; 0 for points on no labelled actor.

        Raises:
            MissedTick: points with actors' ids lie outside those actors' boxes: the scan is of another tick or pose.
        """
        ids = self._instance_of[returns["actor"] & 0xFFFF]
        ids = np.where(np.isin(ids, states.instance_id), ids, 0)
        row_of = {int(i): row for row, i in enumerate(states.instance_id)}
        inside = total = 0
        for instance_id in self._boxed.intersection(np.unique(ids).tolist()):
            is_own = ids == instance_id
            inside += int(self._inside(map_m[is_own], states, row_of[instance_id], slack_m=_SLACK_M).sum())
            total += int(is_own.sum())
        if total >= _ENOUGH_POINTS and inside < _PROVEN_SHARE * total:
            raise MissedTick(f"{total - inside} of {total} lidar points on actors lie outside of their boxes")
        free = np.flatnonzero((ids == 0) & np.isin(returns["tag"], MOVER_TAGS))
        ids[free] = self.by_box(map_m[free], states)
        return ids

    def by_box(self, map_m: FloatArray, states: ActorStates) -> IntArray:
        """Return (N,) int64 ids of the boxes that hold (N, 3) map points, the lowest of several; 0 for none."""
        ids = np.zeros(len(map_m), dtype=np.int64)
        for row, instance_id in enumerate(states.instance_id.tolist() if len(map_m) else ()):
            if instance_id not in self._boxed:
                continue
            distance_m = np.linalg.norm(map_m - states.map_SE3_actor.translation_m[row], axis=1)
            near = np.flatnonzero((ids == 0) & (distance_m < self._reach_m(instance_id)))
            ids[near[self._inside(map_m[near], states, row, slack_m=_BOX_SLACK_M)]] = instance_id
        return ids

    def _reach_m(self, instance_id: int) -> float:
        info = self._info[instance_id]
        return float(np.linalg.norm(info.half_extent_m) + np.linalg.norm(info.actor_SE3_box.translation_m)) + _SLACK_M

    def _inside(self, map_m: FloatArray, states: ActorStates, row: int, *, slack_m: float) -> BoolArray:
        info = self._info[int(states.instance_id[row])]
        box_m = (states.map_SE3_actor[row] @ info.actor_SE3_box).apply_inverse(map_m)
        return np.asarray((np.abs(box_m) <= np.array(info.half_extent_m) + slack_m).all(axis=1), dtype=np.bool_)


def _has_box(info: ActorInfo) -> bool:
    """Return whether an actor's box is usable: some servers report boxes of two-wheelers as empty or infinite."""
    half_m = np.array(info.half_extent_m)
    return bool(np.isfinite(half_m).all() and (half_m > 0).all())
