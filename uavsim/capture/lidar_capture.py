"""All lidars at one tick, or an error: whose points these are, proven by the boxes of that tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from uavsim.capture.masks import MOVER_TAGS
from uavsim.errors import MissedTick
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.images import points
from uavsim.images.points import Returns
from uavsim.records.ingredients import actor_kind
from uavsim.records.modalities import LIDAR, LIDAR_INSTANCE
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.ports import CameraPose, Reading
from uavsim.typing import BoolArray, FloatArray, IntArray

__all__ = ["LidarCapture", "PointOwners", "assemble_lidars"]

_SLACK_M: Final = 0.5  # mirrors, antennas and arms reach out of CARLA's boxes
_PARKED_SLACK_M: Final = 0.1
_PROVEN_SHARE: Final = 0.9
_ENOUGH_POINTS: Final = 20  # fewer say little


@dataclass(frozen=True, slots=True, eq=False)
class LidarCapture:
    """One lidar's whole turn.

    Attributes:
        map_SE3_lidar: the sensor's own flu frame.
        data: modality -> what was taken, as ``Modality.encode`` wants it.
    """

    pose: CameraPose
    map_SE3_lidar: SE3
    data: dict[str, Any]


class PointOwners:
    """Turns the simulator's actor ids at points into the scene's instance ids."""

    def __init__(self, actors: Sequence[ActorInfo]) -> None:
        """Note who is who; things of the town have no actor id."""
        self._info = {info.instance_id: info for info in actors}
        self._instance_of = np.zeros(65536, dtype=np.int64)
        for info in actors:
            if not actor_kind(info.kind).is_of_town and info.simulator_actor_id & 0xFFFF:  # 0 is what is no actor
                self._instance_of[info.simulator_actor_id & 0xFFFF] = info.instance_id
        self._boxed = frozenset(info.instance_id for info in actors if _has_box(info))

    def instance_ids(self, returns: Returns, map_m: FloatArray, states: ActorStates) -> IntArray:
        """Return (N,) instance ids, 0 where no labelled actor is.

        Points that carry an actor's id are that actor's; points on something that could be one but carry none (vehicles that
        are parts of the town, movers beyond AirSim's numbers) are of the box that they lie in.

        Args:
            returns: (N,) of one tick.
            map_m: (N, 3) where they are.
            states: the actors at that tick.

        Raises:
            MissedTick: points that carry actors' ids do not lie in those actors' boxes: a scan of another tick or place.
        """
        ids = self._instance_of[returns["actor"] & 0xFFFF]
        ids = np.where(np.isin(ids, states.instance_id), ids, 0)
        row_of = {int(i): row for row, i in enumerate(states.instance_id)}
        inside = total = 0
        for instance_id in self._boxed.intersection(np.unique(ids).tolist()):
            own = ids == instance_id
            inside += int(self._inside(map_m[own], states, row_of[instance_id], slack_m=_SLACK_M).sum())
            total += int(own.sum())
        if total >= _ENOUGH_POINTS and inside < _PROVEN_SHARE * total:
            raise MissedTick(f"{total - inside} of {total} lidar points on actors lie outside of their boxes")
        free = np.flatnonzero((ids == 0) & np.isin(returns["tag"], MOVER_TAGS))
        for instance_id, row in row_of.items() if len(free) else ():
            if instance_id not in self._boxed:
                continue
            near = free[
                np.linalg.norm(map_m[free] - states.map_SE3_actor.translation_m[row], axis=1)
                < self._reach_m(instance_id)
            ]
            hit = near[self._inside(map_m[near], states, row, slack_m=_PARKED_SLACK_M)]
            ids[hit[ids[hit] == 0]] = instance_id
        return ids

    def _reach_m(self, instance_id: int) -> float:
        info = self._info[instance_id]
        return float(np.linalg.norm(info.half_extent_m) + np.linalg.norm(info.actor_SE3_box.translation_m)) + _SLACK_M

    def _inside(self, map_m: FloatArray, states: ActorStates, row: int, *, slack_m: float) -> BoolArray:
        info = self._info[int(states.instance_id[row])]
        box_m = (states.map_SE3_actor[row] @ info.actor_SE3_box).apply_inverse(map_m)
        return np.asarray((np.abs(box_m) <= np.array(info.half_extent_m) + slack_m).all(axis=1), dtype=np.bool_)


def _has_box(info: ActorInfo) -> bool:
    """Tell whether points can be held against an actor's box: some servers tell two-wheelers' as nothing or infinite."""
    half_m = np.array(info.half_extent_m)
    return bool(np.isfinite(half_m).all() and (half_m > 0).all())


def assemble_lidars(
    plan: ScenePlan,
    *,
    poses: Sequence[CameraPose],
    readings: Sequence[Reading],
    states: ActorStates,
    owners: PointOwners,
) -> list[LidarCapture]:
    """Put one tick's lidar turns together.

    Args:
        plan: says which drones have one.
        poses: of this tick; those of other sensors are passed over.
        readings: of this tick, each proven to be of it.
        states: the actors at this tick.
        owners: knows who is who.

    Raises:
        MissedTick: a turn is missing, or its points do not fit this tick's boxes.
    """
    by_channel = {reading.channel: reading for reading in readings if reading.modality == LIDAR}
    pose_of = {pose.channel: pose for pose in poses}
    captures = []
    for channel in plan.lidar_channels:
        if channel not in by_channel:
            raise MissedTick(f"{channel} has no points")
        pose, returns = pose_of[channel], by_channel[channel].data
        map_SE3_lidar = unreal.map_SE3_flu_from_ue(pose.ue_location_m, ue_euler_deg=np.array(pose.ue_euler_deg))
        map_m = map_SE3_lidar.apply(returns["flu_m"].astype(np.float64))
        ids = owners.instance_ids(returns, map_m, states)
        data = {LIDAR: points.cloud_of(returns), LIDAR_INSTANCE: np.stack([ids, returns["tag"]], axis=1)}
        captures.append(LidarCapture(pose, map_SE3_lidar, data))
    return captures
