"""Records from ``plan`` to ``simulate`` and ``capture``: the complete plan of one scene.

Times are integer microseconds since the scene's first tick; step ``k`` of the trajectory is at ``k * step_us``. Frames are
those of ``geometry/frames.py``: ``map`` (right-handed, z up, metres) and ``flu`` (body). Plans travel between processes as
msgpack (``records/codec.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.records.clocks import ClocksPlan
from uavsim.records.sensors import Agent, AgentsPlan, Sensor, SensorSpec, shutter_steps
from uavsim.typing import FloatArray

__all__ = [
    "LEAST_WARMUP_TICKS",
    "WEATHER_PARAMETERS",
    "DegradationPlan",
    "ImageFormat",
    "LabelPlan",
    "MapStreaming",
    "PlanNotes",
    "Recorded",
    "ScenePlan",
    "SwarmTrajectory",
    "Topology",
    "TownSite",
    "WeatherTrack",
]

T = TypeVar("T")
Topology = str
"""A backend of ``config/backends.py``."""
Recorded = Literal["full", "keyframes"]
"""Ticks with recorded motion: all, or those with images."""


@dataclass(frozen=True, slots=True, eq=False)
class SwarmTrajectory:
    """The planned pose of every drone at every physics step.

    Attributes:
        drone_ids: (D,) ids in channel names; id 0 is the centre (ego).
        map_SE3_flu: (K, D) poses, K = total steps + 1; step 0 is the scene's first tick.
    """

    drone_ids: tuple[int, ...]
    map_SE3_flu: SE3


WEATHER_PARAMETERS: Final = (
    "cloudiness",
    "precipitation",
    "precipitation_deposits",
    "wind_intensity",
    "sun_azimuth_angle",
    "sun_altitude_angle",
    "fog_density",
    "fog_distance",
    "fog_falloff",
    "wetness",
    "scattering_intensity",
    "mie_scattering_scale",
    "rayleigh_scattering_scale",
    "dust_storm",
)
"""The 14 parameters in the order of ``carla.WeatherParameters`` on the wire."""


@dataclass(frozen=True, slots=True, eq=False)
class WeatherTrack:
    """The 14 CARLA weather parameters over the scene, linear between keys.

    Attributes:
        name: name of the weather YAML or CARLA preset.
        times_us: (N,) increasing, N >= 1.
        values: (N, 14) in the order of ``WEATHER_PARAMETERS``.
    """

    name: str
    times_us: tuple[int, ...]
    values: FloatArray


@dataclass(frozen=True, slots=True)
class ImageFormat:
    """The storage of RGB images; masks are always lossless PNG."""

    kind: Literal["png", "jpeg"] = "png"
    jpeg_quality: int = 95
    png_level: int = 1


@dataclass(frozen=True, slots=True)
class MapStreaming:
    """How CARLA streams a large map.

    Attributes:
        tile_stream_distance_m: distance from the spectator or a hero within which tiles are loaded.
        actor_active_distance_m: distance beyond which actors are dormant.
        spectator_as_ego: the spectator counts as the hero if there is none.
        traffic_within_m: largest distance of spawned vehicles and walkers from the swarm.
        hero: blueprint of a vehicle above the swarm as CARLA's hero; "" for none.
    """

    tile_stream_distance_m: float
    actor_active_distance_m: float
    spectator_as_ego: bool
    traffic_within_m: float
    hero: str = ""


@dataclass(frozen=True, slots=True)
class TownSite:
    """The town of a plan.

    Attributes:
        name: as in town_configs (``Town10HD``).
        carla_map: the server's map name (``Town10HD`` or ``Town10HD_Opt``).
        map_bounds_m: (x_min, y_min, x_max, y_max) in the map frame.
        ground_z_m: height of the ground below the drones.
        airsim_origin_ue_m: AirSim's PlayerStart in CARLA's frame, metres (merged and bridge).
        streaming: streaming of a large map; None for other towns.
        mask_origin_map_m: (x, y) of the bottom-left pixel of the dataset's map mask.
    """

    name: str
    carla_map: str
    map_bounds_m: tuple[float, float, float, float]
    ground_z_m: float
    airsim_origin_ue_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mask_origin_map_m: tuple[float, float] = (0.0, 0.0)
    streaming: MapStreaming | None = None


@dataclass(frozen=True, slots=True)
class DegradationPlan:
    """Deliberate, recorded errors of the agents' sensors; the tables have the truth. Off by default."""

    seed: int = 0
    position_noise_m: float = 0.0
    position_bias_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    yaw_noise_deg: float = 0.0
    clock_offset_us: int = 0
    latency_us: int = 0
    drop_probability: float = 0.0
    pixel_noise_sigma: float = 0.0
    blur_sigma_px: float = 0.0
    exposure_stops: float = 0.0
    uneven: bool = False
    by_kind: tuple[tuple[str, DegradationPlan], ...] = ()  # replaces these for one kind of agents
    links: tuple[tuple[str, int, float], ...] = ()  # air_to_ground, latency in us, losses

    def of(self, kind: str) -> DegradationPlan:
        """Return the errors of a kind of agents."""
        return dict(self.by_kind).get(kind, self)


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """The dataset's options for labels; None selects the labeller's default.

    Attributes:
        classes: classes with boxes.
        range_m: largest horizontal distance from the nearest drone.
        columns: label columns beside the built-in ones.
        moving_mps: least speed of ``moving``.
        parked_moved_m: largest motion in the scene of a ``parked`` vehicle.
    """

    classes: tuple[str, ...] | None = None
    range_m: float | None = None
    columns: tuple[str, ...] = ()
    moving_mps: float | None = None
    parked_moved_m: float | None = None


