"""Write the recording to disk: ``log.msgpack`` and one file a measurement, while the simulator goes on.

``recording_reader`` describes the log's form. A log without its end is of a scene that was not finished, and is refused.
Images are encoded in threads while the next ticks are simulated; of one tick at most, then the simulator waits.
Nothing is flushed to the disk here: a recording counts when its scene is committed, which puts all of it on disk first.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgpack

from uavsim.capture import degrade
from uavsim.capture.assemble import Capture
from uavsim.capture.recording_reader import LOG_NAME, RECORDING_FORMAT
from uavsim.files.whole import storage_error
from uavsim.records.codec import pack_plan, pack_value
from uavsim.records.ingredients import ingredients_of
from uavsim.records.modalities import DEPTH, INSTANCE, RGB, modality
from uavsim.records.motion import SceneMotion
from uavsim.records.plan import ImageFormat, ScenePlan
from uavsim.records.recording import (
    ActorInfo,
    AgentState,
    DroneState,
    RecordedFrame,
    SensorReading,
    SessionFacts,
)
from uavsim.typing import FloatArray

_NICER: Final = 4  # the simulator's client waits for nobody; what encodes takes the time that is left


def yield_to_client() -> None:
    """Lower this thread's priority; a thread's own, on Linux."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _NICER)


