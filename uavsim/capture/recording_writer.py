"""The recording on disk: ``log.msgpack`` and images, written behind the simulator's back and read again for labels.

``log.msgpack`` is a stream of msgpack values: a header ``{"format", "plan", "facts", "actors"}``, then one value a frame, then
``{"end": number of frames}``. A log without its end is of a scene that was not finished, and is refused.
Images are encoded in threads while the next tick is simulated; at most a few ticks wait, then the simulator does.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgpack

from uavsim.capture import degrade
from uavsim.capture.camera_capture import CameraCapture
from uavsim.errors import DatasetError, StorageError
from uavsim.files.names import name_fault
from uavsim.files.parse import open_regular, reading
from uavsim.images import codec
from uavsim.records.codec import pack_plan, pack_value, unpack_plan, unpack_value
from uavsim.records.plan import ImageFormat, ScenePlan
from uavsim.records.recording import (
    ActorInfo,
    CameraShot,
    DroneState,
    RecordedFrame,
    Recording,
    SessionFacts,
)
from uavsim.typing import AnyArray, FloatArray

__all__ = ["LOG_NAME", "RecordingWriter", "read_recording"]

LOG_NAME = "log.msgpack"
_FORMAT = "uavsim-recording-2"
_READABLE = ("uavsim-recording-1", _FORMAT)


class RecordingWriter:
    """Writes one recording; use as a context manager, so that no thread outlives a failed scene."""

    def __init__(self, folder: Path, plan: ScenePlan, *, threads: int = 2, ticks_ahead: int = 2) -> None:
        """Make ``folder``, which must not hold a recording.

        Args:
            folder: of this recording alone.
            plan: of the scene.
            threads: that encode images.
            ticks_ahead: how many ticks' images may wait to be encoded before the simulator has to.
        """
        self._folder, self._plan = folder, plan
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="writer")
        self._pending: deque[list[Future[None]]] = deque()
        self._ticks_ahead = ticks_ahead
        self._frames: list[RecordedFrame] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{folder}: cannot be made: {error.strerror}") from error
        self.images_written = 0

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def put(
        self, captures: Sequence[CameraCapture], *, step: int, drones: Sequence[DroneState] = ()
    ) -> tuple[CameraShot, ...]:
        """Queue one tick's images for writing; returns their shots with paths.

        Args:
            captures: of this tick.
            step: plan step.
            drones: of this tick; needed when the plan degrades what they report.
        """
        while len(self._pending) >= self._ticks_ahead:
            self._wait_for(self._pending.popleft())
        shots, jobs = [], []
        by_id = {drone.drone_id: drone for drone in drones}
        for capture in captures:
            shot, paths = self._shot(capture, step=step, drone=by_id.get(capture.pose.drone_id))
            shots.append(shot)
            jobs.append(self._pool.submit(_write_images, capture, paths, self._plan.images))
            if "degraded" in paths:
                jobs.append(self._pool.submit(_write_degraded, capture, paths["degraded"], self._plan, step))
            self.images_written += capture.rgb is not None
        self._pending.append(jobs)
        return tuple(shots)

    def add(self, frame: RecordedFrame) -> None:
        """Add a frame whose images were put before."""
        self._frames.append(frame)

    def finish(
        self, facts: SessionFacts, actors: Sequence[ActorInfo], *, drivable_map_m: FloatArray | None = None
    ) -> Path:
        """Wait for all images, write the log and return the recording's folder.

        Args:
            facts: what the run met.
            actors: everything that has an instance id.
            drivable_map_m: see ``Recording``.

        Raises:
            StorageError: something could not be written; the message says what.
        """
        while self._pending:
            self._wait_for(self._pending.popleft())
        head = {
            "format": _FORMAT,
            "plan": pack_plan(self._plan),
            "facts": pack_value(facts),
            "actors": pack_value(tuple(actors)),
            "drivable": pack_value(drivable_map_m),
        }
        values: list[Any] = [head]
        values += [pack_value(frame) for frame in self._frames]
        values.append({"end": len(self._frames)})
        _write_file(self._folder / LOG_NAME, b"".join(msgpack.packb(value, use_bin_type=True) for value in values))
        return self._folder

    def _wait_for(self, jobs: list[Future[None]]) -> None:
        for job in jobs:
            job.result()

    def _shot(
        self, capture: CameraCapture, *, step: int, drone: DroneState | None
    ) -> tuple[CameraShot, dict[str, Path]]:
        pose, suffix = capture.pose, "jpg" if self._plan.images.kind == "jpeg" else "png"
        names = {
            "rgb": f"rgb/{pose.channel}/{step:06d}.{suffix}" if capture.rgb is not None else None,
            "mask": f"mask/{pose.channel}/{step:06d}.png" if capture.mask_ids is not None else None,
            "depth": f"depth/{pose.channel}/{step:06d}.png" if capture.depth_m is not None else None,
        }
        view = degrade.agent_view(self._plan, drone, channel=pose.channel, step=step) if drone is not None else {}
        if capture.rgb is not None and view and not view["dropped"] and degrade.image_changes(self._plan):
            names["degraded"] = view["file"] = f"degraded/{pose.channel}/{step:06d}.{suffix}"
        shot = CameraShot(
            channel=pose.channel,
            drone_id=pose.drone_id,
            camera=pose.camera,
            map_SE3_optical=pose.map_SE3_optical,
            ue_euler_deg=pose.ue_euler_deg,
            intrinsic=capture.intrinsic,
            width_px=capture.size_px[0],
            height_px=capture.size_px[1],
            rgb=names["rgb"],
            mask=names["mask"],
            depth=names["depth"],
            degradation=view,
        )
        return shot, {kind: self._folder / name for kind, name in names.items() if name is not None}


def _write_images(capture: CameraCapture, paths: dict[str, Path], images: ImageFormat) -> None:
    if capture.rgb is not None:
        _write_file(paths["rgb"], _encoded(capture.rgb, images))
    if capture.mask_ids is not None and capture.mask_tags is not None:
        _write_file(paths["mask"], codec.encode_mask_ids(capture.mask_ids, capture.mask_tags))
    if capture.depth_m is not None:
        _write_file(paths["depth"], codec.encode_depth(capture.depth_m))


def _write_degraded(capture: CameraCapture, path: Path, plan: ScenePlan, step: int) -> None:
    assert capture.rgb is not None
    worse = degrade.degraded_image(plan, capture.rgb, channel=capture.pose.channel, step=step)
    _write_file(path, _encoded(worse, plan.images))


def _encoded(bgr: AnyArray, images: ImageFormat) -> bytes:
    if images.kind == "jpeg":
        return codec.encode_jpeg(bgr, quality=images.jpeg_quality, order="bgr")
    return codec.encode_png(bgr, level=images.png_level, order="bgr")


def _write_file(path: Path, data: bytes) -> None:
    """Write and flush to the disk itself: a recording that is told to be finished survives a power cut."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from error


