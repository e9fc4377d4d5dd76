"""Records from ``plan`` to ``simulate`` and ``capture``: one scene, decided to the last number before anything flies.

Time is integer microseconds since the scene's first tick; step ``k`` of the trajectory is at ``k * step_us``. Frames are
those of ``geometry/frames.py``: ``map`` (right-handed, z up, metres) and ``flu`` (body). A plan is pure data: it travels
between processes as msgpack (``records/codec.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.records.clocks import ClocksPlan
from uavsim.records.sensors import Agent, AgentsPlan, Sensor, SensorSpec, shutter_steps
from uavsim.typing import FloatArray

__all__ = [
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
"""At which ticks a recording holds motion: at all, or where images are taken."""


@dataclass(frozen=True, slots=True, eq=False)
class SwarmTrajectory:
    """The planned place of every drone at every physics step.

    Attributes:
        drone_ids: (D,) ids as they appear in channel names; id 0 is the centre (ego).
        map_SE3_flu: (K, D) poses, K = total steps + 1 (step 0 is the scene's first tick).
    """

    drone_ids: tuple[int, ...]
    map_SE3_flu: SE3


@dataclass(frozen=True, slots=True, eq=False)
class WeatherTrack:
    """The 14 CARLA weather parameters over the scene, linear between keys.

    Attributes:
        name: of the weather YAML or CARLA preset.
        times_us: (N,) increasing, N >= 1.
        values: (N, 14) in the order of CARLA's WeatherParameters on the wire (cloudiness, precipitation,
            precipitation_deposits, wind_intensity, sun_azimuth_angle, sun_altitude_angle, fog_density, fog_distance,
            fog_falloff, wetness, scattering_intensity, mie_scattering_scale, rayleigh_scattering_scale, dust_storm).
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
        tile_stream_distance_m: tiles are loaded within this of the spectator or a hero.
        actor_active_distance_m: actors farther away are dormant.
        spectator_as_ego: the spectator counts where there is no hero.
        traffic_within_m: no vehicle or walker starts farther from the swarm.
        hero: blueprint of a vehicle that is moved above the swarm as CARLA's hero; "" for none.
    """

    tile_stream_distance_m: float
    actor_active_distance_m: float
    spectator_as_ego: bool
    traffic_within_m: float
    hero: str = ""


@dataclass(frozen=True, slots=True)
class TownSite:
    """The town as the plan needs it.

    Attributes:
        name: as in town_configs (``Town10HD``).
        carla_map: the map name asked of the server (``Town10HD`` or ``Town10HD_Opt``).
        map_bounds_m: (x_min, y_min, x_max, y_max) in the map frame.
        ground_z_m: height of the ground under the drones.
        airsim_origin_ue_m: AirSim's PlayerStart in CARLA's frame, metres (merged and bridge).
        streaming: of a large map; None where the town is loaded whole.
        mask_origin_map_m: (x, y) that the dataset's map mask has at its bottom-left pixel.
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
    """Errors of the agents' sensors, on purpose and recorded; the truth stays in the tables. Off by default."""

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
    by_kind: tuple[tuple[str, DegradationPlan], ...] = ()  # of one kind of agents, instead of these
    links: tuple[tuple[str, int, float], ...] = ()  # air_to_ground, latency in us, losses

    def of(self, kind: str) -> DegradationPlan:
        """Return the errors of one kind of agents."""
        return dict(self.by_kind).get(kind, self)


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """The dataset's choices about labels; what is None is as the labeller has it.

    Attributes:
        classes: that get boxes.
        range_m: horizontally from the nearest drone.
        columns: label columns beside the built-in ones.
        moving_mps: faster is ``moving``.
        parked_moved_m: a parked vehicle that moves less in the scene is ``parked``.
    """

    classes: tuple[str, ...] | None = None
    range_m: float | None = None
    columns: tuple[str, ...] = ()
    moving_mps: float | None = None
    parked_moved_m: float | None = None


