"""Radar detections: owner, radial speed and reflection of each.

A detection belongs to the actor with the box that holds it, and moves with it. Speed is measured along the ray: relative to
the sensor in ``vx, vy``, over ground in ``vx_comp, vy_comp``, as in nuScenes; of a ray with elevation these are the horizontal
parts. ``rcs`` is modelled, because no simulator provides it: the class's reflection of a square metre, times the area of the
box that faces the sensor; fluctuation, multipath and clutter are left out.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from uavsim.capture.point_owners import PointOwners
from uavsim.capture.proofs import PosedReading
from uavsim.images.radar import APPROACHING, DETECTION, MOVING, STANDING
from uavsim.records.classes import class_of
from uavsim.records.modalities import RADAR, RADAR_INSTANCE
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.typing import FloatArray

_GAIN_DB: Final = {"drives": 3.0, "is_ridden": -4.0, "walks": -9.0, "stands": 0.0, "flies": -20.0}
"""Reflection of a square metre of a class's box by ``ObjectClass.behaviour``: cars 10 dBsm from the side, people -9."""
_TOWN_DBSM: Final = 0.0
_MOVES_MPS: Final = 0.2


class OwnedDetections:
    """Proof of a scene's radar detections."""

    mask_ids = ""

    def __init__(self, actors: Sequence[ActorInfo]) -> None:
        """Build the tables of owners."""
        self._owners = PointOwners(actors)
        self._info = {info.instance_id: info for info in actors}

    def prove(self, taken: Sequence[PosedReading], states: ActorStates) -> dict[str, dict[str, Any]]:
        """See ``Proof``: returns the detections and their (N, 2) owner ids and tags."""
        return {each.pose.channel: self._detections(each, states) for each in taken}

    def _detections(self, each: PosedReading, states: ActorStates) -> dict[str, Any]:
        flu_m = each.reading.data["flu_m"].astype(np.float64)
        pose = each.pose.map_SE3_sensor
        ids = self._owners.by_box(pose.apply(flu_m), states)
        over_ground_mps = np.zeros((len(ids), 3))
        rcs_dbsm, tags = np.full(len(ids), _TOWN_DBSM), np.zeros(len(ids), np.int64)
        for row, instance_id in enumerate(states.instance_id.tolist()):
            is_own = ids == instance_id
            if is_own.any():
                info = self._info[instance_id]
                over_ground_mps[is_own], tags[is_own] = states.velocity_map_mps[row], info.semantic_tag
                rcs_dbsm[is_own] = _rcs_dbsm(info, states, row, from_map_m=pose.translation_m)
        ray = flu_m / np.linalg.norm(flu_m, axis=1, keepdims=True)
        map_ray = pose.rotate(ray)
        comp_mps = np.sum(over_ground_mps * map_ray, axis=1)
        seen_mps = comp_mps - map_ray @ each.pose.velocity_map_mps
        found = np.zeros(len(ids), DETECTION)
        found["x"], found["y"], found["z"] = flu_m.T
        found["vx"], found["vy"] = seen_mps * ray[:, 0], seen_mps * ray[:, 1]
        found["vx_comp"], found["vy_comp"] = comp_mps * ray[:, 0], comp_mps * ray[:, 1]
        found["dyn_prop"] = np.where(
            np.linalg.norm(over_ground_mps, axis=1) < _MOVES_MPS, STANDING, np.where(seen_mps < 0, APPROACHING, MOVING)
        )
        found["rcs"], found["id"] = rcs_dbsm, np.arange(len(ids))
        found["is_quality_valid"], found["ambig_state"], found["pdh0"] = 1, 3, 1
        return {RADAR: found, RADAR_INSTANCE: np.stack([ids, tags], axis=1)}


def _rcs_dbsm(info: ActorInfo, states: ActorStates, row: int, *, from_map_m: FloatArray) -> float:
    """Return an actor's radar cross section seen from a (3,) map position, dBsm."""
    map_SE3_box = states.map_SE3_actor[row] @ info.actor_SE3_box
    towards = map_SE3_box.apply_inverse(from_map_m[None])[0]
    towards /= np.linalg.norm(towards)
    half = np.array(info.half_extent_m)
    facing_m2 = 4 * float(np.abs(towards) @ np.array([half[1] * half[2], half[0] * half[2], half[0] * half[1]]))
    found = class_of(info)
    return 10 * float(np.log10(facing_m2)) + (_GAIN_DB[found.behaviour] if found else 0.0)
