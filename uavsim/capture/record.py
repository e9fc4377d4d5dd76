"""Fly a scene and write its recording: plan in, folder out.

The simulator's client advances the world; a thread behind it waits for the images of the last capture, checks, assembles and
writes them. The client is one capture ahead at most.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from uavsim.capture.assemble import Assembler, Capture
from uavsim.capture.recording_reader import BUILDINGS_NAME, ROADS_NAME
from uavsim.capture.recording_writer import RecordingWriter, yield_to_client
from uavsim.capture.rig import sensor_poses
from uavsim.capture.shutter import ThroughShutters
from uavsim.files.whole import storage_errors
from uavsim.geometry.geographic import origin_of_reference, reference_in
from uavsim.records.ingredients import ingredients_of
from uavsim.records.modalities import RGB
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import AgentState, DroneState, RecordedFrame, SessionFacts, ShutterTick
from uavsim.simulate.ports import Heartbeat, PendingReadings, SceneTraffic, SensorPose, TickState, WorldPort
from uavsim.simulate.session import Session
from uavsim.simulate.traffic_watch import IN_SCENE, IN_WARMUP

SampleTaken = Callable[[int, int], None]
"""Called with (samples taken, images taken) after every capture."""


def record_scene(
    session: Session,
    plan: ScenePlan,
    folder: Path,
    *,
    heartbeat: Heartbeat,
    sample_taken: SampleTaken,
) -> SessionFacts:
    """Fly ``plan`` and write its recording into ``folder``.

    Args:
        session: connected; any scenes may have been flown in it before.
        plan: plan of the scene.
        folder: folder of the recording; empty or missing.
        heartbeat: called at every tick.
        sample_taken: called after the images of each capture have arrived.

    Raises:
        MissedTick: an image or a state was not of the requested tick; the scene is unusable.
        SceneVoid: the scene is unusable as flown; ``TrafficStalled`` if its vehicles stand still.
        StorageError: the folder cannot be written.
    """
    lockstep, traffic = session.begin_scene(plan, heartbeat=heartbeat)
    with RecordingWriter(folder, plan) as writer, _AssemblyThread(plan, traffic, writer) as assembly:
        poses_of = partial(sensor_poses, plan)
        lockstep.warm_up(poses_of=poses_of)
        for step in plan.rendered_steps:
            taken = _CapturedTick(step, *lockstep.capture(step, poses_of=poses_of), lockstep.weather_now())
            assembly.put(taken)
            del taken  # releases its images before the next ones arrive
            if assembly.samples:
                sample_taken(assembly.samples, assembly.images)
        assembly.wait()
        sample_taken(assembly.samples, assembly.images)
        counts = {**traffic.counts, **lockstep.moved()}
        facts = _facts(session, counts, mask_ids=assembly.assembler.mask_ids)
        motion = lockstep.motion()
        writer.finish(facts, traffic.actors, drivable_map_m=session.world.drivable(), motion=motion)
    _write_town(session.world, plan, folder)
    return facts


def _write_town(world: WorldPort, plan: ScenePlan, folder: Path) -> None:
    """Write the town data that the scene's ingredients need."""
    needing = [used for used in ingredients_of(plan.ingredients) if used.ingredient.town_files is not None]
    if not needing:
        return
    with storage_errors(f"write {folder / ROADS_NAME}"):
        (folder / ROADS_NAME).write_text(world.opendrive(), "utf-8")
        if any(
            part is not None and part.load()(used.record)
            for used in needing
            for part in [used.ingredient.town_buildings]
        ):
            rows = [building._asdict() for building in world.buildings()]
            (folder / BUILDINGS_NAME).write_text(json.dumps(rows), "utf-8")


@dataclass(frozen=True, slots=True, eq=False)
class _CapturedTick:
    """The data of a capture."""

    step: int
    agents: tuple[DroneState | AgentState, ...]
    poses: Sequence[SensorPose]
    state: TickState
    pending: PendingReadings
    weather: tuple[float, ...]

    @property
    def drones(self) -> tuple[DroneState, ...]:
        return tuple(agent for agent in self.agents if isinstance(agent, DroneState))


