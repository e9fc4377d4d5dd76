"""Recorder of the world: one frame per tick, written whole, so that a truncated file is valid up to its end."""

import time
from collections.abc import Callable, Iterable
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

from headless_simulator.carla import blueprints
from headless_simulator.carla.recorder import files, layout
from headless_simulator.carla.recorder.layout import Arrival, Header, PhysicsControl, Table
from headless_simulator.errors import CallRefused
from headless_simulator.world.actors import Actor
from headless_simulator.world.table import (
    CONTROLLER,
    LIGHT,
    OTHER,
    PROP,
    SENSOR,
    SIGN,
    SPECTATOR,
    VEHICLE,
    WALKER,
)
from headless_simulator.world.world import World

COLLISION_SENSOR: Final = "sensor.other.collision"
_KINDS: Final = {
    VEHICLE: layout.VEHICLE_ACTOR, WALKER: layout.WALKER_ACTOR, LIGHT: layout.LIGHT_ACTOR, SIGN: layout.SIGN_ACTOR,
    SENSOR: layout.SENSOR_ACTOR,
}  # fmt: skip
_MOVING: Final = (OTHER, PROP, SPECTATOR, CONTROLLER, VEHICLE, WALKER)  # kinds with recorded poses

EngineOf = Callable[[Actor], PhysicsControl | None]


