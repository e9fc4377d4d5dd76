"""Stream files and the rows of the table ``stream``."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from uavsim.dataset.rows import StreamRow
from uavsim.dataset.schema import STREAM, Tables
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.files.parquet import to_parquet
from uavsim.files.whole import storage_errors
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.flight_sensors import KINDS, FlightSensorsPlan, Units
from uavsim.ingredients.flight_sensors.carrier_motion import Track
from uavsim.ingredients.flight_sensors.units import Unit
from uavsim.records.ingredients import AGENT_KINDS
from uavsim.records.labels import SceneLabels
from uavsim.records.motion import SceneMotion
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import Recording
from uavsim.records.sensors import Agent
from uavsim.typing import IntArray

_MOST_DEVIATION_M = 1e-3  # simulators take and return float32 poses


@dataclass(frozen=True, slots=True)
class _Carried:
    """One sensor of one carrier."""

    agent: Agent
    kind: str
    unit: Unit
    motion: str  # planned, or reported by the simulator

    @property
    def channel(self) -> str:
        return f"{self.kind.upper()}_id_{self.agent.id}"

    def path(self, plan: ScenePlan) -> str:
        return f"streams/{self.channel}/{plan.scene_name}__{self.channel}.parquet"

    def times_us(self, plan: ScenePlan) -> IntArray:
        """Return (N,) times of the readings, microseconds, from the first image to the last."""
        first_us, last_us = (plan.start_timestamp_us + step * plan.step_us for step in (0, plan.capture_steps[-1]))
        return np.arange(first_us, last_us + 1, round(1e6 / self.unit.hz), dtype=np.int64)

    def seed(self, record: FlightSensorsPlan) -> list[int]:
        carrier = list(AGENT_KINDS).index(self.agent.kind)
        return [record.seed, carrier, self.agent.number, KINDS.index(self.kind)]


def write_streams(recording: Recording, record: FlightSensorsPlan) -> dict[str, str]:
    """Write every carrier's streams into the recording's folder; the same recording gives the same bytes.

    Returns:
        Path in the recording's folder -> path in the dataset.

    Raises:
        DatasetError: a drone was not at its planned pose, or the motion of a step was not recorded.
        StorageError: the folder cannot be written.
    """
    plan, moves, tracks = recording.plan, dict[str, str](), dict[Agent, Track]()
    for stream in _carried(plan, record):
        if stream.agent not in tracks:
            tracks[stream.agent] = (_planned if stream.motion == "planned" else _reported)(recording, stream.agent)
        seed = stream.seed(record)
        found = stream.unit.read(tracks[stream.agent].at(stream.times_us(plan)), np.random.default_rng(seed))
        about = {"kind": stream.kind, "channel": stream.channel, "motion": stream.motion, "seed": seed}
        about["origin_deg_m"] = recording.facts.origin_deg_m
        final = stream.path(plan)
        path = recording.folder / final
        with storage_errors(f"write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(to_parquet(found, about | {"model": stream.unit.model_dump()}))
        moves[final] = final
    return moves


def rows(labels: SceneLabels, record: FlightSensorsPlan, tables: Tables) -> Tables:
    """Return the table ``stream``."""
    plan, rows_made = labels.plan, list[StreamRow](tables.get(STREAM.name, ()))
    for stream in _carried(plan, record):
        row: StreamRow = {
            "token": token(plan.dataset, plan.scene_name, STREAM.name, stream.channel),
            "scene_token": token(plan.dataset, plan.scene_name, "scene"),
            "channel": stream.channel,
            "kind": stream.kind,
            "motion": stream.motion,
            "rate_hz": stream.unit.hz,
            "count": len(stream.times_us(plan)),
            "filename": stream.path(plan),
        }
        rows_made.append(row)
    return {STREAM.name: rows_made}


def _carried(plan: ScenePlan, record: FlightSensorsPlan) -> Iterator[_Carried]:
    """Yield every sensor of every carrier."""
    of_kind = {"drone": Units.of_record(record.drones), "vehicle": Units.of_record(record.vehicles)}
    for agent in plan.agents:
        if agent.kind in of_kind:
            motion = "planned" if agent.kind == "drone" and not record.flown else "reported"
            for kind, unit in of_kind[agent.kind].configured():
                yield _Carried(agent, kind, unit, motion)


def _planned(recording: Recording, agent: Agent) -> Track:
    """Return a drone's planned motion, after checking that the drone followed it.

    Raises:
        DatasetError: the drone left the planned path.
    """
    poses = recording.plan.swarm.map_SE3_flu[:, recording.plan.swarm.drone_ids.index(agent.number)]
    for frame in recording.frames:
        flown = next(drone for drone in frame.drones if drone.agent == agent)
        deviation_m = float(np.abs(flown.map_SE3_flu.translation_m - poses.translation_m[frame.step]).max())
        if deviation_m > _MOST_DEVIATION_M:
            raise DatasetError(
                f"{recording.plan.scene_name}: drone {agent.id} was {deviation_m:.3f} m from its plan at step {frame.step}; "
                "flight_sensors support only planned motion"
            )
    return Track(
        poses,
        step_us=recording.plan.step_us,
        start_us=recording.plan.start_timestamp_us,
        origin_deg_m=recording.facts.origin_deg_m,
    )


def _reported(recording: Recording, agent: Agent) -> Track:
    """Return a carrier's motion as reported by the simulator at every step.

    A drone's velocity comes from AirSim, which pauses at whole steps of its own physics, up to 2 ms from ours: derivatives of
    its positions would jump.

    Raises:
        DatasetError: the motion of a step was not recorded, or the carrier is missing.
    """
    plan, last = recording.plan, recording.plan.capture_steps[-1]
    motion = recording.motion.open() if recording.motion is not None else None
    if motion is None or not np.array_equal(motion.step[: last + 1], np.arange(last + 1)):
        raise DatasetError(f"{plan.scene_name}: flight_sensors need the motion of every step, which was not recorded")
    velocity = None
    if agent.kind == "drone":
        column = motion.drone_id.index(agent.number)
        poses, velocity = motion.map_SE3_flu[: last + 1, column], motion.velocity_map_mps[: last + 1, column]
    else:
        poses = _vehicle_in(motion, recording, agent)[: last + 1]
    if not np.isfinite(poses.translation_m).all():
        raise DatasetError(f"{plan.scene_name}: {agent.kind} {agent.number} has no pose at some steps")
    return Track(
        poses,
        step_us=plan.step_us,
        start_us=plan.start_timestamp_us,
        velocity_map_mps=velocity,
        origin_deg_m=recording.facts.origin_deg_m,
    )


def _vehicle_in(motion: SceneMotion, recording: Recording, agent: Agent) -> SE3:
    carrier = next(state.instance_id for state in recording.frames[0].others if state.agent == agent)
    ue_pose = motion.ue_pose[:, np.searchsorted(motion.instance_id, carrier)].astype(np.float64)
    return unreal.map_SE3_flu_from_ue(ue_pose[:, :3], ue_euler_deg=ue_pose[:, 3:])
