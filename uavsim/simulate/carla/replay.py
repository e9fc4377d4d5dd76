"""Recorded actors in a CARLA world: spawned without physics and without the Traffic Manager, put where they were at each tick.

Imports ``carla``. Nothing moves by itself here, and the traffic lights are frozen: what a tick shows is what the recording
says of it, on any server that has the blueprints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import carla
import numpy as np

from uavsim.errors import MissedTick, SceneVoid
from uavsim.records.classes import VEHICLE_OF_TAG
from uavsim.records.motion import TickMotion
from uavsim.records.plan import ReplayPlan, ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.carla import read as carla_read
from uavsim.simulate.carla.cases import open_doors
from uavsim.simulate.carla.motion import signals_of
from uavsim.typing import AnyArray, BoolArray, IntArray

__all__ = ["RecordedTraffic", "parked_in"]

_PARKED_LABELS: Final = tuple(getattr(carla.CityObjectLabel, label.capitalize()) for label in VEHICLE_OF_TAG.values())

_SPAWN_ABOVE_M: Final = 200.0  # of the first place: nothing is in the way there, and two actors are never at one place
_PLACE_TOLERANCE_M: Final = 1e-3
_TURN_TOLERANCE_DEG: Final = 1e-2


class RecordedTraffic:
    """The actors of one replay in one world."""

    def __init__(self, client: Any, world: Any, plan: ScenePlan, *, map_name: str) -> None:
        """Unpack the motion; nothing is spawned yet."""
        assert plan.replay is not None
        self._client, self._world, self._map_name = client, world, map_name
        self._replay: ReplayPlan = plan.replay
        self._cases = plan.corner_cases
        self._motion = plan.replay.motion.open()
        self._capture_of = {step: index for index, step in enumerate(plan.capture_steps)}
        self._infos = {info.instance_id: info for info in plan.replay.actors}
        self._column = {int(i): n for n, i in enumerate(self._motion.instance_id)}
        self._actor_of: dict[int, int] = {}
        self._walkers_wanted = plan.traffic.walkers > 0
        self._step, self._row = 0, 0
        self._told: dict[int, tuple[AnyArray, int]] = {}
        self._signals: dict[str, Any] = {}
        self._signals_told: dict[str, int] = {}
        self._out_of_sight: list[int] = []

    # ------------------------------------------------------------------ a scene's beginning and end
    def spawn(self, pass_a_tick: Callable[[], object]) -> tuple[list[int], list[int]]:
        """Spawn vehicles, then walkers; returns their ids.

        It takes as many ticks as it took when the scene was recorded: rain depends on the time since the lights restarted.

        Raises:
            SceneVoid: an actor cannot be spawned; the message says which.
        """
        self._world.reset_all_traffic_lights()
        self._world.freeze_all_traffic_lights(True)
        self._signals = signals_of(self._world)
        if missing := sorted(set(self._motion.signal_id) - set(self._signals)):
            raise SceneVoid(
                f"{self._map_name} has no traffic light {missing[0]!r}, which the recording has: it is of another version of "
                "the town"
            )
        vehicles = self._spawn([i for i in self._present() if self._infos[i].kind in {"vehicle", "intruder", "prop"}])
        pass_a_tick()
        walkers = self._spawn([i for i in self._present() if self._infos[i].kind == "walker"])
        if self._walkers_wanted:
            pass_a_tick()
        for actor in self._world.get_actors(vehicles + walkers):
            actor.set_collisions(False)
        open_doors(self._world, self._cases, vehicles)
        return vehicles, walkers

    @property
    def instance_of(self) -> dict[int, int]:
        """Instance ids of the actors that were spawned."""
        return {actor_id: instance_id for instance_id, actor_id in self._actor_of.items()}

    @property
    def first_parked(self) -> int:
        """The instance id that the first parked vehicle of the town had."""
        return 1 + max((i for i, info in self._infos.items() if info.kind != "environment"), default=0)

    def hide_parked(self, parked: carla_read.Parked, objects: list[Any]) -> carla_read.Parked:
        """Take hidden parked vehicles out of the town; returns the others.

        Args:
            parked: all of them.
            objects: the town's, in the order of ``carla_read.parked_vehicles``.
        """
        keep = np.array([info.instance_id not in self._replay.hidden for info in parked.infos], dtype=np.bool_)
        self._out_of_sight = [int(thing.id) for thing, stays in zip(objects, keep, strict=True) if not stays]
        if not self._out_of_sight:
            return parked
        self._world.enable_environment_objects(set(self._out_of_sight), False)
        infos = tuple(info for info, stays in zip(parked.infos, keep, strict=True) if stays)
        return carla_read.Parked(infos, _rows(parked.states, keep))

    def release(self) -> None:
        """Give traffic lights and parked vehicles back to the town; the actors are the caller's to destroy."""
        self._world.freeze_all_traffic_lights(False)
        self._world.reset_all_traffic_lights()
        if self._out_of_sight:
            self._world.enable_environment_objects(set(self._out_of_sight), True)

    def _present(self) -> list[int]:
        """Return the instance ids of what is shown and there at the first tick."""
        there = ~np.isnan(self._motion.ue_pose[0, :, 0])
        return [int(i) for i in self._motion.instance_id[there] if int(i) not in self._replay.hidden]

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

    def _spawn_command(self, info: ActorInfo) -> Any:
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
    def show(self, step: int) -> None:
        """Put everything where it was at a step; takes effect in the next tick."""
        self._step, self._row = step, self._motion.row_of(step)
        for name, state in zip(self._motion.signal_id, self._motion.signals[self._row].tolist(), strict=True):
            if self._signals_told.get(name) != state:  # in order before the batch, which is waited for
                self._signals[name].set_state(carla.TrafficLightState.values[state])
                self._signals_told[name] = state
        commands: list[Any] = []
        for instance_id, actor_id in list(self._actor_of.items()):
            commands += self._commands(instance_id, actor_id)
        replies = self._client.apply_batch_sync(commands, False) if commands else []
        failed = [reply.error for reply in replies if reply.error]
        if failed:
            raise MissedTick(f"step {step}: {len(failed)} recorded actors could not be placed: {failed[0]}")

    def _commands(self, instance_id: int, actor_id: int) -> list[Any]:
        """Return what changed of one actor since it was told last."""
        row, column = self._row, self._column[instance_id]
        pose = self._motion.ue_pose[row, column]
        if np.isnan(pose[0]):
            del self._actor_of[instance_id]
            return [carla.command.DestroyActor(actor_id)]
        values = np.concatenate([pose, self._motion.control[row, column]])
        lights = int(self._motion.lights[row, column])
        before, lights_before = self._told.get(instance_id, (None, 0))
        self._told[instance_id] = (values, lights)
        commands: list[Any] = []
        if before is None or not np.array_equal(before[:6], values[:6]):
            commands.append(carla.command.ApplyTransform(actor_id, _transform(values)))
        drives = self._infos[instance_id].kind not in {"intruder", "prop"}
        if drives and (before is None or not np.array_equal(before[6:], values[6:])):
            commands.append(self._control(instance_id, actor_id, values[6:]))
        if lights != lights_before:
            commands.append(carla.command.SetVehicleLightState(actor_id, lights))
        return commands

    def _control(self, instance_id: int, actor_id: int, control: AnyArray) -> Any:
        """Say how an actor drove or walked: it moves nothing, but brake lights, wheels and limbs show it."""
        throttle, steer, brake, hand_brake, gear = control.tolist()
        if self._infos[instance_id].kind == "walker":
            return carla.command.ApplyWalkerControl(actor_id, carla.WalkerControl(carla.Vector3D(), throttle, False))
        told = carla.VehicleControl(throttle, steer, brake, bool(hand_brake), gear < 0, True, round(gear))
        return carla.command.ApplyVehicleControl(actor_id, told)

    def proven(self, states: ActorStates, motion: TickMotion) -> ActorStates:
        """Return the recorded states in place of those that the simulator shows, which must be the same places.

        A server tells no velocity of what is placed; at a step without recorded states its own are returned.

        Args:
            states: of the tick, parked vehicles left out.
            motion: of the same tick.

        Raises:
            MissedTick: an actor or a traffic light shows something else.
        """
        columns = [self._column[int(i)] for i in motion.instance_id]
        wanted = self._motion.ue_pose[self._row, columns].astype(np.float64)
        off = np.abs(motion.ue_pose - wanted)
        off[:, 3:] = np.abs((off[:, 3:] + 180.0) % 360.0 - 180.0)
        bad = np.flatnonzero(
            (off[:, :3] > _PLACE_TOLERANCE_M).any(axis=1) | (off[:, 3:] > _TURN_TOLERANCE_DEG).any(axis=1)
        )
        if len(bad):
            row = int(bad[0])
            raise MissedTick(
                f"step {self._step}: actor {int(motion.instance_id[row])} is {off[row, :3].max():.3f} m and "
                f"{off[row, 3:].max():.2f} degrees from where it was recorded"
            )
        shown = dict(zip(motion.signal_id, motion.signals.tolist(), strict=True))
        for name, state in zip(self._motion.signal_id, self._motion.signals[self._row].tolist(), strict=True):
            if shown[name] != state:
                raise MissedTick(f"step {self._step}: traffic light {name} shows {shown[name]}, recorded was {state}")
        index = self._capture_of.get(self._step)
        if index is None:
            return states
        recorded = self._replay.states[index]
        return _rows(recorded, np.isin(recorded.instance_id, motion.instance_id))


def _transform(pose: AnyArray) -> Any:
    x, y, z, roll, pitch, yaw = pose[:6].tolist()
    return carla.Transform(carla.Location(x, y, z), carla.Rotation(pitch=pitch, yaw=yaw, roll=roll))


def _rows(states: ActorStates, rows: BoolArray | IntArray) -> ActorStates:
    """Return some rows of states."""
    columns = {name: getattr(states, name)[rows] for name in ActorStates.__dataclass_fields__}
    return replace(states, **columns)


def parked_in(world: Any, replayed: RecordedTraffic | None, *, first_instance_id: int) -> carla_read.Parked:
    """Read the parked vehicles that are part of the town; in a replay those of the recording, without what it hides.

    Args:
        world: of CARLA's client.
        replayed: the replay, if it is one.
        first_instance_id: of the first one, where it is no replay.
    """
    found = carla_read.in_order(o for label in _PARKED_LABELS for o in world.get_environment_objects(label))
    if replayed is None:
        return carla_read.parked_vehicles(found, first_instance_id=first_instance_id)
    return replayed.hide_parked(carla_read.parked_vehicles(found, first_instance_id=replayed.first_parked), found)
