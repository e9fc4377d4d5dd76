"""The sensors of all agents in CARLA, spawned once and moved (a ``SensorPort``).

Creating and destroying thousands of cameras crashes CARLA servers, so a rig's sensors live as long as the town; sensors
attached to an actor live as long as it. Each measurement is compared with the requested tick and pose before its data is
used; that of an attached sensor with its actor's pose in that tick's snapshot.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import carla
import numpy as np

from uavsim.errors import MissedTick, SimulatorError
from uavsim.geometry import unreal
from uavsim.records.actors import labelled_tags
from uavsim.records.modalities import Modality, ordered
from uavsim.records.plan import LEAST_WARMUP_TICKS, ScenePlan
from uavsim.records.recording import ActorInfo
from uavsim.records.sensors import Agent, Sensor, SensorSpec
from uavsim.registry import Named
from uavsim.simulate.carla.errors import translated
from uavsim.simulate.carla.first_image import FirstImage
from uavsim.simulate.carla.inbox import Inbox, SensorsPending
from uavsim.simulate.carla.readers import CarlaReader, Memory
from uavsim.simulate.carla.world import CarlaWorld
from uavsim.simulate.draw_schedule import DrawSchedule
from uavsim.simulate.ports import Reading, SceneTraffic, SensorPose, TickState
from uavsim.typing import FloatArray

_LOCATION_TOLERANCE_M = 2e-3
_ANGLE_TOLERANCE_RAD = 1e-3
_NEAREST_ORIGIN_M = 100.0


@dataclass(slots=True, eq=False)
class _SpawnedSensor:
    """A CARLA sensor actor: one modality of one sensor."""

    sensor: Sensor
    modality: Modality
    reader: CarlaReader
    actor: carla.Sensor
    is_carried: bool = False
    is_listening: bool = False
    memory: Memory = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.sensor.channel} {self.modality.name}"


class CarlaSensors:
    """The sensors of a plan's agents.

    A sensor measures only in ticks in which it has a listener (CARLA, ``Sensor.cpp``, ``ASensor::Tick``);
    ``no_rendering_mode`` stops none (carla issue 9535). So each sensor is listened to in the ticks of the scene's
    ``DrawSchedule``, and stopped in all others.
    """

    def __init__(self, world: CarlaWorld, *, deadline_s: float) -> None:
        """Spawn and move sensors in ``world``; a tick's measurements must arrive within ``deadline_s``."""
        self._world = world
        self._deadline_s = deadline_s
        self._built_for: tuple[int, tuple[Sensor, ...]] | None = None
        self._spawned: list[_SpawnedSensor] = []
        self._silent: set[int] = set()  # sensors without data in the next image
        self._inboxes = Inbox(), Inbox()  # of the last captured tick; of the one being prepared
        self._due: frozenset[int] = frozenset()  # sensors read in the last captured tick
        self._schedule: DrawSchedule
        self._first_image = FirstImage()
        self._pose_of: dict[Sensor, SensorPose] = {}
        self._carriers: dict[Agent, int] = {}  # actor ids
        self._labelled = labelled_tags(())
        self._arrived: list[int] = []  # sensor of each image received in this scene
        self._streams = False  # a large map

    @property
    def images_drawn(self) -> int:
        """See ``SensorPort``."""
        return len(self._arrived)

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        """See ``SensorPort``."""
        self._carriers = {a: i.simulator_actor_id for a, i in traffic.agents.items() if isinstance(i, ActorInfo)}
        self._schedule, self._labelled = DrawSchedule(plan), labelled_tags(traffic.actors)
        self._arrived, self._due = [], frozenset()
        self._streams = plan.town.streaming is not None
        requested = (self._world.generation, plan.sensors)
        if requested == self._built_for:
            self._renew()
            return
        if self._spawned and self._built_for is not None and self._built_for[0] == self._world.generation:
            self._world.destroy([spawned.actor for spawned in self._spawned if not spawned.is_carried])
        self._spawned, self._silent = [], set()
        for sensor in plan.sensors:
            for modality in ordered(sensor.spec.modalities):
                reader = _reader_of(modality)
                carried = sensor.agent in self._carriers
                actor = self._spawn(len(self._spawned), sensor, modality, reader)
                self._spawned.append(_SpawnedSensor(sensor, modality, reader, actor, carried))
        self._built_for = requested

    def _put(self, index: int, spawned: _SpawnedSensor, measurement: carla.SensorData) -> None:
        if spawned.sensor.spec.params.is_optical:
            self._arrived.append(index)
            self._first_image.note(index, measurement.frame)
        captured, prepared = self._inboxes
        inbox = captured if captured.frame == measurement.frame else prepared
        inbox.put(index, measurement, copy=lambda taken: spawned.reader.copy(taken, self._labelled))

    def _spawn(self, index: int, sensor: Sensor, modality: Modality, reader: CarlaReader) -> carla.Sensor:
        if modality.is_stateful and modality.first_frame_placeholder is not None:
            self._silent.add(index)
        carrier = self._carriers.get(sensor.agent)
        return self._world.spawn_sensor(
            reader.blueprint,
            reader.attributes(sensor.spec.params),
            optional=reader.optional(sensor.spec.params),
            carried=None if carrier is None else (carrier, _mount(sensor.spec)),
        )

    def _renew(self) -> None:
        """Respawn stateful sensors, and attached sensors with a new actor."""
        for index, spawned in enumerate(self._spawned):
            if spawned.modality.is_stateful or spawned.is_carried:
                if not spawned.is_carried:
                    self._world.destroy([spawned.actor])
                spawned.memory.clear()
                spawned.actor = self._spawn(index, spawned.sensor, spawned.modality, spawned.reader)

    def expect(self, step: int, poses: Sequence[SensorPose]) -> None:
        """See ``SensorPort``."""
        lag = self._first_image.lag(step, self._world, deadline_s=self._deadline_s)
        measuring = self._measuring(step)
        listening = set(measuring)
        if lag == 1 or (lag is None and step + 1 in self._schedule.reading):
            listening |= self._measuring(step + 1)
        if lag is None and -LEAST_WARMUP_TICKS <= step < 0:
            listening |= {0}  # an RGB camera, which reveals the first image's lag
        self._first_image.listened(step, [index for index in listening if self._spawned[index].modality.settles])
        self._listen(listening)
        reading = self._schedule.reading.get(step, ())
        self._inboxes = self._captured, Inbox()
        if not reading:
            self._inboxes[1].close()  # images that only settle are dropped
        self._pose_of = {pose.sensor: pose for pose in poses if pose.sensor in reading}
        self._move(measuring, {pose.sensor: pose for pose in poses})

    def stop(self) -> None:
        """See ``SensorPort``."""
        self._due = frozenset()
        self._listen(())

    @property
    def _captured(self) -> Inbox:
        """The inbox of the last captured tick."""
        captured, prepared = self._inboxes
        return captured if prepared.frame is None else prepared

    def _measuring(self, step: int) -> set[int]:
        reading, settling = self._schedule.reading.get(step, ()), self._schedule.settling.get(step, ())
        return {
            index
            for index, spawned in enumerate(self._spawned)
            if spawned.sensor in reading or (spawned.modality.settles and spawned.sensor in settling)
        }

    def _listen(self, measuring: Collection[int]) -> None:
        """Listen to these sensors only; wait for due images first, because a stopped sensor loses its image."""
        stopped = {
            index for index, spawned in enumerate(self._spawned) if spawned.is_listening and index not in measuring
        }
        if due := stopped & self._due:
            self._captured.await_from(due, timeout_s=self._deadline_s)
        for index, spawned in enumerate(self._spawned):
            if spawned.is_listening == (index in measuring):
                continue
            spawned.is_listening = not spawned.is_listening
            with translated("listening to a sensor" if spawned.is_listening else "stopping a sensor"):
                if spawned.is_listening:
                    spawned.actor.listen(partial(self._put, index, spawned))
                else:
                    spawned.actor.stop()

    def _move(self, measuring: Collection[int], pose_of: Mapping[Sensor, SensorPose]) -> None:
        """Move the measuring sensors that are not attached to an actor."""
        moved = [self._spawned[i] for i in sorted(measuring) if self._spawned[i].sensor in pose_of]
        moved = [spawned for spawned in moved if not spawned.is_carried]
        if moved:
            self._world.move(
                [spawned.actor.id for spawned in moved],
                np.stack([pose_of[spawned.sensor].ue_location_m for spawned in moved]),
                np.array([pose_of[spawned.sensor].ue_euler_deg for spawned in moved]),
            )

    def collect(self, state: TickState) -> SensorsPending:
        """See ``SensorPort``."""
        self._pose_of = self._pose_of | {pose.sensor: pose for pose in state.carried}
        unread = {index for index, spawned in enumerate(self._spawned) if spawned.sensor not in self._pose_of}
        silent, self._silent = self._silent | unread, self._silent & unread
        self._due = frozenset(range(len(self._spawned))) - silent
        return SensorsPending(
            self._inboxes[1],
            frame=state.frame,
            names=[spawned.name for spawned in self._spawned],
            silent=silent,
            deadline_s=self._deadline_s,
            proven=partial(self._proven, state=state, pose_of=self._pose_of),
        )

    def _proven(
        self,
        measurements: Sequence[carla.SensorData | None],
        *,
        state: TickState,
        pose_of: Mapping[Sensor, SensorPose],
    ) -> list[Reading]:
        self._check(measurements, state, pose_of)
        pairs = zip(self._spawned, measurements, strict=True)
        return [_reading(spawned, taken) for spawned, taken in pairs if spawned.sensor in pose_of]

    def _check(
        self,
        measurements: Sequence[carla.SensorData | None],
        state: TickState,
        pose_of: Mapping[Sensor, SensorPose],
    ) -> None:
        """Refuse measurements with another pose, parameters or time than requested.

        Angles are compared as rotations, because yaw and roll are degenerate at pitch -90.
        """
        pairs = zip(self._spawned, measurements, strict=True)
        taken = [(spawned, measurement) for spawned, measurement in pairs if measurement is not None]
        poses = [pose_of[spawned.sensor] for spawned, _ in taken]
        measured = np.array([_pose_row(measurement) for _, measurement in taken])
        requested_m = np.stack([pose.ue_location_m for pose in poses])
        requested_q = np.stack([pose.map_SE3_optical.quat_wxyz for pose in poses])
        measured_q = unreal.map_q_optical_from_ue_euler(measured[:, 3:6])
        origin_m = origin_of_large_map(requested_m - measured[:, :3]) if self._streams else 0.0
        off_m = np.linalg.norm(measured[:, :3] + origin_m - requested_m, axis=1)
        # 1 - |<p, q>| = angle^2 / 8 for small angles; NaN fails both comparisons
        off_q = 1.0 - np.abs(np.sum(requested_q * measured_q, axis=1))
        good = (off_m <= _LOCATION_TOLERANCE_M) & (off_q <= _ANGLE_TOLERANCE_RAD**2 / 8)
        if not good.all():
            bad = int(np.flatnonzero(~good)[0])
            raise MissedTick(
                f"tick {state.frame}: {taken[bad][0].name} was taken {off_m[bad]:.3f} m and "
                f"{np.degrees(np.sqrt(8 * max(off_q[bad], 0))):.3f} degrees from the requested pose"
            )
        for spawned, measurement in taken:
            if fault := spawned.reader.fault(measurement, spawned.sensor.spec.params, spawned.memory):
                raise MissedTick(f"tick {state.frame}: {spawned.name} {fault}")
            if abs(measurement.timestamp - state.elapsed_s) > 1e-6:
                raise MissedTick(
                    f"tick {state.frame}: {spawned.name} is stamped {measurement.timestamp}, not {state.elapsed_s}"
                )

    def close(self) -> None:
        """See ``SensorPort``."""
        self.stop()
        if moved := [spawned.actor for spawned in self._spawned if not spawned.is_carried]:
            self._world.destroy(moved)
        self._spawned, self._built_for = [], None


