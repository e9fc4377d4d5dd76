"""Records from ``capture`` to ``annotate``: a flown scene without labels.

Poses are in the ``map`` frame (right-handed, z up, metres, radians), times in integer microseconds. The conversion from the
simulator's left-handed frame flips signs only and is lossless. On disk a recording is ``log.msgpack`` and one file per
measurement: see ``recording_writer`` and ``recording_reader`` of ``capture``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uavsim.geometry.geographic import DEFAULT_ORIGIN_DEG_M, GeographicOrigin
from uavsim.geometry.se3 import SE3
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.ingredients import actor_kind
from uavsim.records.motion import MotionLog
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import Agent, CameraParams, Sensor
from uavsim.typing import FloatArray

__all__ = [
    "ActorInfo",
    "ActorStates",
    "AgentState",
    "DroneState",
    "RecordedFrame",
    "Recording",
    "SensorReading",
    "SessionFacts",
    "ShutterTick",
    "instances_of_agents",
    "moved_share",
]


@dataclass(frozen=True, slots=True, eq=False)
class AgentState:
    """One agent at one tick without a planned trajectory: it stands, or an actor of the scene carries it.

    Attributes:
        instance_id: id of the actor; 0 for none.
    """

    agent: Agent
    map_SE3_flu: SE3
    velocity_map_mps: FloatArray  # (3,)
    instance_id: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class DroneState:
    """One drone at one tick; in topology ``carla``, ``planned_map_SE3_flu`` is the same as ``map_SE3_flu``."""

    drone_id: int
    map_SE3_flu: SE3
    velocity_map_mps: FloatArray  # (3,)
    planned_map_SE3_flu: SE3

    @property
    def agent(self) -> Agent:
        """The drone as an agent."""
        return Agent(self.drone_id)


@dataclass(frozen=True, slots=True, eq=False)
class SensorReading:
    """The data of one sensor in one tick.

    Attributes:
        map_SE3_sensor: frame of the data: x right, y down, z forward for cameras; else the sensor's flu.
        ue_euler_deg: commanded (roll, pitch, yaw) in the simulator's left-handed frame.
        files: modality (``records/modalities.py``) -> path in the recording's folder.
        degradation: errors of the degraded copy of an image; {} without one.
    """

    sensor: Sensor
    map_SE3_sensor: SE3
    ue_euler_deg: tuple[float, float, float]
    files: dict[str, str]
    degradation: dict[str, Any] = field(default_factory=dict)

    @property
    def channel(self) -> str:
        """Channel of the sensor."""
        return self.sensor.channel

    @property
    def camera(self) -> CameraParams:
        """Parameters of the camera; see ``SensorSpec.camera``."""
        return self.sensor.spec.camera


@dataclass(frozen=True, slots=True, eq=False)
class ShutterTick:
    """One tick of the images through shutters.

    Attributes:
        step: plan step.
        map_SE3_optical: (C,) poses of the cameras with shutters, in the plan's order.
    """

    step: int
    map_SE3_optical: SE3


@dataclass(frozen=True, slots=True, eq=False)
class RecordedFrame:
    """The data of one capture tick.

    Attributes:
        step: plan step, see ``ScenePlan``.
        timestamp_us: ``plan.start_timestamp_us + step * plan.step_us``, verified against the simulator's time.
        simulator_frame: the simulator's frame number in this run; never in tables.
        sample_index: keyframe number 0.., or None for a sweep.
        readings: readings of ``ScenePlan.sensors_at``, in this order.
        others: agents beside the drones.
        shutter: ticks of the images through shutters, this tick first.
    """

    step: int
    timestamp_us: int
    simulator_frame: int
    sample_index: int | None
    drones: tuple[DroneState, ...]
    readings: tuple[SensorReading, ...]
    actors: ActorStates
    weather: tuple[float, ...]
    others: tuple[AgentState, ...] = ()
    shutter: tuple[ShutterTick, ...] = ()

    @property
    def states(self) -> tuple[DroneState | AgentState, ...]:
        """States of all agents."""
        return self.drones + self.others

    @property
    def cameras(self) -> tuple[SensorReading, ...]:
        """Readings of the cameras, in the plan's order."""
        return tuple(reading for reading in self.readings if reading.sensor.spec.params.is_optical)

    def with_modality(self, name: str) -> tuple[SensorReading, ...]:
        """Return the readings with a file of a modality, in the plan's order."""
        return tuple(reading for reading in self.readings if name in reading.files)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """The circumstances of the flight, for the scene's log.

    Attributes:
        mask_ids: ``actor_id`` if the simulator's mask ids are proven to be actor ids, ``voted`` if they were matched to actors
            by their places in the images.
        images_drawn: images from the server in this scene, including those for settling.
        moved_in_warmup: number of vehicles that no light held during the warm-up, and number of moving ones among them.
        moved_in_scene: the same from the first to the last capture.
        origin_deg_m: geographic origin of the map frame, from the town's OpenDRIVE file.
    """

    simulator: str  # "mock" or "unreal"
    client_version: str
    server_version: str
    topology: str
    vehicles_asked: int
    vehicles_spawned: int
    walkers_asked: int
    walkers_spawned: int
    mask_ids: str
    notes: tuple[str, ...] = ()
    images_drawn: int = 0
    moved_in_warmup: tuple[int, int] = (0, 0)
    moved_in_scene: tuple[int, int] = (0, 0)
    origin_deg_m: GeographicOrigin = DEFAULT_ORIGIN_DEG_M


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One flown scene, with complete frames in order of time.

    Attributes:
        drivable_map_m: (N, 4, 2) quadrilaterals of the town's driving lanes, for the map mask.
        motion: motion of all actors tick by tick; None for a backend without it.
    """

    folder: Path
    plan: ScenePlan
    facts: SessionFacts
    actors: tuple[ActorInfo, ...]  # sorted by instance id; every actor that was alive in any frame
    frames: tuple[RecordedFrame, ...]
    drivable_map_m: FloatArray | None = None
    motion: MotionLog | None = None


def moved_share(count: tuple[int, int]) -> float | None:
    """Return the share of moving vehicles, four digits; None without vehicles.

    Args:
        count: ``SessionFacts.moved_in_warmup`` or ``moved_in_scene``.
    """
    free, moved = count
    return round(moved / free, 4) if free else None


def instances_of_agents(
    plan: ScenePlan, actors: Iterable[ActorInfo], states: Iterable[DroneState | AgentState]
) -> dict[Agent, int]:
    """Return the instance ids of the actors that carry agents or are their bodies, by agent.

    Args:
        plan: plan of the scene.
        actors: actors of the scene, with all bodies of drones.
        states: states of the agents in one tick.
    """
    bodies = sorted(info.instance_id for info in actors if actor_kind(info.kind).is_drone)
    found = dict(zip(map(Agent, plan.swarm.drone_ids), bodies, strict=False))  # no body, or one per drone
    found |= {s.agent: s.instance_id for s in states if isinstance(s, AgentState) and s.instance_id}
    return found
