"""Scheduling of sensors per tick, and sending of their measurements."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from headless_simulator.behaviours import Behaviours
from headless_simulator.carla.episode import Episode
from headless_simulator.carla.sensors import cameras, events, gbuffers, inertial, radio, rays, successive
from headless_simulator.carla.sensors.exposure import exposure_of
from headless_simulator.carla.sensors.moment import Body, Measured, Moment, Reading, Stamp
from headless_simulator.carla.streams import Streams
from headless_simulator.faults import Delivery, Faults
from headless_simulator.rendering import GraphicsCard, Rendering
from headless_simulator.scene import View
from headless_simulator.terminal import note_bug
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import Pose6
from headless_simulator.world.renderer_like import RendererLike
from headless_simulator.world.world import World

_DUE_SLACK_S: Final = 1e-6
_THREADS: Final = 2  # views drawn in parallel


@dataclass(frozen=True, slots=True)
class _Family:
    """One kind of sensor: a gather step under the world's lock, and a later measuring step."""

    gather: Callable[[World, Actor, float], Any]
    measure: Callable[[World, Streams, Reading, Moment], Sequence[Body]]


def _stateless(measure: Callable[[Reading, Moment], Sequence[Body]]) -> Callable[..., Sequence[Body]]:
    """Adapt a measurement that depends only on the reading and the moment."""
    return lambda _world, _streams, reading, moment: measure(reading, moment)


FAMILIES: Final[dict[str, _Family]] = {
    rays.LIDAR: _Family(rays.gather_scan, _stateless(rays.lidar)),
    rays.SEMANTIC_LIDAR: _Family(rays.gather_scan, _stateless(rays.semantic_lidar)),
    rays.RADAR: _Family(rays.gather_radar, _stateless(rays.radar)),
    rays.OBSTACLE: _Family(lambda *_: None, events.obstacle),
    inertial.IMU: _Family(inertial.gather_imu, _stateless(inertial.imu)),
    inertial.GNSS: _Family(inertial.gather_gnss, _stateless(inertial.gnss)),
    events.COLLISION: _Family(events.gather_collision, events.collision),
    **{name: _Family(lambda *_: None, _stateless(radio.receive)) for name in radio.RADIOS},
}


@dataclass(slots=True)
class Work:
    """The work of one tick."""

    moment: Moment
    views: dict[tuple[View, frozenset[int]], list[Reading]] = field(default_factory=dict)  # with undrawn classes
    others: list[Reading] = field(default_factory=list)