class RecordingWriter:
    """Writes one recording; use as a context manager, so that no thread outlives a failed scene."""

    def __init__(self, folder: Path, plan: ScenePlan, *, threads: int = 2, ticks_ahead: int = 1) -> None:
        """Make ``folder``, which must not hold a recording.

        Args:
            folder: of this recording alone.
            plan: of the scene.
            threads: that encode images.
            ticks_ahead: how many ticks' images may wait to be encoded before the simulator has to.
        """
        self._folder, self._plan = folder, plan
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="writer", initializer=yield_to_client)
        self._threads = threads
        self._jobs: deque[Callable[[], None]] = deque()
        self._pending: deque[list[Future[None]]] = deque()
        self._ticks_ahead = ticks_ahead
        self._frames: list[RecordedFrame] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(f"make {folder}", error) from error
        self.images_written = 0

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._jobs.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def spread(self, work: Callable[[Any], Any], values: Iterable[Any]) -> Iterable[Any]:
        """As ``map``, in the threads that encode, behind what waits to be encoded."""
        return self._pool.map(work, values)

    def put(
        self,
        captures: Sequence[Capture],
        *,
        step: int,
        agents: Sequence[DroneState | AgentState] = (),
    ) -> tuple[SensorReading, ...]:
        """Queue one tick's measurements for writing; returns them with the paths of their files.

        Args:
            captures: of this tick.
            step: plan step.
            agents: of this tick; needed when the plan degrades what they report.
        """
        readings, rest, masks = [], [], []
        by_agent = {state.agent: state for state in agents}
        for capture in captures:
            reading, paths = self._reading(capture, step=step, state=by_agent.get(capture.pose.sensor.agent))
            readings.append(reading)
            mask, image = _parted(capture)
            rest.append(partial(_write_data, image, paths, self._plan.images))
            if "degraded" in paths:
                rest.append(partial(_write_degraded, image, paths["degraded"], self._plan, step))
            masks.append(partial(_write_data, mask, paths, self._plan.images))
            self.images_written += RGB in capture.data
        self.make_room()  # all is laid out by now: threads that encode wait for nobody
        self._jobs += rest + masks
        self._pending.append([self._pool.submit(self._work) for _ in range(self._threads)])
        return tuple(readings)

    def _work(self) -> None:
        """Do what waits to be written, until nothing does: fifty futures would wake who waits for room fifty times."""
        for job in iter(self._next_job, None):
            job()

    def _next_job(self) -> Callable[[], None] | None:
        try:
            return self._jobs.popleft()
        except IndexError:
            return None

    def make_room(self) -> None:
        """Wait until a tick's images can be queued.

        Raises:
            StorageError: something could not be written.
        """
        while len(self._pending) >= self._ticks_ahead:
            self._wait_for(self._pending.popleft())

    def add(self, frame: RecordedFrame) -> None:
        """Add a frame whose images were put before."""
        self._frames.append(frame)

    def finish(
        self,
        facts: SessionFacts,
        actors: Sequence[ActorInfo],
        *,
        drivable_map_m: FloatArray | None = None,
        motion: SceneMotion | None = None,
    ) -> Path:
        """Wait for all images, write the log and return the recording's folder.

        Args:
            facts: what the run met.
            actors: everything that has an instance id.
            drivable_map_m: see ``Recording``.
            motion: what everything did, tick by tick.

        Raises:
            StorageError: something could not be written; the message says what.
        """
        while self._pending:
            self._wait_for(self._pending.popleft())
        # what stands in for the others has its motion in the recording itself
        used = [one for one in ingredients_of(self._plan.ingredients) if not one.ingredient.stands_in]
        head = {
            "format": RECORDING_FORMAT,
            "plan": pack_plan(replace(self._plan, ingredients={one.name: one.record for one in used})),
            "facts": pack_value(facts),
            "actors": pack_value(tuple(actors)),
            "drivable": pack_value(drivable_map_m),
            "motion": pack_value(None if motion is None else motion.packed()),
        }
        values: list[Any] = [head]
        values += map(pack_value, self._frames)
        values.append({"end": len(self._frames)})
        _write_file(self._folder / LOG_NAME, b"".join(msgpack.packb(value, use_bin_type=True) for value in values))
        return self._folder

    def _wait_for(self, jobs: list[Future[None]]) -> None:
        wait(jobs)  # once: who waits for each of them is woken, and given the interpreter, fifty times
        for job in jobs:
            job.result()

    def _reading(
        self, capture: Capture, *, step: int, state: DroneState | AgentState | None
    ) -> tuple[SensorReading, dict[str, Path]]:
        pose = capture.pose
        files = {name: self._file(name, pose.channel, step) for name in capture.data}
        names, view = dict(files), dict[str, Any]()
        if RGB in files and state is not None:
            view = degrade.agent_view(self._plan, state, channel=pose.channel, step=step)
            if view and not view["dropped"] and degrade.image_changes(self._plan, state.agent.kind):
                suffix = modality(RGB).file_suffix(self._plan.images)
                names["degraded"] = view["file"] = f"degraded/{pose.channel}/{step:06d}{suffix}"
        reading = SensorReading(
            sensor=pose.sensor,
            map_SE3_sensor=pose.map_SE3_sensor,
            ue_euler_deg=pose.ue_euler_deg,
            files=files,
            degradation=view,
        )
        return reading, {kind: self._folder / name for kind, name in names.items()}

    def _file(self, name: str, channel: str, step: int) -> str:
        return f"{name}/{channel}/{step:06d}{modality(name).file_suffix(self._plan.images)}"


def _parted(capture: Capture) -> tuple[Capture, Capture]:
    """Part masks and depth, which are copies, from the rest, which may lie in the memory of the simulator's client.

    The rest is written first: an image that is not written when the next one comes takes the client new memory for good.
    """
    copies = {name: value for name, value in capture.data.items() if name in {INSTANCE, DEPTH}}
    rest = {name: value for name, value in capture.data.items() if name not in copies}
    return replace(capture, data=copies, owners=()), replace(capture, data=rest)


def _write_data(capture: Capture, paths: Mapping[str, Path], images: ImageFormat) -> None:
    for name, value in capture.data.items():
        _write_file(paths[name], modality(name).encode(value, images))


def _write_degraded(capture: Capture, path: Path, plan: ScenePlan, step: int) -> None:
    worse = degrade.degraded_image(plan, capture.data[RGB][..., :3], channel=capture.pose.channel, step=step)
    _write_file(path, modality(RGB).encode(worse, plan.images))


def _write_file(path: Path, data: bytes) -> None:
    try:
        try:
            path.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise storage_error(f"write {path}", error) from error
