"""Read a recording of ``recording_writer``: the whole log; images stay on disk."""

import os
from pathlib import Path
from typing import Any, Final, TypeVar

import msgpack

from uavsim.errors import DatasetError
from uavsim.files.names import name_fault
from uavsim.files.parse import open_regular, reading
from uavsim.records.actors import ActorInfo
from uavsim.records.codec import few_containers, unpack_plan, unpack_value
from uavsim.records.motion import MotionLog
from uavsim.records.recording import RecordedFrame, Recording, SessionFacts

LOG_NAME: Final = "log.msgpack"
ROADS_NAME: Final = "town.xodr"
"""The town's OpenDRIVE text, in a recording's folder until the scene is committed, if an ingredient needs it."""
BUILDINGS_NAME: Final = "town_buildings.json"
"""The town's buildings, in the same folder, if an ingredient needs them."""
RECORDING_FORMAT: Final = "uavsim-recording-8"
"""A stream of msgpack values: ``{"format", "plan", "facts", "actors", "drivable", "motion"}``, each frame,
``{"end": frames}``."""
R = TypeVar("R")


def read_recording(folder: Path) -> Recording:
    """Read the log of a finished recording.

    Raises:
        DatasetError: there is no recording, or it is not finished or damaged.
    """
    path = folder / LOG_NAME
    try:
        with reading(path):
            recording = _recording_of(folder)
            _check_times(recording)
            _check_files(recording)
            return recording
    except DatasetError as error:
        if str(folder) in str(error):
            raise
        raise DatasetError(f"{path}: {error}") from error


def _check_times(recording: Recording) -> None:
    """Refuse captures at other times than the plan's, and negative times."""
    plan, steps = recording.plan, [frame.step for frame in recording.frames]
    planned = [plan.start_timestamp_us + step * plan.step_us for step in steps]
    rising = steps == sorted(set(steps)) and all(step >= 0 for step in steps[:1])
    if not rising or plan.start_timestamp_us < 0 or [frame.timestamp_us for frame in recording.frames] != planned:
        raise DatasetError(f"{recording.folder}: the recording's times differ from its plan's")


def _check_files(recording: Recording) -> None:
    """Refuse file names that lead out of the recording's folder."""
    for frame in recording.frames:
        for name in (name for read in frame.readings for name in read.files.values()):
            fault = name_fault(name)
            if fault:
                raise DatasetError(f"{recording.folder}: the recording names {name!a}, which {fault}")


def _recording_of(folder: Path) -> Recording:
    path = folder / LOG_NAME
    if not path.is_file():
        raise DatasetError(f"{folder}: holds no recording ({LOG_NAME} is missing)")
    try:
        with open_regular(path) as file:
            few = few_containers(os.fstat(file.fileno()).st_size)
            values = list(msgpack.Unpacker(file, raw=False, strict_map_key=False, max_buffer_size=2**31 - 1, **few))
    except (msgpack.UnpackException, ValueError) as error:
        raise DatasetError(f"{path}: not a recording: {str(error) or type(error).__name__}") from error
    if not values or not isinstance(values[0], dict) or values[0].get("format") != RECORDING_FORMAT:
        raise DatasetError(f"{path}: not a recording of this version ({RECORDING_FORMAT}); fly the scene again")
    head, frames, tail = values[0], values[1:-1], values[-1]
    if not isinstance(tail, dict) or tail.get("end") != len(frames):
        raise DatasetError(f"{path}: the recording is incomplete; fly the scene again")
    motion = head.get("motion")
    return Recording(
        folder=folder,
        plan=unpack_plan(head["plan"]),
        facts=_record(head["facts"], SessionFacts),
        actors=tuple(_record(actor, ActorInfo) for actor in head["actors"]),
        frames=tuple(_record(frame, RecordedFrame) for frame in frames),
        drivable_map_m=unpack_value(head["drivable"]),
        motion=_record(motion, MotionLog) if motion is not None else None,
    )


def _record(packed: Any, kind: type[R]) -> R:
    """Unpack a record of a given type.

    Raises:
        DatasetError: the value has another type.
    """
    value = unpack_value(packed)
    if not isinstance(value, kind):
        raise DatasetError(f"not a recording: expected {kind.__name__}, got {type(value).__name__}")
    return value
