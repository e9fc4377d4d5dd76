"""The files of the streams, and their rows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from uavsim.dataset.schema import Tables
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.files.whole import storage_errors
from uavsim.ingredients.flight_sensors import streams
from uavsim.ingredients.flight_sensors.records import FlightSensorsPlan
from uavsim.ingredients.flight_sensors.tables import STREAM, StreamRow
from uavsim.records.labels import SceneLabels
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import Recording
from uavsim.records.sensors import Agent
from uavsim.typing import IntArray

__all__ = ["rows", "write_streams"]

_MAKERS: Final[dict[str, Callable[[streams.Motion, Any, np.random.Generator], streams.Stream]]] = {
    "imu": streams.imu,
    "gnss": streams.gnss,
    "barometer": streams.barometer,
    "magnetometer": streams.magnetometer,
}
_MOST_ASIDE_M: Final = 1e-3  # a pose is sent as float32, and comes back so


@dataclass(frozen=True, slots=True)
class _Unit:
    kind: str
    model: Any
    drone: int  # its place among the plan's
    channel: str
    timestamp_us: IntArray


def write_streams(recording: Recording, record: FlightSensorsPlan) -> dict[str, str]:
    """Write every drone's streams into the recording's folder.

    Returns:
        Path in the recording's folder -> path in the dataset.

    Raises:
        DatasetError: a drone was not where the plan wanted it: the streams would be of another flight.
        StorageError: the folder cannot be written.
    """
    plan = recording.plan
    _refuse_another_flight(recording)
    moves: dict[str, str] = {}
    for unit in _units(plan, record):
        motion = streams.Motion.along(
            plan.swarm.map_SE3_flu[:, unit.drone],
            step_us=plan.step_us,
            start_us=plan.start_timestamp_us,
            timestamp_us=unit.timestamp_us,
        )
        rng = np.random.default_rng([record.seed, unit.drone, list(_MAKERS).index(unit.kind)])
        data = io.BytesIO()
        np.save(data, _MAKERS[unit.kind](motion, unit.model, rng), allow_pickle=False)
        final = _path(plan, unit)
        path = recording.folder / final
        with storage_errors(f"write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.getvalue())
        moves[final] = final
    return moves


def rows(labels: SceneLabels, record: FlightSensorsPlan, tables: Tables) -> Tables:
    """Return the table ``stream``."""
    del tables
    plan, made = labels.plan, list[StreamRow]()
    for unit in _units(plan, record):
        row: StreamRow = {
            "token": token(plan.dataset, plan.scene_name, STREAM.name, unit.channel),
            "scene_token": token(plan.dataset, plan.scene_name, "scene"),
            "channel": unit.channel,
            "kind": unit.kind,
            "rate_hz": unit.model.rate_hz,
            "count": len(unit.timestamp_us),
            "filename": _path(plan, unit),
        }
        made.append(row)
    return {STREAM.name: made}


def _units(plan: ScenePlan, record: FlightSensorsPlan) -> Iterator[_Unit]:
    """Yield every sensor of every drone."""
    first_us, last_us = (plan.start_timestamp_us + step * plan.step_us for step in (0, plan.capture_steps[-1]))
    for kind in _MAKERS:
        model = getattr(record, kind)
        if model is None:
            continue
        times_us = streams.reading_times_us(model.rate_hz, first_us=first_us, last_us=last_us)
        for place, drone_id in enumerate(plan.swarm.drone_ids):
            yield _Unit(kind, model, place, f"{kind.upper()}_id_{Agent(drone_id).id}", times_us)


def _path(plan: ScenePlan, unit: _Unit) -> str:
    return f"streams/{unit.channel}/{plan.scene_name}__{unit.channel}.npy"


def _refuse_another_flight(recording: Recording) -> None:
    planned = recording.plan.swarm.map_SE3_flu.translation_m
    for frame in recording.frames:
        for place, drone in enumerate(frame.drones):
            aside_m = float(np.abs(drone.map_SE3_flu.translation_m - planned[frame.step, place]).max())
            if aside_m > _MOST_ASIDE_M:
                raise DatasetError(
                    f"{recording.plan.scene_name}: drone {drone.drone_id} was {aside_m:.3f} m from its plan at step "
                    f"{frame.step}; flight_sensors are made of planned motion alone"
                )
