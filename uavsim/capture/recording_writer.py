"""Write the recording to disk, ``log.msgpack`` and a file for each measurement, while the simulator advances.

``recording_reader`` describes the log's format. A log without its end marker is of an unfinished scene, and is refused.
Threads encode the images of a tick while the next ticks are simulated; the simulator waits for those of the tick before.
Nothing is fsynced here: a recording counts when its scene is committed, which syncs all of its files first.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgpack

from uavsim.capture import degrade
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

if TYPE_CHECKING:
    from uavsim.capture.assemble import Capture  # imports numba

_THREADS: Final = 2  # encode images
_NICER: Final = 4  # encoders take the processor time that the simulator's client leaves


def yield_to_client() -> None:
    """Lower the priority of this thread (Linux has priorities for each thread)."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _NICER)


class RecordingWriter:
    """Writes a recording; as a context manager it ends its threads, also after a failed scene."""

    def __init__(self, folder: Path, plan: ScenePlan) -> None:
        """Create ``folder``, which must not hold a recording.

        Args:
            folder: folder of this recording alone.
            plan: plan of the scene.
        """
        self._folder, self._plan = folder, plan
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="writer", initializer=yield_to_client)
        self._pending: list[Future[None]] = []  # files of the last tick
        self._frames: list[RecordedFrame] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(f"make {folder}", error) from error

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def spread(self, work: Callable[[Any], Any], values: Iterable[Any]) -> Iterable[Any]:
        """Like ``map``, in the encoding threads, after the jobs that are queued."""
        return self._pool.map(work, values)

    def put(
        self,
        captures: Sequence[Capture],
        *,
        step: int,
        agents: Sequence[DroneState | AgentState] = (),
    ) -> tuple[SensorReading, ...]:
        """Queue a tick's measurements for writing; returns the readings with their file paths.

        Args:
            captures: captures of this tick.
            step: plan step.
            agents: agents at this tick; required if the plan degrades their reports.
        """
        readings, rest, masks = [], [], []
        by_agent = {state.agent: state for state in agents}
        for capture in captures:
            reading, paths = self._reading(capture, step=step, state=by_agent.get(capture.pose.sensor.agent))
            readings.append(reading)
            mask, image = _split_by_memory(capture)
            rest.append(partial(_write_data, image, paths, self._plan.images))
            if "degraded" in paths:
                rest.append(partial(_write_degraded, image, paths["degraded"], self._plan, step))
            masks.append(partial(_write_data, mask, paths, self._plan.images))
        self.wait_for_files()
        self._pending = [self._pool.submit(job) for job in rest + masks]
        return tuple(readings)

    def wait_for_files(self) -> None:
        """Wait until the files of the last tick are written.

        Raises:
            StorageError: a file could not be written.
        """
        wait(self._pending)
        for job in self._pending:
            job.result()
        self._pending = []

    def add(self, frame: RecordedFrame) -> None:
        """Add a frame after its measurements were queued or written."""
        self._frames.append(frame)

    def finish(
        self,
        facts: SessionFacts,
        actors: Sequence[ActorInfo],
        *,
        drivable_map_m: FloatArray | None = None,
        motion: SceneMotion | None = None,
    ) -> Path:
        """Wait for all files, write the log and return the recording's folder.

        Args:
            facts: facts about the session.
            actors: all actors with an instance id.
            drivable_map_m: (N, 4, 2) quadrilaterals, see ``Recording``.
            motion: motion of all actors and drones, tick by tick.

        Raises:
            StorageError: a file could not be written.
        """
        self.wait_for_files()
        # a replay's motion is in the recording itself
        used = [one for one in ingredients_of(self._plan.ingredients) if one.ingredient.replays is None]
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


def _split_by_memory(capture: Capture) -> tuple[Capture, Capture]:
    """Separate masks and depth, which are copies, from data that may lie in memory of the simulator's client.

    The rest is written first: if an image is unwritten when the next one arrives, the client allocates memory permanently.
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