def origin_of_large_map(off_m: FloatArray) -> FloatArray:
    """Return the origin of a large map to which the headers of its sensors refer (carla issue 6157).

    It moves from tile to tile, by whole metres and far. A smaller difference is no origin, but an image of another tick.

    Args:
        off_m: (N, 3) differences between requested positions and headers.

    Returns:
        (3,) metres; zeros if the headers refer to the town's origin.
    """
    origin_m = np.round(np.median(off_m, axis=0))
    return np.asarray(origin_m if np.linalg.norm(origin_m) >= _NEAREST_ORIGIN_M else np.zeros(3))


def _mount(spec: SensorSpec) -> carla.Transform:
    """Return a sensor's mount on its actor in CARLA's convention."""
    (x, y, z), (roll, pitch, yaw) = spec.mount_t_m, spec.mount_rpy_deg
    return carla.Transform(carla.Location(x, -y, z), carla.Rotation(pitch=pitch, yaw=yaw, roll=roll))


def _reader_of(modality: Modality) -> CarlaReader:
    if not modality.carla:
        raise SimulatorError(f"CARLA has no sensor {modality.name}")
    reader: object = Named(modality.carla).load()
    if not isinstance(reader, CarlaReader):
        raise SimulatorError(f"sensor {modality.name}: {modality.carla} is no CarlaReader")
    return reader


def _reading(spawned: _SpawnedSensor, measurement: carla.SensorData | None) -> Reading:
    modality = spawned.modality
    if measurement is None:
        assert modality.first_frame_placeholder is not None, "a sensor that skips its first frame has a placeholder"
        return Reading(
            spawned.sensor.channel, modality.name, modality.first_frame_placeholder(spawned.sensor.spec.params), None
        )
    return Reading(spawned.sensor.channel, modality.name, spawned.reader.read(measurement), measurement)


def _pose_row(image: carla.SensorData) -> tuple[float, ...]:
    p, r = image.transform.location, image.transform.rotation
    return (p.x, p.y, p.z, r.roll, r.pitch, r.yaw)
