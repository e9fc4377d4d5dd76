"""Recorded actors in a CARLA world: without physics and Traffic Manager, moved to their recorded poses at each tick.

Imports ``carla``. No actor moves by itself and traffic lights are frozen, so each tick shows the recorded state, on any server
that has the blueprints.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeAlias

import carla
import numpy as np

from uavsim.errors import MissedTick, SceneVoid
from uavsim.ingredients.carla.skins import paint
from uavsim.ingredients.carla.traffic import parked_objects, parked_vehicles
from uavsim.ingredients.replay import ReplayPlan
from uavsim.ingredients.skins import SkinPlan
from uavsim.ingredients.traffic import ParkedPlan
from uavsim.records.ingredients import actor_kind
from uavsim.records.motion import TickMotion
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.carla.motion import signals_of
from uavsim.simulate.carla.read import NOTHING_PARKED, Parked
from uavsim.simulate.carla.spawning import SpawnContext, Spawned
from uavsim.typing import AnyArray, BoolArray, IntArray

CarlaCommand: TypeAlias = Any  # CARLA has no public name for the type of its commands
_SPAWN_ABOVE_M: Final = 200.0  # above the first pose: free space, and two actors never share a place
_PLACE_TOLERANCE_M: Final = 1e-3
_TURN_TOLERANCE_DEG: Final = 1e-2


def spawn(context: SpawnContext, record: ReplayPlan) -> Spawned:
    """Spawn the recording's actors, vehicles and props before walkers.

    It takes as many ticks as at the time of recording, because rain depends on the time since the lights restarted.

    Raises:
        SceneVoid: an actor cannot be spawned; the message names it.
    """
    replayed = RecordedTraffic(context, record)
    replayed.spawn()
    return replayed


class RecordedTraffic(Spawned):
    """The actors of one replay in one world."""

    proves = True

    def __init__(self, context: SpawnContext, record: ReplayPlan) -> None:
        """Unpack the motion; spawn nothing yet."""
        super().__init__(counts=record.counts)
        self._context, self._replay = context, record
        self._client, self._world = context.client, context.world
        self._motion = record.motion.open()
        self._capture_of = {step: index for index, step in enumerate(context.plan.capture_steps)}
        self._infos = {info.instance_id: info for info in record.actors}
        self._kinds = {info.instance_id: actor_kind(info.kind) for info in record.actors}
        self._column = {int(i): n for n, i in enumerate(self._motion.instance_id)}
        self._actor_of: dict[int, int] = {}
        self._step, self._row = 0, 0
        self._reported: dict[int, tuple[AnyArray, int]] = {}
        self._signals: dict[str, carla.TrafficLight] = {}
        self._signals_reported: dict[str, int] = {}
        self._out_of_sight: list[int] = []

    # ------------------------------------------------------------------ a scene's beginning and end
    def spawn(self) -> None:
        """Spawn the actors; see the function ``spawn``."""
        skin = self._context.plan.of(SkinPlan)
        self.marks_town = skin is not None and paint(self._context, skin)
        self._world.reset_all_traffic_lights()
        self._world.freeze_all_traffic_lights(True)
        self._signals = signals_of(self._world)
        if missing := sorted(set(self._motion.signal_id) - set(self._signals)):
            raise SceneVoid(
                f"{self._context.map_name} has no traffic light {missing[0]!r} of the recording: the simulator has another "
                "version of the town"
            )
        present = [i for i in self._present() if not self._kinds[i].is_of_town]
        walk = [i for i in present if self._driven_as(i) == "walker"]
        others = self._spawn([i for i in present if i not in walk])
        self._context.pass_a_tick()
        walkers = self._spawn(walk)
        if self._replay.counts.get("walkers", (0, 0))[0]:
            self._context.pass_a_tick()
        self.actor_ids = others + walkers
        for actor in self._world.get_actors(self.actor_ids):
            actor.set_collisions(False)
        self.instance_of = {actor_id: instance_id for instance_id, actor_id in self._actor_of.items()}
        self.agents = {
            one.agent: self._actor_of[one.instance_id] if one.instance_id else one.map_SE3_flu
            for one in self._replay.agents
        }

    def kind_of(self, actor: carla.Actor) -> str:
        """See ``Spawned``."""
        assert self.instance_of is not None
        return self._infos[self.instance_of[actor.id]].kind

    def scenery(self, first_instance_id: int) -> Parked:
        """Read the recording's parked vehicles, remove hidden ones from the town, and return the others."""
        del first_instance_id  # the recording has their ids
        if self._context.plan.of(ParkedPlan) is None:
            return NOTHING_PARKED
        first = 1 + max((i for i, kind in self._kinds.items() if not kind.is_of_town), default=0)
        objects = parked_objects(self._world)
        parked = parked_vehicles(objects, first_instance_id=first)
        is_visible = np.array([info.instance_id not in self._replay.hidden for info in parked.infos], dtype=np.bool_)
        self._out_of_sight = [int(o.id) for o, visible in zip(objects, is_visible, strict=True) if not visible]
        if not self._out_of_sight:
            return parked
        self._world.enable_environment_objects(set(self._out_of_sight), False)
        infos = tuple(info for info, visible in zip(parked.infos, is_visible, strict=True) if visible)
        return Parked(infos, _rows(parked.states, is_visible))

    def clear(self) -> None:
        """Unfreeze and reset traffic lights, and show hidden parked vehicles again."""
        self._world.freeze_all_traffic_lights(False)
        self._world.reset_all_traffic_lights()
        if self._out_of_sight:
            self._world.enable_environment_objects(set(self._out_of_sight), True)

    def _present(self) -> list[int]:
        """Return the instance ids of shown actors that exist at the first tick."""
        exists = ~np.isnan(self._motion.ue_pose[0, :, 0])
        return [int(i) for i in self._motion.instance_id[exists] if int(i) not in self._replay.hidden]

    def _spawn(self, instance_ids: list[int]) -> list[int]:
        commands = [self._spawn_command(self._infos[i]) for i in instance_ids]
        replies = self._client.apply_batch_sync(commands, False)
        for instance_id, reply in zip(instance_ids, replies, strict=True):
            if reply.error:
                info = self._infos[instance_id]
                raise SceneVoid(
                    f"actor {instance_id} ({info.blueprint}) of the recording cannot be spawned: {reply.error}"
                )
            self._actor_of[instance_id] = int(reply.actor_id)
        return [self._actor_of[i] for i in instance_ids]

    def _spawn_command(self, info: ActorInfo) -> carla.command.SpawnActor:
        library = self._world.get_blueprint_library()
        try:
            blueprint = library.find(info.blueprint)
        except (IndexError, RuntimeError) as error:
            raise SceneVoid(
                f"actor {info.instance_id} of the recording cannot be spawned: the simulator has no blueprint "
                f"{info.blueprint!r}"
            ) from error
        for name, value in info.attributes.items():
            if blueprint.has_attribute(name) and blueprint.get_attribute(name).is_modifiable:
                blueprint.set_attribute(name, value)
        pose = _transform(self._motion.ue_pose[0, self._column[info.instance_id]])
        pose.location.z += _SPAWN_ABOVE_M
        spawn = carla.command.SpawnActor(blueprint, pose)
        return spawn.then(carla.command.SetSimulatePhysics(carla.command.FutureActor, False))

    # ------------------------------------------------------------------ ticks
    def before_tick(self, step: int) -> None:
        """Move every actor to its recorded pose at a step."""
        self._step, self._row = step, self._motion.row_of(step)
        for name, state in zip(self._motion.signal_id, self._motion.signals[self._row].tolist(), strict=True):
            if self._signals_reported.get(name) != state:  # processed before the batch, which is synchronous
                self._signals[name].set_state(carla.TrafficLightState(state))
                self._signals_reported[name] = state
        commands: list[CarlaCommand] = []
        for instance_id, actor_id in list(self._actor_of.items()):
            commands += self._commands(instance_id, actor_id)
        replies = self._client.apply_batch_sync(commands, False) if commands else []
        failed = [reply.error for reply in replies if reply.error]
        if failed:
            raise MissedTick(f"step {step}: {len(failed)} recorded actors could not be moved: {failed[0]}")

    def _commands(self, instance_id: int, actor_id: int) -> list[CarlaCommand]:
        """Return the changes of one actor since its last report."""
        row, column = self._row, self._column[instance_id]
        pose = self._motion.ue_pose[row, column]
        if np.isnan(pose[0]):
            del self._actor_of[instance_id]
            return [carla.command.DestroyActor(actor_id)]
        values = np.concatenate([pose, self._motion.control[row, column]])
        lights = int(self._motion.lights[row, column])
        before, lights_before = self._reported.get(instance_id, (None, 0))
        self._reported[instance_id] = (values, lights)
        commands: list[CarlaCommand] = []
        if before is None or not np.array_equal(before[:6], values[:6]):
            commands.append(carla.command.ApplyTransform(actor_id, _transform(values)))
        is_driven = self._driven_as(instance_id) in {"vehicle", "walker"}
        if is_driven and (before is None or not np.array_equal(before[6:], values[6:])):
            commands.append(self._control(instance_id, actor_id, values[6:]))
        if lights != lights_before:
            commands.append(carla.command.SetVehicleLightState(actor_id, lights))
        return commands

    def _driven_as(self, instance_id: int) -> str:
        """Return the first word of an actor's blueprint; only vehicles and walkers get controls."""
        return self._infos[instance_id].blueprint.partition(".")[0]

    def _control(self, instance_id: int, actor_id: int, control: AnyArray) -> CarlaCommand:
        """Apply an actor's recorded control, which shows in brake lights, wheels and limbs without moving the actor."""
        throttle, steer, brake, hand_brake, gear = control.tolist()
        if self._driven_as(instance_id) == "walker":
            return carla.command.ApplyWalkerControl(actor_id, carla.WalkerControl(carla.Vector3D(), throttle, False))
        reported = carla.VehicleControl(throttle, steer, brake, bool(hand_brake), gear < 0, True, round(gear))
        return carla.command.ApplyVehicleControl(actor_id, reported)

    def proven(self, states: ActorStates, motion: TickMotion) -> ActorStates:
        """Return the recorded states, after checking that the simulator has the same poses.

        A server reports no velocity of placed actors; at a step without recorded states, return the server's states.

        Args:
            states: actor states of the tick, without parked vehicles.
            motion: motion of the same tick.

        Raises:
            MissedTick: an actor or a traffic light differs from the recording.
        """
        columns = [self._column[int(i)] for i in motion.instance_id]
        recorded_ue_pose = self._motion.ue_pose[self._row, columns].astype(np.float64)
        difference = np.abs(motion.ue_pose - recorded_ue_pose)
        difference[:, 3:] = np.abs((difference[:, 3:] + 180.0) % 360.0 - 180.0)
        bad_rows = np.flatnonzero(
            (difference[:, :3] > _PLACE_TOLERANCE_M).any(axis=1) | (difference[:, 3:] > _TURN_TOLERANCE_DEG).any(axis=1)
        )
        if len(bad_rows):
            row = int(bad_rows[0])
            raise MissedTick(
                f"step {self._step}: actor {int(motion.instance_id[row])} is {difference[row, :3].max():.3f} m and "
                f"{difference[row, 3:].max():.2f} degrees from its recorded pose"
            )
        signals = dict(zip(motion.signal_id, motion.signals.tolist(), strict=True))
        for name, state in zip(self._motion.signal_id, self._motion.signals[self._row].tolist(), strict=True):
            if signals[name] != state:
                raise MissedTick(f"step {self._step}: traffic light {name} shows {signals[name]}, recorded is {state}")
        index = self._capture_of.get(self._step)
        if index is None:
            return states
        recorded = self._replay.states[index]
        return _rows(recorded, np.isin(recorded.instance_id, motion.instance_id))


def _transform(pose: AnyArray) -> carla.Transform:
    x, y, z, roll, pitch, yaw = pose[:6].tolist()
    return carla.Transform(carla.Location(x, y, z), carla.Rotation(pitch=pitch, yaw=yaw, roll=roll))


def _rows(states: ActorStates, rows: BoolArray | IntArray) -> ActorStates:
    """Select rows of states."""
    columns = {name: getattr(states, name)[rows] for name in ActorStates.__dataclass_fields__}
    return replace(states, **columns)