@dataclass(frozen=True, slots=True)
class PlanNotes:
    """The origin of the plan, stored with the recording; ``drawn`` is also in the table ``log``.

    Attributes:
        dataset_seed: seed of the dataset.
        route_row: group of the scene's route.
        route_start_share: start of the scene on the route, 0 to 1.
        drawn: random numbers of the scene by configuration file and key: ``formation.spacing_m``.
    """

    dataset_seed: int = 0
    route_row: str = ""
    route_start_share: float = 0.0
    drawn: Mapping[str, float] = field(default_factory=dict)


LEAST_WARMUP_TICKS: Final = 3
"""Ticks needed to measure which tick after ``listen()`` sends the first image (carla PR 5616)."""


@dataclass(frozen=True, slots=True, eq=False)
class ScenePlan:
    """One scene of a dataset.

    ``warmup_ticks`` ticks, at least ``LEAST_WARMUP_TICKS``, accelerate the traffic; then step 0 is the first capture. Images
    are taken at steps ``0, image_every_steps, 2 * image_every_steps, ...``; every ``image_every_steps *
    (sweeps_per_keyframe + 1)`` steps is a keyframe (a nuScenes sample). ``samples`` keyframes are captured.
    """

    dataset: str
    scene_name: str
    scene_index: int
    description: str
    town: TownSite
    route_name: str
    formation_name: str
    rig_name: str
    topology: Topology
    seed: int
    start_timestamp_us: int  # of step 0, on the dataset's clock; scenes never overlap
    step_us: int
    warmup_ticks: int
    samples: int
    keyframe_every_steps: int
    sweeps_per_keyframe: int
    rig: tuple[SensorSpec, ...]  # of every drone: cameras, then the other kinds
    swarm: SwarmTrajectory
    weather: WeatherTrack
    images: ImageFormat
    splits: tuple[str, ...]  # split names that hold this scene
    version: str  # nuScenes version folder, v1.0-mini
    degradations: DegradationPlan | None = None
    max_formation_error_m: float = 5.0  # bridge: a larger distance of a drone from its plan voids the scene
    pose_read_back_s: float = 2.0  # longest time until AirSim reports a new pose
    min_moving_share: float = 0.3  # of the vehicles that no light holds; if fewer move, the scene is void
    traffic_retry: int = 0  # number of earlier flights with stalled traffic
    wind_map_mps: tuple[float, float, float] = (0.0, 0.0, 0.0)
    labels: LabelPlan = LabelPlan()
    notes: PlanNotes = PlanNotes()
    recording: Recorded = "full"
    settles: bool = True  # RGB cameras draw before each image, by their ``Settle``
    sweep_cameras: tuple[str, ...] = ()  # names of the cameras with images between keyframes; () is all
    ingredients: dict[str, Any] = field(default_factory=dict)  # content of the scene: name -> plan of the ingredient

    def of(self, record: type[T]) -> T | None:
        """Return the plan of the ingredient with this record type, or None."""
        return next((plan for plan in self.ingredients.values() if isinstance(plan, record)), None)

    @property
    def traffic_seed(self) -> int:
        """Seed of vehicles and walkers; each retry has another one."""
        if not self.traffic_retry:
            return self.seed
        return int(np.random.SeedSequence([self.seed, self.traffic_retry]).generate_state(1)[0])

    @property
    def image_every_steps(self) -> int:
        """Steps between two images of one camera."""
        return self.keyframe_every_steps // (self.sweeps_per_keyframe + 1)

    @property
    def capture_steps(self) -> Sequence[int]:
        """Steps with images, ascending: keyframes, sweeps, and triggers of the agents' clocks."""
        regular = range(0, (self.samples - 1) * self.keyframe_every_steps + 1, self.image_every_steps)
        clocks = self.of(ClocksPlan)
        return regular if clocks is None else sorted({*regular, *clocks.step.tolist()})

    @property
    def shutter_steps(self) -> int:
        """Number of steps after each image that shutters need."""
        return shutter_steps(self.specs)

    @property
    def rendered_steps(self) -> tuple[int, ...]:
        """Steps of images, and the steps of shutters after them."""
        return tuple(step + more for step in self.capture_steps for more in range(self.shutter_steps + 1))

    @property
    def specs(self) -> tuple[SensorSpec, ...]:
        """Sensors of all rigs."""
        return (*self.rig, *(spec for group in self.ground for spec in group.rig))

    @property
    def ground(self) -> tuple[AgentsPlan, ...]:
        """Agents with sensors beside the drones, one record per kind."""
        return tuple(plan for plan in self.ingredients.values() if isinstance(plan, AgentsPlan))

    @property
    def agents(self) -> tuple[Agent, ...]:
        """All agents with sensors, the drones first."""
        others = (agent for group in self.ground for agent in group.agents)
        return (*(Agent(drone_id) for drone_id in self.swarm.drone_ids), *others)

    def rig_of(self, agent: Agent) -> tuple[SensorSpec, ...]:
        """Return the rig of an agent."""
        return next((group.rig for group in self.ground if agent in group.agents), self.rig)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """All sensors in UAV3D's order: all cameras by agent, in the rig's order, then the other kinds likewise."""
        carried = [Sensor(agent, spec) for agent in self.agents for spec in self.rig_of(agent)]
        kinds = list(dict.fromkeys(type(sensor.spec.params) for sensor in carried))
        return tuple(sorted(carried, key=lambda sensor: kinds.index(type(sensor.spec.params))))

    def sensors_at(self, step: int) -> tuple[Sensor, ...]:
        """Return the sensors with readings at a step of ``rendered_steps``; ``sweep_cameras`` limits the sweeps."""
        is_keyframe = step % self.keyframe_every_steps <= self.shutter_steps
        if not is_keyframe and (clocks := self.of(ClocksPlan)) is not None:
            firing = clocks.agents_at(step)
            return tuple(s for s in self.sensors if s.agent in firing and s.spec.params.is_optical)
        if is_keyframe or not self.sweep_cameras:
            return self.sensors
        return tuple(s for s in self.sensors if not s.spec.params.is_optical or s.spec.name in self.sweep_cameras)

    @property
    def image_count(self) -> int:
        """Number of images of all cameras."""
        if self.of(ClocksPlan) is not None:
            return sum(s.spec.params.is_optical for step in self.capture_steps for s in self.sensors_at(step))
        in_keyframe, in_sweep = (
            sum(s.spec.params.is_optical for s in self.sensors_at(step)) for step in (0, self.image_every_steps)
        )
        return self.samples * in_keyframe + (len(self.capture_steps) - self.samples) * in_sweep

    @property
    def cameras(self) -> tuple[SensorSpec, ...]:
        """Cameras of the drones' rig."""
        return tuple(spec for spec in self.rig if spec.params.is_optical)

    def channel(self, *, camera: str, drone_id: int) -> str:
        """Return the channel of a drone's camera."""
        return next(spec.channel_of(Agent(drone_id)) for spec in self.cameras if spec.name == camera)

    @property
    def channels(self) -> tuple[str, ...]:
        """Channels of all cameras."""
        return tuple(sensor.channel for sensor in self.sensors if sensor.spec.params.is_optical)
