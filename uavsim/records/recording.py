"""Records from ``capture`` to ``annotate``: a scene as flown, before any label.

Everything here is in the ``map`` frame (right-handed, z up, metres, radians) and integer microseconds. The simulator's own
left-handed frame was left at the simulator's door; positions and angles convert back by sign flips without loss.
On disk it is ``log.msgpack`` and one file a measurement: ``recording_writer`` and ``recording_reader`` of ``capture``.
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
    """One agent at one tick that follows no plan: it stands, or an actor of the scene carries it.

    Attributes:
        instance_id: of that actor; 0 where there is none.
    """

    agent: Agent
    map_SE3_flu: SE3
    velocity_map_mps: FloatArray  # (3,)
    instance_id: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class DroneState:
    """One drone at one tick; ``planned_map_SE3_flu`` is where the plan wanted it (the same in topology ``carla``)."""

    drone_id: int
    map_SE3_flu: SE3
    velocity_map_mps: FloatArray  # (3,)
    planned_map_SE3_flu: SE3

    @property
    def agent(self) -> Agent:
        """Return who it is."""
        return Agent(self.drone_id)


@dataclass(frozen=True, slots=True, eq=False)
class SensorReading:
    """The data of one sensor in one tick.

    Attributes:
        map_SE3_sensor: the frame of its data: a camera's x right, y down, z forward; else the sensor's own flu.
        ue_euler_deg: (roll, pitch, yaw) in the simulator's left-handed frame, as commanded.
        files: modality (``records/modalities.py``) -> path in the recording's folder.
        degradation: what was done to the degraded copy of an image, empty when nothing.
    """

    sensor: Sensor
    map_SE3_sensor: SE3
    ue_euler_deg: tuple[float, float, float]
    files: dict[str, str]
    degradation: dict[str, Any] = field(default_factory=dict)

    @property
    def channel(self) -> str:
        """Of the sensor."""
        return self.sensor.channel

    @property
    def camera(self) -> CameraParams:
        """Of a camera's reading; see ``SensorSpec.camera``."""
        return self.sensor.spec.camera


@dataclass(frozen=True, slots=True, eq=False)
class ShutterTick:
    """One of the ticks that the images through shutters of a capture are made of.

    Attributes:
        step: plan step.
        map_SE3_optical: (C,) the cameras that have shutters, in the plan's order.
    """

    step: int
    map_SE3_optical: SE3


@dataclass(frozen=True, slots=True, eq=False)
class RecordedFrame:
    """Everything of one capture tick.

    Attributes:
        step: plan step, see ``ScenePlan``.
        timestamp_us: ``plan.start_timestamp_us + step * plan.step_us``; the simulator's elapsed time was checked against it.
        simulator_frame: the simulator's frame number in this run; differs from run to run, never reaches tables.
        sample_index: keyframe number 0.., or None for a sweep.
        readings: of every sensor of ``ScenePlan.sensors_at``, in that order.
        others: the agents beside the drones.
        shutter: the ticks of the images that were taken through shutters, this one first.
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
        """Every agent."""
        return self.drones + self.others

    @property
    def cameras(self) -> tuple[SensorReading, ...]:
        """Return what the cameras took, in the plan's order."""
        return tuple(reading for reading in self.readings if reading.sensor.spec.params.is_optical)

    def with_modality(self, name: str) -> tuple[SensorReading, ...]:
        """Return the readings that have a file of a modality, in the plan's order."""
        return tuple(reading for reading in self.readings if name in reading.files)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """The circumstances of the run: go into the scene's log.

    Attributes:
        mask_ids: ``actor_id`` when the simulator's mask ids were proven to be actor ids, ``voted`` when they were
            matched to actors by where they lie in the images.
        images_drawn: images that the server sent in this scene, those included that cameras drew to settle.
        moved_in_warmup: how many vehicles of the traffic no light held while it came to speed, and how many of these moved.
        moved_in_scene: the same from the first capture to the last.
        origin_deg_m: of the map frame on the earth, by the town's OpenDRIVE file; of every agent.
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
    """One scene as flown. Frames are in time order and complete: a scene with a missing image was never recorded.

    Attributes:
        drivable_map_m: (N, 4, 2) quadrilaterals that cover the town's driving lanes, for the map mask.
        motion: what everything did, tick by tick; None where a backend reports none.
    """

    folder: Path
    plan: ScenePlan
    facts: SessionFacts
    actors: tuple[ActorInfo, ...]  # sorted by instance id; every actor that was alive in any frame
    frames: tuple[RecordedFrame, ...]
    drivable_map_m: FloatArray | None = None
    motion: MotionLog | None = None


def moved_share(count: tuple[int, int]) -> float | None:
    """Return the share of vehicles that moved, four digits; None where none was watched.

    Args:
        count: ``SessionFacts.moved_in_warmup`` or ``moved_in_scene``.
    """
    free, moved = count
    return round(moved / free, 4) if free else None


def instances_of_agents(
    plan: ScenePlan, actors: Iterable[ActorInfo], states: Iterable[DroneState | AgentState]
) -> dict[Agent, int]:
    """Return the instance id of the actor that carries each agent or is its body; agents without one are left out.

    Args:
        plan: of the scene.
        actors: of the scene, every body of a drone among them.
        states: of the agents in one tick.
    """
    bodies = sorted(info.instance_id for info in actors if actor_kind(info.kind).is_drone)
    found = dict(zip(map(Agent, plan.swarm.drone_ids), bodies, strict=False))  # there are none, or one a drone
    found |= {s.agent: s.instance_id for s in states if isinstance(s, AgentState) and s.instance_id}
    return found
