"""The drones' bodies in a CARLA world: props that follow the drones at each tick, or AirSim's own bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

import carla
import numpy as np

from uavsim.errors import MissedTick, SimulatorError
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.drone_bodies import AIRSIM_BODY, DroneBodiesPlan
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.motion import TickMotion
from uavsim.records.recording import DroneState
from uavsim.simulate.carla.read import Parked
from uavsim.simulate.carla.spawning import SpawnContext, Spawned, flying_prop
from uavsim.typing import FloatArray, IntArray

_DYNAMIC: Final = 21  # CARLA's tag "Dynamic" of moving objects without a class
_LAST_MASK_ID: Final = 0xFFFF


@dataclass(slots=True, eq=False, kw_only=True)
class AirSimDroneBodies(Spawned):
    """AirSim's own bodies of one scene's drones, unknown to CARLA; the YAML gives the size of their boxes."""

    record: DroneBodiesPlan
    start: SE3
    _used: set[int] = field(default_factory=set)
    _ids: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    _drones: Sequence[DroneState] = ()

    def set_actor_infos(self, infos: Mapping[int, ActorInfo]) -> None:
        """Store the mask values of other actors."""
        self._used = {actor_id & _LAST_MASK_ID for actor_id in infos}

    def scenery(self, first_instance_id: int) -> Parked:
        """Return a body for each drone, in order, at its start."""
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
        """Store the drones' poses."""
        self._drones = drones

    def moved(self, scenery: Parked) -> Parked:
        """Move the bodies to the drones."""
        if not self._drones:
            return scenery
        states = scenery.states
        rows = np.searchsorted(states.instance_id, self._ids)
        quat_wxyz, position_m = states.map_SE3_actor.quat_wxyz.copy(), states.map_SE3_actor.translation_m.copy()
        euler_deg, velocity = states.ue_euler_deg.copy(), states.velocity_map_mps.copy()
        for row, drone in zip(rows.tolist(), self._drones, strict=True):
            quat_wxyz[row], position_m[row] = drone.map_SE3_flu.quat_wxyz, drone.map_SE3_flu.translation_m
            euler_deg[row] = unreal.ue_euler_from_map_q_flu(drone.map_SE3_flu.quat_wxyz)
            velocity[row] = drone.velocity_map_mps
        poses = SE3(quat_wxyz, position_m)
        return Parked(
            scenery.infos, replace(states, map_SE3_actor=poses, ue_euler_deg=euler_deg, velocity_map_mps=velocity)
        )


_ROLE: Final = "swarm_drone"
_SLACK_M: Final = 0.01
_PLACE_TOLERANCE_M: Final = 2e-3


def spawn(context: SpawnContext, record: DroneBodiesPlan) -> Spawned:
    """Spawn a body at the start of each drone, and let a tick pass; AirSim's own bodies exist already.

    Raises:
        SimulatorError: the server has no such blueprint, or cannot spawn it.
    """
    if record.blueprint == AIRSIM_BODY:
        return AirSimDroneBodies("drone", record=record, start=context.plan.swarm.map_SE3_flu[0])
    ids = []
    blueprint = flying_prop(
        context.world, record.blueprint, role=_ROLE, what="the drones", where="drone_bodies: {blueprint: ...}"
    )
    for x, y, z in context.plan.swarm.map_SE3_flu[0].translation_m.tolist():
        actor = context.world.spawn_actor(blueprint, carla.Transform(carla.Location(x, -y, z + record.above_m)))
        actor.set_simulate_physics(False)
        ids.append(int(actor.id))
    context.pass_a_tick()
    return CarlaDroneBodies("drone", ids, client=context.client, record=record)


@dataclass(slots=True, eq=False, kw_only=True)
class CarlaDroneBodies(Spawned):
    """The bodies of one scene's drones."""

    client: carla.Client
    record: DroneBodiesPlan
    _infos: list[ActorInfo] = field(default_factory=list)
    _drones: Sequence[DroneState] = ()
    _ue_m: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))

    proves: ClassVar[bool] = True

    def set_actor_infos(self, infos: Mapping[int, ActorInfo]) -> None:
        """Take the boxes of the bodies.

        Raises:
            SimulatorError: a body is missing, or larger than the size in the YAML.
        """
        self._infos = [infos[actor_id] for actor_id in self.actor_ids]
        size_m, most_m = 2 * np.array(self._infos[0].half_extent_m), np.array(self.record.size_lwh_m)
        if not (size_m > 0).all() or (size_m > most_m + _SLACK_M).any():
            actual, configured = (" x ".join(f"{side:.2f}" for side in sides) for sides in (size_m, most_m))
            raise SimulatorError(
                f"drone_bodies: blueprint {self.record.blueprint!r} measures {actual} m, but size_m is {configured} m; "
                "set size_m to at least its size, or choose another blueprint"
            )

    def on_drone_poses(self, drones: Sequence[DroneState]) -> None:
        """Move every body to its drone, in the next tick.

        Raises:
            MissedTick: the server refused.
        """
        if not drones:
            return
        above = SE3(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, self.record.above_m]))
        boxes = SE3.stack([info.actor_SE3_box for info in self._infos])
        map_SE3_actor = SE3.stack([drone.map_SE3_flu for drone in drones]) @ above @ boxes.inverse()
        ue_m = unreal.ue_vector_from_map(map_SE3_actor.translation_m)
        commands = []
        for actor_id, location, euler_deg in zip(
            self.actor_ids,
            ue_m.tolist(),
            unreal.ue_euler_from_map_q_flu(map_SE3_actor.quat_wxyz).tolist(),
            strict=True,
        ):
            roll, pitch, yaw = euler_deg
            pose = carla.Transform(carla.Location(*location), carla.Rotation(pitch=pitch, yaw=yaw, roll=roll))
            commands.append(carla.command.ApplyTransform(actor_id, pose))
        failed = [reply.error for reply in self.client.apply_batch_sync(commands, False) if reply.error]
        if failed:
            raise MissedTick(f"{len(failed)} drone bodies could not be moved: {failed[0]}")
        self._drones, self._ue_m = drones, ue_m

    def proven(self, states: ActorStates, motion: TickMotion) -> ActorStates:
        """Return the states with the drones' velocities: a server reports none for moved props.

        Raises:
            MissedTick: a body is gone, or not at its commanded pose.
        """
        del motion
        if not self._drones:  # they do not fly yet
            return states
        ids = [info.instance_id for info in self._infos]
        if not np.isin(ids, states.instance_id).all():
            raise MissedTick("a drone body is missing: the simulator destroyed it")
        rows = np.searchsorted(states.instance_id, ids)
        actual_ue_m = unreal.ue_vector_from_map(states.map_SE3_actor.translation_m[rows])
        off_m = np.linalg.norm(actual_ue_m - self._ue_m, axis=1)
        if off_m.max() > _PLACE_TOLERANCE_M:
            drone = self._drones[int(off_m.argmax())].drone_id
            raise MissedTick(f"the body of drone {drone} is {off_m.max():.3f} m from its commanded position")
        velocity = np.array(states.velocity_map_mps, dtype=np.float64)
        velocity[rows] = [drone.velocity_map_mps for drone in self._drones]
        return replace(states, velocity_map_mps=velocity)