def read_recording(folder: Path) -> Recording:
    """Read a finished recording; its images stay on disk.

    Raises:
        DatasetError: no recording there, or one that was not finished.
    """
    with reading(folder / LOG_NAME):
        return _recording_of(folder)


def _recording_of(folder: Path) -> Recording:
    path = folder / LOG_NAME
    try:
        with open_regular(path) as file:
            values = list(msgpack.Unpacker(file, raw=False, strict_map_key=False, max_buffer_size=2**31 - 1))
    except OSError as error:
        raise DatasetError(f"{folder}: holds no recording ({LOG_NAME}: {error.strerror})") from error
    except (msgpack.UnpackException, ValueError) as error:
        raise DatasetError(f"{path}: not a recording: {error}") from error
    if not values or not isinstance(values[0], dict) or values[0].get("format") not in _READABLE:
        raise DatasetError(f"{path}: not a recording of this version ({_FORMAT})")
    head, frames, tail = values[0], values[1:-1], values[-1]
    if not isinstance(tail, dict) or tail.get("end") != len(frames):
        raise DatasetError(f"{path}: the recording was not finished")
    made = Recording(
        folder=folder,
        plan=unpack_plan(head["plan"]),
        facts=unpack_value(head["facts"]),
        actors=unpack_value(head["actors"]),
        frames=tuple(unpack_value(frame) for frame in frames),
        drivable_map_m=unpack_value(head["drivable"]),
    )
    for frame in made.frames:
        for shot in frame.shots:
            for name in (shot.rgb, shot.mask, shot.depth, shot.lidar):
                if name is not None and name_fault(name):
                    raise DatasetError(f"{path}: names the image {name!a}, which {name_fault(name)}")
    return made