class Sensors:
    """All sensors with a stream.

    Args:
        world: the measured world.
        streams: the sensors' streams.
        episode: holds the gravity of IMUs.
        faults: faults to inject.
        rendering: rendering options.
        behaviours: emulated server behaviours.
    """

    def __init__(
        self,
        world: World,
        *,
        streams: Streams,
        episode: Episode,
        faults: Faults,
        rendering: Rendering,
        behaviours: Behaviours,
    ) -> None:
        self._world, self._streams, self._episode = world, streams, episode
        self._faults, self._rendering, self._behaviours = faults, rendering, behaviours
        self._actors: dict[int, Actor] = {}
        self._radios: dict[int, Actor] = {}
        self._last_s: dict[int, float] = {}
        self._listened: set[int] = set()  # actors that had a listener in the last tick
        self._cameras: dict[int, int] = {}  # actor id: number in spawn order
        self._pixels: dict[int, int] = {}
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="draw")
        self._others = ThreadPoolExecutor(_THREADS, thread_name_prefix="measure")  # images block no client
        self._card = GraphicsCard(rendering.latency_s)
        self._card_queue = ThreadPoolExecutor(1, thread_name_prefix="card")
        self._on_card: list[Future[None]] = []  # images of the last tick with images, and of the one before it
        self._on_card_before: list[Future[None]] = []
        self._drawing: list[Future[None]] = []  # images of the last tick with images
        self._measuring: list[Future[None]] = []  # other measurements of the last tick
        self._drawn_frame = self._frame = 0
        self._draws_unread = False
        self.failed = 0
        self.images_drawn: Counter[str] = Counter()  # by blueprint, since the start
        # source, excluded tags, result
        self._untagged_renderer: tuple[RendererLike, frozenset[int], RendererLike] | None = None
        self._late: deque[tuple[int, Stamp, Measured]] = deque()  # (due frame, stamp, measurement)

    @property
    def pixels(self) -> int:
        """Return the pixels of one image of each camera, in total."""
        return sum(self._pixels.values())

    def add(self, actor: Actor) -> None:
        """Start serving a sensor."""
        self._actors[actor.actor_id] = actor
        if actor.blueprint in radio.RADIOS:
            self._radios[actor.actor_id] = actor
        if actor.blueprint in cameras.IMAGES:
            self._cameras[actor.actor_id] = len(self._cameras)
            size = actor.order.attributes
            self._pixels[actor.actor_id] = int(size["image_size_x"]) * int(size["image_size_y"])

    def remove(self, actor: Actor) -> None:
        """Stop serving a sensor."""
        for registry in (self._actors, self._radios, self._pixels, self._last_s):
            registry.pop(actor.actor_id, None)
        self._listened.discard(actor.actor_id)

    def has_stream(self, stream_id: int) -> bool:
        """Return whether a living sensor streams under that number."""
        return any(actor.stream_id == stream_id for actor in list(self._actors.values()))

    def clear(self) -> None:
        """Stop serving all sensors."""
        for registry in (self._actors, self._radios, self._pixels, self._last_s, self._cameras, self._listened):
            registry.clear()
        self._late.clear()

    def close(self) -> None:
        """Stop the threads."""
        for pool in (self._pool, self._card_queue, self._others):
            pool.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------------ one tick
    def gather(self) -> Work:
        """Collect the due sensors and copy their inputs; called under the world's lock.

        A sensor measures in a tick if it has a listener (CARLA, ``Sensor.cpp``, ``ASensor::Tick``), whatever
        ``no_rendering_mode`` says: that switches off the spectator's viewport alone (``CarlaEngine.cpp``,
        ``OnEpisodeSettingsChanged``).
        """
        world = self._world
        moment = Moment(
            world.frame, world.elapsed_s, world.scene_s, world.delta_s, world.movers(), world.weather,
            world.signals(), world.renderer, self._episode.imu_gravity_mps2, self._streams.version,
        )  # fmt: skip
        work = Work(moment)
        radios = list(self._radios.values())
        radio.transmit(world, radios)
        for actor in self._actors.values():
            readers = () if world.table.c.dormant[actor.row] else self._streams.readers(actor.stream_id)
            measures = self._measures(actor, listened=bool(readers))
            if not self._is_due(actor, moment):
                continue
            if not measures:
                if not _is_camera(actor):
                    self._last_s[actor.actor_id] = moment.elapsed_s  # its next rotation is that of one tick
                continue
            pose = tuple(world.table.c.pose[actor.row].tolist())
            family = FAMILIES.get(actor.blueprint)
            delta_s = self._delta_s(actor, moment)
            state = family.gather(world, actor, delta_s) if family else successive.gather(actor, pose, moment)
            if actor.blueprint == cameras.RGB and self._behaviours["exposure"] == "adapts":
                state = exposure_of(actor)
            if actor.blueprint in radio.RADIOS:
                state = radio.listen(world, actor, radios)
            if state == []:  # nothing happened
                continue
            parent = world.actors.get(actor.parent_id)
            deliveries, textures = self._deliveries(actor, moment, pose), gbuffers.listened(actor, self._streams)
            reading = Reading(actor, pose, parent, deliveries, readers, state, textures)
            if _is_camera(actor):
                self.images_drawn[actor.blueprint] += 1
                work.views.setdefault((cameras.view_of(reading), self._untagged(actor)), []).append(reading)
            else:
                work.others.append(reading)
        return work

    def _measures(self, actor: Actor, *, listened: bool) -> bool:
        """Return whether a sensor measures in this tick, and record whether it has a listener."""
        before = actor.actor_id in self._listened
        (self._listened.add if listened else self._listened.discard)(actor.actor_id)
        if listened:
            return before or self._behaviours["first-image"] == "next"
        return before and self._behaviours["stop"] == "late" and _is_camera(actor)

    def _untagged(self, actor: Actor) -> frozenset[int]:
        """Return the semantic tags that an injected fault hides from a camera."""
        if actor.blueprint not in cameras.OF_TAGS:
            return frozenset()
        return self._faults.untagged(actor.actor_id, actor.blueprint, self._cameras.get(actor.actor_id))

    def _through(self, moment: Moment, tags: frozenset[int]) -> Moment:
        """Return the moment without objects of some semantic tags."""
        if not tags:
            return moment
        source, excluded_tags, renderer = self._untagged_renderer or (None, None, moment.renderer)
        if source is not moment.renderer or excluded_tags != tags:
            renderer = moment.renderer.untagged(tags)
            self._untagged_renderer = moment.renderer, tags, renderer
        return replace(moment, renderer=renderer)

    def _deliveries(self, actor: Actor, moment: Moment, pose: Pose6) -> tuple[Delivery, ...]:
        camera = self._cameras.get(actor.actor_id)
        if self._faults.cuts_stream(actor.actor_id, actor.blueprint, camera):
            self._streams.cut([actor.stream_id])
        stamp = Stamp(moment.frame, moment.elapsed_s, self._world.from_origin(pose))
        return tuple(self._faults.frames(actor.actor_id, actor.blueprint, camera, stamp))

    def _is_due(self, actor: Actor, moment: Moment) -> bool:
        every_s = rays.number(actor, "sensor_tick", 0.0)
        last_s = self._last_s.get(actor.actor_id)
        return last_s is None or moment.elapsed_s - last_s >= every_s - _DUE_SLACK_S

    def _delta_s(self, actor: Actor, moment: Moment) -> float:
        """Return seconds since a sensor's last reading, and record this one."""
        last_s = self._last_s.get(actor.actor_id)
        self._last_s[actor.actor_id] = moment.elapsed_s
        return moment.delta_s if last_s is None else seconds_between(last_s, moment.elapsed_s)

    def start(self, work: Work) -> None:
        """Start measuring; call ``finish_before`` or ``finish`` before the next tick.

        Images are sent once drawn, as on a real server: ticks without images continue meanwhile.
        """
        moment = work.moment
        take = cameras.take_flat if self._rendering.flat else cameras.take
        self._measuring = [
            self._others.submit(self._run, lambda due=reading: self._measure(due, moment), moment)  # type: ignore[misc]
            for reading in work.others
        ]
        if work.views:
            self._drawing = [
                self._pool.submit(self._run, partial(take, view, readings, self._through(moment, tags)), moment)
                for (view, tags), readings in work.views.items()
            ]
            self._drawn_frame = moment.frame
            self._draws_unread = not all(reading.readers for view in work.views.values() for reading in view)
        self._frame = moment.frame

    def finish_before(self) -> None:
        """Wait for the measurements that must precede the next tick's: images only if it has new ones.

        The card may be one such tick behind, as Unreal's render thread (``r.OneFrameThreadLag``, 1 by default): a camera
        flushes nothing (``SceneCaptureSensor.h``, ``WaitForRenderThreadToFinish``) and is read in a task of its own
        (``PixelReader.cpp``).
        """
        draws = any(self._streams.readers(a.stream_id) for a in list(self._actors.values()) if _is_camera(a))
        if draws or self._draws_unread:
            self._finish_drawing()
            self._report_failures(self._on_card_before, self._drawn_frame)
            self._on_card_before, self._on_card = self._on_card, []
        self._finish_measuring()

    def finish(self) -> None:
        """Wait until everything is queued for sending; a failed sensor is reported and does not stop the clock."""
        self._finish_drawing()
        self._report_failures([*self._on_card_before, *self._on_card], self._drawn_frame)
        self._finish_measuring()

    def wait(self, limit_s: float) -> None:
        """Wait at most ``limit_s`` until everything except images is queued for sending."""
        if not wait(self._measuring, timeout=limit_s).not_done:
            self._finish_measuring()

    def _finish_drawing(self) -> None:
        drawing, self._drawing, self._draws_unread = self._drawing, [], False
        self._report_failures(drawing, self._drawn_frame)

    def _finish_measuring(self) -> None:
        measuring, self._measuring = self._measuring, []
        self._report_failures(measuring, self._frame)
        self._send_late(self._frame)

    def _report_failures(self, running: Sequence[Future[None]], frame: int) -> None:
        for future in running:
            problem = future.exception()
            if problem is not None:
                self.failed += 1
                note_bug(f"tick {frame}: a sensor failed", problem)

    def _measure(self, reading: Reading, moment: Moment) -> list[Measured]:
        bodies = FAMILIES[reading.actor.blueprint].measure(self._world, self._streams, reading, moment)
        return [Measured(reading, body) for body in bodies]

    def _run(self, job: Callable[[], Sequence[Measured]], moment: Moment) -> None:
        for measured in job():
            if self._rendering.latency_s and _is_camera(measured.reading.actor):
                self._on_card.append(self._card_queue.submit(self._draw_on_card, measured, moment))
            else:
                self._deliver(measured, moment)

    def _draw_on_card(self, measured: Measured, moment: Moment) -> None:
        self._card.make()
        self._deliver(measured, moment)

    def _deliver(self, measured: Measured, moment: Moment) -> None:
        for delivery in measured.reading.deliveries:
            neon = delivery.is_neon and measured.reading.actor.blueprint == cameras.RGB
            sent = cameras.neon(measured) if neon else measured
            if delivery.delay_ticks:
                self._late.append((moment.frame + delivery.delay_ticks, delivery.stamp, sent))
            else:
                _send(delivery.stamp, sent)

    def _send_late(self, frame: int) -> None:
        for _ in range(len(self._late)):
            due_frame, stamp, measured = self._late.popleft()
            if due_frame <= frame:
                _send(stamp, measured)
            else:
                self._late.append((due_frame, stamp, measured))


def _is_camera(actor: Actor) -> bool:
    return actor.blueprint in cameras.IMAGES


def seconds_between(last_s: float, now_s: float) -> float:
    """Return the seconds between two readings, independent of when the town was loaded.

    The clock is a sum of steps: its last digits depend on the number of earlier ticks, and so would a lidar's angle.
    """
    return round(now_s - last_s, 10)


def _send(stamp: Stamp, measured: Measured) -> None:
    packet = (stamp.header(measured.reading.actor.blueprint), *measured.body)
    for reader in measured.reading.readers:
        reader.put(packet)
