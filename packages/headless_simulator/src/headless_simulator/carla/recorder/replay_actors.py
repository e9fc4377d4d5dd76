"""The actors of a replay: mapping to actors of the world, poses and states."""

from typing import Any, Final

import numpy as np

from headless_simulator.carla import blueprints
from headless_simulator.carla.lifecycle import ActorLifecycle
from headless_simulator.carla.recorder import layout
from headless_simulator.carla.recorder.layout import Arrival, Table
from headless_simulator.carla.recorder.reader import Frame
from headless_simulator.carla.values import ActorDescription
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64
from headless_simulator.world.actors import Actor, SpawnOrder
from headless_simulator.world.pose import Pose6
from headless_simulator.world.table import LIGHT, PROP, SIGN, SPECTATOR, VEHICLE, WALKER

_SAME_LIGHT_M: Final = 0.5
_FARTHEST_M: Final = 1e7
_LAST_LIGHT_STATE: Final = 3  # off, also for CARLA's "unknown"
_FIRST_VERSION: Final = 1


class ReplayActors:
    """Maps recorded ids to actors of a world.

    Args:
        lifecycle: spawns and destroys actors.
        version: the recording's layout version.
        with_sensors: also spawn recorded sensors.
        ignore_hero, ignore_spectator: do not move these.

    Attributes:
        unknown: blueprints that could not be spawned.
    """

    def __init__(
        self, lifecycle: ActorLifecycle, *, version: int, with_sensors: bool, ignore_hero: bool, ignore_spectator: bool
    ) -> None:
        self._lifecycle, self._world = lifecycle, lifecycle.world
        self._version, self._with_sensors = version, with_sensors
        self._ignore_hero, self._ignore_spectator = ignore_hero, ignore_spectator
        self._actors: dict[int, Actor] = {}
        self._spawned: list[Actor] = []
        self.unknown: set[str] = set()

    def destroy_props(self) -> None:
        """Destroy the props: the recorded ones replace them, as in CARLA."""
        for actor in list(self._world.actors.values()):
            if actor.kind == PROP:
                self._lifecycle.destroy(actor.actor_id)

    # ------------------------------------------------------------------ events
    def enter_and_leave(self, frame: Frame) -> None:
        """Apply a frame's spawns, destructions and attachments.

        Raises:
            Damaged: the frame cannot be read.
        """
        for number, data in frame.packets:
            if number == layout.EVENT_ADD:
                for arrival in layout.arrivals(data):
                    self._enter(arrival)
            elif number == layout.EVENT_DEL:
                for (actor_id,) in layout.rows_of(data, layout.DEL_ROW, "an event-del packet").tolist():
                    self._leave(actor_id)
            elif number == layout.EVENT_PARENT:
                for child, parent in layout.rows_of(data, layout.PARENT_ROW, "an event-parent packet").tolist():
                    self._attach(child, parent)

    def _enter(self, arrival: Arrival) -> None:
        is_hero = any(name == "role_name" and value == "hero" for _, name, value in arrival.attributes)
        if is_hero and self._ignore_hero:
            return
        actor = self._actor_for(arrival)
        if actor is None:
            return
        self._actors[arrival.actor_id] = actor
        if actor.kind in (VEHICLE, WALKER):
            c = self._world.table.c
            c.physics[actor.row] = c.solid[actor.row] = 0
            c.stride[actor.row] = 0.0

    def _actor_for(self, arrival: Arrival) -> Actor | None:
        """Return the actor for a recorded one: the town's, the one with its id and kind, or a new one."""
        name = arrival.blueprint
        if name == "spectator":
            return None if self._ignore_spectator else self._world.spectator
        if name.startswith("traffic."):
            return self._light_at(arrival) if name == "traffic.traffic_light" else None
        if name.startswith("sensor.") and not self._with_sensors:
            return None
        present = self._world.actors.get(arrival.actor_id)
        if present is not None and present.blueprint == name:
            return present
        actor = self._spawn(arrival) if blueprints.known(name) and _is_near(_pose(arrival)) else None
        if actor is None:
            self.unknown.add(name)
        else:
            self._spawned.append(actor)
        return actor

    def _light_at(self, arrival: Arrival) -> Actor | None:
        location_m, c = _pose(arrival)[:3], self._world.table.c
        for light in self._world.lights:
            if np.linalg.norm(c.pose[light.row, :3] - location_m) < _SAME_LIGHT_M:
                return light
        return None

    def _spawn(self, arrival: Arrival) -> Actor | None:
        later = 1 if self._version <= _FIRST_VERSION else 0  # types count from 0 in version 1
        rows: list[Any] = [[name, min(kind + later, 255), value] for kind, name, value in arrival.attributes]
        pose = _pose(arrival)
        values = {name: value for _, name, value in arrival.attributes}
        description = ActorDescription(arrival.uid, arrival.blueprint, rows, values)
        if arrival.blueprint.startswith("sensor."):
            try:
                return self._lifecycle.spawn(description, _pose6(pose))
            except CallRefused:  # reported among the unknown blueprints
                return None
        order = SpawnOrder(
            arrival.blueprint,
            pose=_pose6(pose),
            attributes=blueprints.complete(arrival.blueprint, values),
            description=description.wire(),
        )
        return self._world.enter(order, wanted_id=arrival.actor_id)

    def _leave(self, recorded_id: int) -> None:
        actor = self._actors.pop(recorded_id, None)
        if actor is not None and actor.alive and actor.kind not in (LIGHT, SIGN, SPECTATOR):
            self._lifecycle.destroy(actor.actor_id)

    def _attach(self, child_id: int, parent_id: int) -> None:
        child, parent = self._living(child_id), self._living(parent_id)
        if child is not None and parent is not None and child in self._spawned:
            self._world.attach(child, parent)

    # ------------------------------------------------------------------ states
    def take_states(self, frame: Frame) -> None:
        """Apply a frame's states of lights and vehicle controls.

        Raises:
            Damaged: the frame cannot be read.
        """
        for number, data in frame.packets:
            if number == layout.STATE:
                self._take_lights(layout.rows_of(data, layout.STATE_ROW, "a traffic-light packet"))
            elif number == layout.ANIM_VEHICLE:
                self._take_controls(layout.rows_of(data, layout.VEHICLE_ROW, "a vehicle-animation packet"))
            elif number == layout.ANIM_WALKER:
                for actor_id, speed in layout.rows_of(data, layout.WALKER_ROW, "a walker-animation packet").tolist():
                    if (walker := self._living(actor_id)) is not None:
                        walker.walk_speed = speed
            elif number == layout.VEHICLE_LIGHT:
                for actor_id, bits in layout.rows_of(data, layout.LIGHT_ROW, "a vehicle-light packet").tolist():
                    if self._living(actor_id) is not None:
                        self._world.set_lights(actor_id, bits)

    def _take_lights(self, rows: Table) -> None:
        signals = self._world.signal_state
        for actor_id, frozen, elapsed_s, state in rows.tolist():
            light = self._living(actor_id)
            if light is not None and light.kind == LIGHT:
                signals.force(light.number, min(state, _LAST_LIGHT_STATE))
                signals.elapsed_s[light.number] = elapsed_s
                signals.frozen = bool(frozen)

    def _take_controls(self, rows: Table) -> None:
        c = self._world.table.c
        for actor_id, steer, throttle, brake, hand_brake, gear in rows.tolist():
            vehicle = self._living(actor_id)
            if vehicle is not None:
                row = vehicle.row
                c.control[row] = throttle, steer, brake
                c.hand_brake[row], c.reverse[row], c.manual[row], c.gear[row] = bool(hand_brake), gear < 0, 0, gear

    # ------------------------------------------------------------------ poses
    def set_pose(self, recorded_id: int, pose: Float64) -> None:
        """Set an actor's recorded (6,) pose, metres and degrees; attached actors follow their parent."""
        actor = self._living(recorded_id)
        if actor is not None and not actor.parent_id and actor.kind not in (LIGHT, SIGN) and _is_near(pose):
            self._world.teleport(actor, pose)

    def set_spectator_pose(self, pose: Float64) -> None:
        """Set the spectator's (6,) pose, metres and degrees."""
        self._world.teleport(self._world.spectator, pose)

    def pose_of(self, recorded_id: int) -> Float64 | None:
        """Return the current (6,) pose, metres and degrees, of a recorded actor."""
        actor = self._living(recorded_id)
        return None if actor is None else self._world.table.c.pose[actor.row].copy()

    def _living(self, recorded_id: int) -> Actor | None:
        actor = self._actors.get(recorded_id)
        return actor if actor is not None and actor.alive else None

    # ------------------------------------------------------------------ end
    def release(self, *, keep: bool) -> None:
        """Return the actors to physics at rest, or destroy the spawned ones."""
        c = self._world.table.c
        for actor in self._actors.values():
            if actor.alive and actor.kind in (VEHICLE, WALKER):
                row = actor.row
                c.physics[row] = c.solid[row] = 1
                c.control[row] = c.velocity[row] = c.stride[row] = 0.0
                c.speed[row] = c.hand_brake[row] = c.reverse[row] = 0
                actor.walk_speed = 0.0
        if not keep:
            for actor in self._spawned:
                if actor.alive:
                    self._lifecycle.destroy(actor.actor_id)


def _pose(arrival: Arrival) -> Float64:
    return layout.poses(arrival.location_cm, arrival.euler_deg)


def _pose6(pose: Float64) -> Pose6:
    x, y, z, pitch, yaw, roll = pose.tolist()
    return x, y, z, pitch, yaw, roll


def _is_near(pose: Float64) -> bool:
    """Return whether a (6,) pose is one that clients could set; a recording may contain any numbers."""
    return bool((np.abs(pose) < _FARTHEST_M).all())