class Recorder:
    """Writes a world's events and states to a file while it is on.

    Args:
        world: the recorded world; every method is called under its lock.
        engine_of: the physics parameters of a vehicle, None if they cannot be written.

    Attributes:
        trouble: the error that ended the last recording.
    """

    def __init__(self, world: World, engine_of: EngineOf) -> None:
        self._world, self._engine_of = world, engine_of
        self._file: BinaryIO | None = None
        self.trouble: str | None = None

    @property
    def is_on(self) -> bool:
        """Return whether a recording runs."""
        return self._file is not None

    def start(self, recording_path: files.RecordingPath, *, additional: bool) -> None:
        """Start a file; its first frame spawns the existing actors.

        Args:
            recording_path: path of the file.
            additional: also record velocities, boxes, trigger volumes, engines, times of lights and the wall clock.

        Raises:
            CallRefused: the file cannot be written.
        """
        self.stop()
        file = files.create(recording_path)
        self._path, self._additional, self.trouble = recording_path.path, additional, None
        self._known: set[int] = set()
        self._frame, self._elapsed_s, self._collisions = 0, 0.0, 0
        self._began_s, self._frame_packets, self._frame_s = time.time(), b"", 0.0
        self._file = file
        self._write(Header(layout.VERSION, int(self._began_s), self._world.town.name).pack())
        if self.trouble:
            raise CallRefused(self.trouble)

    def stop(self) -> None:
        """End the recording, if there is one."""
        if self._file is not None:
            self._flush(layout.UNKNOWN_DURATION_S)
            self._close()

    def add_frame(self, step_s: float) -> None:
        """Record the current world, ``step_s`` seconds after the last frame."""
        if self._frame:
            self._elapsed_s += step_s
            self._flush(step_s)
        self._frame += 1
        self._frame_packets = b"".join(self._packets())

    # ------------------------------------------------------------------ file
    def _flush(self, duration_s: float) -> None:
        """Write the previous frame, because its duration is known only now."""
        if self._frame_packets:
            head = layout.FRAME.pack(self._frame, duration_s, self._frame_s)
            self._write(layout.packet(layout.FRAME_START, head) + self._frame_packets + layout.packet(layout.FRAME_END))
            self._frame_packets = b""

    def _write(self, data: bytes) -> None:
        if self._file is None:
            return
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as problem:  # a full disk ends the recording, not the simulation
            self.trouble = f"recording to {self._path} ended: {problem}"
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._frame_packets = None, b""

    # ------------------------------------------------------------------ a frame
    def _packets(self) -> Iterable[bytes]:
        self._frame_s = self._elapsed_s
        actors = self._world.actors
        spawned = [actor for number, actor in sorted(actors.items()) if number not in self._known]
        destroyed = np.array([(number,) for number in sorted(self._known - actors.keys())], layout.DEL_ROW)
        self._known = set(actors)
        attached = np.array([(a.actor_id, a.parent_id) for a in spawned if a.parent_id], layout.PARENT_ROW)
        yield layout.packet(layout.VISUAL_TIME, layout.SECONDS.pack(self._world.scene_s))
        yield layout.counted(layout.EVENT_ADD, [self._arrival(actor).pack() for actor in spawned])
        yield layout.table(layout.EVENT_DEL, destroyed)
        yield layout.table(layout.EVENT_PARENT, attached)
        yield layout.table(layout.COLLISION, self._collision_rows())
        yield from self._states()
        if self._additional:
            yield from self._additional_packets(spawned)

    def _arrival(self, actor: Actor) -> Arrival:
        c, order = self._world.table.c, actor.order
        pose = c.relative[actor.row] if actor.parent_id else c.pose[actor.row]
        uid = order.description[0] & 0xFFFFFFFF if order.description else 0
        return Arrival(
            actor.actor_id,
            _KINDS.get(actor.kind, layout.OTHER_ACTOR),
            tuple(layout.location_cm(pose).tolist()),
            tuple(layout.euler_deg(pose).tolist()),
            uid,
            actor.blueprint,
            tuple((blueprints.kind_of(actor.blueprint, name), name, value) for name, value in order.attributes.items()),
        )

    def _collision_rows(self) -> Table:
        """Return the collisions: as in CARLA only those that a collision sensor measured."""
        world = self._world
        if not world.touches:
            return np.zeros(0, layout.COLLISION_ROW)
        with_sensor = {actor.parent_id for actor in world.actors.values() if actor.blueprint == COLLISION_SENSOR}
        pairs = {(t.actor_id, t.other_id or layout.NO_ACTOR): None for t in world.touches if t.actor_id in with_sensor}
        rows = [(self._collisions + n, a, b, self._is_hero(a), self._is_hero(b)) for n, (a, b) in enumerate(pairs)]
        self._collisions += len(rows)
        return np.array(rows, layout.COLLISION_ROW)

    def _is_hero(self, actor_id: int) -> bool:
        actor = self._world.actors.get(actor_id)
        return actor is not None and actor.order.attributes.get("role_name") == "hero"

    def _states(self) -> Iterable[bytes]:
        table = self._world.table
        c, vehicles, walkers = table.c, table.rows(VEHICLE), table.rows(WALKER)
        moving = table.rows(*_MOVING)
        positions = _blank(c.actor_id[moving], layout.POSITION_ROW)
        positions["location"] = layout.location_cm(c.pose[moving])
        positions["rotation"] = layout.euler_deg(c.pose[moving])
        yield layout.table(layout.POSITION, positions)
        yield layout.table(layout.STATE, self._lights())
        controls = _blank(c.actor_id[vehicles], layout.VEHICLE_ROW)
        for column, name in enumerate(("throttle", "steer", "brake")):
            controls[name] = layout.single(c.control[vehicles, column])
        controls["hand_brake"], controls["gear"] = c.hand_brake[vehicles], c.gear[vehicles]
        yield layout.table(layout.ANIM_VEHICLE, controls)
        walks = _blank(c.actor_id[walkers], layout.WALKER_ROW)
        walks["speed"] = layout.single([self._world.actors[number].walk_speed for number in walks["id"].tolist()])
        yield layout.table(layout.ANIM_WALKER, walks)
        lamps = _blank(c.actor_id[vehicles], layout.LIGHT_ROW)
        lamps["lights"] = c.lights[vehicles]
        yield layout.table(layout.VEHICLE_LIGHT, lamps)

    def _lights(self) -> Table:
        signals = self._world.signal_state
        rows = _blank([light.actor_id for light in self._world.lights], layout.STATE_ROW)
        rows["frozen"], rows["state"] = signals.frozen, signals.state
        rows["elapsed"] = layout.single(signals.elapsed_s)
        return rows

    # ------------------------------------------------------------------ additional data
    def _additional_packets(self, spawned: list[Actor]) -> Iterable[bytes]:
        c, moving = self._world.table.c, self._world.table.rows(VEHICLE, WALKER)
        rows = _blank(c.actor_id[moving], layout.KINEMATICS_ROW)
        rows["velocity"], rows["angular"] = layout.single(c.velocity[moving]), layout.single(c.angular[moving])
        yield layout.table(layout.KINEMATICS, rows)
        bodies = [actor for actor in spawned if actor.kind not in (LIGHT, SIGN)]
        boxes = [(a.actor_id, [100 * v for v in a.offset_m], [100 * v for v in a.half_m]) for a in bodies]
        yield layout.table(layout.BOUNDING_BOX, np.array(boxes, layout.BOX_ROW))
        new_lights = [actor for actor in spawned if actor.kind == LIGHT]
        yield from self._triggers(new_lights)
        yield layout.packet(layout.PLATFORM_TIME, layout.SECONDS.pack(time.time() - self._began_s))
        engines = [self._engine_of(actor) for actor in spawned if actor.kind == VEHICLE]
        if packed := [engine.pack() for engine in engines if engine is not None]:
            yield layout.counted(layout.PHYSICS_CONTROL, packed)
        if new_lights:
            signals, numbers = self._world.signal_state, [actor.number for actor in new_lights]
            times = _blank([actor.actor_id for actor in new_lights], layout.TIMES_ROW)
            times["green"], times["yellow"], times["red"] = layout.single(signals.times_s[numbers, :3]).T
            yield layout.table(layout.TRAFFIC_LIGHT_TIME, times)

    def _triggers(self, lights: list[Actor]) -> Iterable[bytes]:
        heads = self._world.town.signals
        volumes = [(a.actor_id, *(100 * np.array(heads[a.number].trigger[:6]).reshape(2, 3)).tolist()) for a in lights]
        if volumes:
            yield layout.table(layout.TRIGGER_VOLUME, np.array(volumes, layout.BOX_ROW))


def _blank(ids: npt.ArrayLike, dtype: np.dtype[np.void]) -> Table:
    numbers = np.asarray(ids, np.uint32)
    rows = np.zeros(len(numbers), dtype)
    rows["id"] = numbers
    return rows