@dataclass(frozen=True, slots=True)
class PlanNotes:
    """The origin of the plan, for people: kept with the recording, and what was drawn also in the table ``log``.

    Attributes:
        dataset_seed: from which the scene's own seed was drawn.
        route_row: group of routes that the scene's route is of.
        route_start_share: how far along the route it starts, 0 to 1.
        drawn: the numbers that the scene drew from distributions, by file and key: ``formation.spacing_m``.
    """

    dataset_seed: int = 0
    route_row: str = ""
    route_start_share: float = 0.0
    drawn: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ScenePlan:
    """One scene of a dataset.

    The scene's clock: ``warmup_ticks`` ticks bring the traffic to speed; then step 0 is the first capture. Images are
    taken at steps ``0, image_every_steps, 2 * image_every_steps, ...``; every ``image_every_steps *
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
    max_formation_error_m: float = 5.0  # bridge: a drone farther than this from its place voids the scene
    pose_read_back_s: float = 2.0  # how long AirSim may show another pose than the one that was set
    min_moving_share: float = 0.3  # of the traffic that no light holds; where fewer vehicles move, the scene is void
    traffic_retry: int = 0  # the scene was flown so often before with traffic that stood still
    wind_map_mps: tuple[float, float, float] = (0.0, 0.0, 0.0)
    labels: LabelPlan = LabelPlan()
    notes: PlanNotes = PlanNotes()
    recording: Recorded = "full"
    settles: bool = True  # RGB cameras draw before each image as long as their ``Settle`` says
    sweep_cameras: tuple[str, ...] = ()  # the only cameras that take images between keyframes, by name; () is all
    ingredients: dict[str, Any] = field(default_factory=dict)  # what is in the scene: name -> record of its plan

    def of(self, record: type[T]) -> T | None:
        """Return the plan of the ingredient that has this record; None where the scene has none."""
        return next((plan for plan in self.ingredients.values() if isinstance(plan, record)), None)

    @property
    def traffic_seed(self) -> int:
        """Seed of vehicles and walkers: the scene's own, and another one for each retry."""
        if not self.traffic_retry:
            return self.seed
        return int(np.random.SeedSequence([self.seed, self.traffic_retry]).generate_state(1)[0])

    @property
    def image_every_steps(self) -> int:
        """Steps between two images of one camera."""
        return self.keyframe_every_steps // (self.sweeps_per_keyframe + 1)

    @property
    def capture_steps(self) -> Sequence[int]:
        """Steps at which images are taken, ascending: keyframes, sweeps, and what agents take by their own clocks."""
        regular = range(0, (self.samples - 1) * self.keyframe_every_steps + 1, self.image_every_steps)
        clocks = self.of(ClocksPlan)
        return regular if clocks is None else sorted({*regular, *clocks.step.tolist()})

    @property
    def shutter_steps(self) -> int:
        """Steps after each of those, of which images through shutters are made, too."""
        return shutter_steps(self.specs)

    @property
    def rendered_steps(self) -> tuple[int, ...]:
        """All steps at which something is taken: those of images, and those of shutters after them."""
        return tuple(step + more for step in self.capture_steps for more in range(self.shutter_steps + 1))

    @property
    def specs(self) -> tuple[SensorSpec, ...]:
        """Every sensor of every rig."""
        return (*self.rig, *(spec for group in self.ground for spec in group.rig))

    @property
    def ground(self) -> tuple[AgentsPlan, ...]:
        """Return who senses beside the drones, one record a kind."""
        return tuple(plan for plan in self.ingredients.values() if isinstance(plan, AgentsPlan))

    @property
    def agents(self) -> tuple[Agent, ...]:
        """Everybody who carries sensors, the drones first."""
        others = (agent for group in self.ground for agent in group.agents)
        return (*(Agent(drone_id) for drone_id in self.swarm.drone_ids), *others)

    def rig_of(self, agent: Agent) -> tuple[SensorSpec, ...]:
        """Return the sensors that an agent carries."""
        return next((group.rig for group in self.ground if agent in group.agents), self.rig)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Every sensor in UAV3D's order: all cameras agent by agent, in the rig's order, then the next kind likewise."""
        carried = [Sensor(agent, spec) for agent in self.agents for spec in self.rig_of(agent)]
        kinds = list(dict.fromkeys(type(sensor.spec.params) for sensor in carried))
        return tuple(sorted(carried, key=lambda sensor: kinds.index(type(sensor.spec.params))))

    def sensors_at(self, step: int) -> tuple[Sensor, ...]:
        """Return those that are read at a step of ``rendered_steps``: with ``sweep_cameras``, not all between keyframes."""
        is_keyframe = step % self.keyframe_every_steps <= self.shutter_steps
        if not is_keyframe and (clocks := self.of(ClocksPlan)) is not None:
            firing = clocks.agents_at(step)
            return tuple(s for s in self.sensors if s.agent in firing and s.spec.params.is_optical)
        if is_keyframe or not self.sweep_cameras:
            return self.sensors
        return tuple(
            sensor
            for sensor in self.sensors
            if not sensor.spec.params.is_optical or sensor.spec.name in self.sweep_cameras
        )

    @property
    def image_count(self) -> int:
        """Return how many images the cameras take."""
        if self.of(ClocksPlan) is not None:
            return sum(s.spec.params.is_optical for step in self.capture_steps for s in self.sensors_at(step))
        optical = [
            sum(sensor.spec.params.is_optical for sensor in self.sensors_at(step))
            for step in (0, self.image_every_steps)
        ]
        return self.samples * optical[0] + (len(self.capture_steps) - self.samples) * optical[1]

    @property
    def cameras(self) -> tuple[SensorSpec, ...]:
        """The cameras of the drones' rig."""
        return tuple(spec for spec in self.rig if spec.params.is_optical)

    def channel(self, *, camera: str, drone_id: int) -> str:
        """Return the channel of a drone's camera."""
        return next(spec.channel_of(Agent(drone_id)) for spec in self.cameras if spec.name == camera)

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels of all cameras."""
        return tuple(sensor.channel for sensor in self.sensors if sensor.spec.params.is_optical)