class _AssemblyThread:
    """Assembles captures into frames of the recording, in a thread behind the client.

    Attributes:
        samples: number of assembled keyframes.
        images: number of assembled RGB images, sweeps included.
    """

    def __init__(self, plan: ScenePlan, traffic: SceneTraffic, writer: RecordingWriter) -> None:
        self.assembler = Assembler(plan, traffic.actors)
        self.samples = self.images = 0
        self._plan, self._writer = plan, writer
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="assemble", initializer=yield_to_client)
        self._last = self._thread.submit(self.assembler.prepare)
        self._open: tuple[_CapturedTick, ThroughShutters] | None = None  # a capture with open shutters

    def __enter__(self) -> _AssemblyThread:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    def put(self, taken: _CapturedTick) -> None:
        """Queue a capture after the previous one is written: at most two are in memory. Raises errors of the previous one."""
        self.wait()
        self._writer.wait_for_files()
        self._last = self._thread.submit(self._assemble, taken)

    def wait(self) -> None:
        """Wait for the last capture and raise its error."""
        self._last.result()

    def _assemble(self, taken: _CapturedTick) -> None:
        readings = taken.pending.wait()
        captures = self.assembler.assemble(
            taken.poses,
            readings,
            taken.state.actors,
            first=taken.step == self._plan.capture_steps[0],
            spread=self._writer.spread,
        )
        del readings  # masks are copies: the simulator's client reuses the memory
        if not self._plan.shutter_steps:
            self._record(taken, captures)
            return
        self._writer.wait_for_files()
        if self._open is None:
            self._open = taken, ThroughShutters(captures)
        opened, shutters = self._open
        shutters.add(captures, step=taken.step, spread=self._writer.spread)
        if len(shutters.ticks) > self._plan.shutter_steps:
            self._open = None
            shutters.finish(spread=self._writer.spread)
            self._record(opened, shutters.captures, shutter=tuple(shutters.ticks))

    def _record(
        self, taken: _CapturedTick, captures: Sequence[Capture], *, shutter: tuple[ShutterTick, ...] = ()
    ) -> None:
        plan, state = self._plan, taken.state
        recorded = self._writer.put(captures, step=taken.step, agents=taken.agents)
        frame = RecordedFrame(
            step=taken.step,
            timestamp_us=plan.start_timestamp_us + taken.step * plan.step_us,
            simulator_frame=state.frame,
            sample_index=taken.step // plan.keyframe_every_steps if self._is_keyframe(taken) else None,
            drones=taken.drones,
            readings=recorded,
            actors=state.actors,
            weather=taken.weather,
            others=tuple(agent for agent in taken.agents if isinstance(agent, AgentState)),
            shutter=shutter,
        )
        self._writer.add(frame)
        self.samples += self._is_keyframe(taken)
        self.images += sum(RGB in capture.data for capture in captures)

    def _is_keyframe(self, taken: _CapturedTick) -> bool:
        return taken.step % self._plan.keyframe_every_steps == 0


def _facts(session: Session, counts: Mapping[str, tuple[int, int]], *, mask_ids: str) -> SessionFacts:
    world = session.world
    vehicles, walkers, in_warmup, in_scene = (
        counts.get(what, (0, 0)) for what in ("vehicles", "walkers", IN_WARMUP, IN_SCENE)
    )
    return SessionFacts(
        simulator=world.kind,
        client_version=world.client_version,
        server_version=world.server_version,
        topology=session.topology,
        vehicles_asked=vehicles[0],
        vehicles_spawned=vehicles[1],
        walkers_asked=walkers[0],
        walkers_spawned=walkers[1],
        images_drawn=session.sensors.images_drawn,
        mask_ids=mask_ids,
        moved_in_warmup=in_warmup,
        moved_in_scene=in_scene,
        origin_deg_m=origin_of_reference(reference_in(world.opendrive())),
    )
