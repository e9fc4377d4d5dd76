"""The drones' bodies in a merged build: AirSim draws its vehicles itself, and they are described where it places them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.drone_bodies.records import AIRSIM_BODY, DroneBodiesPlan
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.recording import DroneState
from uavsim.simulate.carla.read import Parked
from uavsim.simulate.carla.spawning import Spawned
from uavsim.typing import IntArray

_DYNAMIC: Final = 21  # CARLA's tag of what moves and has none of its own
_LAST_MASK_ID: Final = 0xFFFF


@dataclass(slots=True, eq=False, kw_only=True)
class AirSimDroneBodies(Spawned):
    """The bodies of one scene's drones, of which CARLA knows nothing; their boxes are as large as the YAML says."""

    record: DroneBodiesPlan
    start: SE3
    _used: set[int] = field(default_factory=set)
    _ids: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    _drones: Sequence[DroneState] = ()

    def set_actor_infos(self, infos: Mapping[int, ActorInfo]) -> None:
        """Take the numbers that masks show of others."""
        self._used = {actor_id & _LAST_MASK_ID for actor_id in infos}

    def scenery(self, first_instance_id: int) -> Parked:
        """Return a body for each drone, in their order, where they start."""
        count = len(self.start.quat_wxyz)
        self._ids = np.arange(first_instance_id, first_instance_id + count, dtype=np.int64)
        free = [number for number in range(_LAST_MASK_ID, 0, -1) if number not in self._used]
        x, y, z = (side / 2 for side in self.record.size_lwh_m)
        middle = SE3(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, self.record.above_m]))
        infos = tuple(
            ActorInfo(number, mask_id, "drone", AIRSIM_BODY, "", (x, y, z), middle, _DYNAMIC)
            for number, mask_id in zip(self._ids.tolist(), free, strict=False)
        )
        none = np.zeros((count, 3))
        return Parked(infos, ActorStates(self._ids, self.start, none, none, none, none))

    def on_drone_poses(self, drones: Sequence[DroneState]) -> None:
        """Remember where the drones are."""
        self._drones = drones

    def moved(self, scenery: Parked) -> Parked:
        """Put the bodies where the drones are."""
        if not self._drones:
            return scenery
        states = scenery.states
        rows = np.searchsorted(states.instance_id, self._ids)
        quat_wxyz, place_m = states.map_SE3_actor.quat_wxyz.copy(), states.map_SE3_actor.translation_m.copy()
        euler_deg, velocity = states.ue_euler_deg.copy(), states.velocity_map_mps.copy()
        for row, drone in zip(rows.tolist(), self._drones, strict=True):
            quat_wxyz[row], place_m[row] = drone.map_SE3_flu.quat_wxyz, drone.map_SE3_flu.translation_m
            euler_deg[row] = unreal.ue_euler_from_map_q_flu(drone.map_SE3_flu.quat_wxyz)
            velocity[row] = drone.velocity_map_mps
        there = SE3(quat_wxyz, place_m)
        return Parked(
            scenery.infos, replace(states, map_SE3_actor=there, ue_euler_deg=euler_deg, velocity_map_mps=velocity)
        )
