"""What ``plan`` hands to ``simulate`` and ``capture``: one scene, decided to the last number before anything flies.

Time is integer microseconds since the scene's first tick; step ``k`` of the trajectory is at ``k * step_us``. Frames are
those of ``geometry/frames.py``: ``map`` (right-handed, z up, metres) and ``flu`` (body). A plan is pure data: it travels
between processes as msgpack (``records/codec.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

import numpy as np

from uavsim.geometry import pinhole, unreal
from uavsim.geometry.frames import FLU_SE3_OPTICAL
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

__all__ = [
    "CameraSpec",
    "DegradationPlan",
    "ImageFormat",
    "LabelPlan",
    "LidarSpec",
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
"""A set-up of ``config/backends.py``."""
Recorded = Literal["full", "keyframes"]
"""At which ticks a recording holds motion: at all, or where images are taken."""
_LATER: Final = {"left_out_as_default": True}  # of fields that came after plans had been hashed


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """One camera pose of the rig, the same on every drone.

    Attributes:
        name: ``FRONT``, ``LEFT``, ``RIGHT``, ``BACK``, ``BOTTOM`` or any word of A-Z, 0-9 and _.
        mount_t_m: (x, y, z) in the drone's flu frame, metres.
        mount_rpy_deg: CARLA's (roll, pitch, yaw) of the mount, degrees: pitch -45 looks down, yaw +90 looks right.
        sensors: what is read at this pose: names of ``records/modalities.py``.
    """

    name: str
    mount_t_m: tuple[float, float, float]
    mount_rpy_deg: tuple[float, float, float]
    width_px: int
    height_px: int
    fov_deg: float
    sensors: tuple[str, ...] = ("rgb", "instance")

    @property
    def flu_SE3_camera(self) -> SE3:
        """The mount: drone <- the camera's own flu, whose x is where it looks."""
        turn = unreal.map_q_flu_from_ue_euler(np.array(self.mount_rpy_deg, dtype=np.float64))
        return SE3(turn, np.array(self.mount_t_m, dtype=np.float64))

    @property
    def flu_SE3_optical(self) -> SE3:
        """The mount: drone <- optical."""
        return self.flu_SE3_camera @ FLU_SE3_OPTICAL

    @property
    def intrinsic(self) -> FloatArray:
        """The (3, 3) matrix from optical points to pixels."""
        return pinhole.intrinsic(width_px=self.width_px, height_px=self.height_px, fov_deg=self.fov_deg)


@dataclass(frozen=True, slots=True)
class LidarSpec:
    """One lidar, the same on every drone; each tick is one whole turn.

    Attributes:
        mount_t_m: (x, y, z) in the drone's flu frame, metres.
        mount_rpy_deg: CARLA's (roll, pitch, yaw) of the mount, degrees.
        channels: beams, spread evenly between the two angles.
        points_per_second: of all beams together; a turn has ``points_per_second / rotation_hz``.
        rotation_hz: turns a second: one over the step.
        upper_fov_deg: elevation of the highest beam; ``lower_fov_deg`` of the lowest.
    """

    mount_t_m: tuple[float, float, float]
    mount_rpy_deg: tuple[float, float, float]
    channels: int
    range_m: float
    points_per_second: int
    rotation_hz: float
    upper_fov_deg: float
    lower_fov_deg: float

    @property
    def flu_SE3_lidar(self) -> SE3:
        """The mount: drone <- the lidar's own flu, in which its points are."""
        turn = unreal.map_q_flu_from_ue_euler(np.array(self.mount_rpy_deg, dtype=np.float64))
        return SE3(turn, np.array(self.mount_t_m, dtype=np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class SwarmTrajectory:
    """Where every drone is meant to be at every physics step.

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
    """How RGB images are stored; masks are always lossless PNG."""

    kind: Literal["png", "jpeg"] = "png"
    jpeg_quality: int = 95
    png_level: int = 1


@dataclass(frozen=True, slots=True)
class TownSite:
    """The town as the plan needs it.

    Attributes:
        name: as in town_configs (``Town10HD``).
        carla_map: the map name asked of the server (``Town10HD`` or ``Town10HD_Opt``).
        map_bounds_m: (x_min, y_min, x_max, y_max) in the map frame.
        ground_z_m: height of the ground under the drones.
        airsim_origin_ue_m: AirSim's PlayerStart in CARLA's frame, metres (merged and bridge).
        mask_origin_map_m: (x, y) that the data set's map mask has at its bottom-left pixel.
    """

    name: str
    carla_map: str
    map_bounds_m: tuple[float, float, float, float]
    ground_z_m: float
    airsim_origin_ue_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mask_origin_map_m: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class DegradationPlan:
    """What the agents' sensors get wrong, on purpose and recorded; the truth stays in the tables. Off by default."""

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


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """What the data set says about labels; what is None is as the labeller has it.

    Attributes:
        classes: that get boxes.
        range_m: horizontally from the nearest drone.
        columns: label columns beside the built-in ones.
        label_parked: also parked vehicles that are parts of the town.
        moving_mps: faster is ``moving``.
        parked_moved_m: a parked vehicle that moves less in the scene is ``parked``.
    """

    classes: tuple[str, ...] | None = None
    range_m: float | None = None
    columns: tuple[str, ...] | None = None
    label_parked: bool | None = None
    moving_mps: float | None = None
    parked_moved_m: float | None = None


@dataclass(frozen=True, slots=True)
class PlanNotes:
    """How the plan came about; kept with the recording for people, read by nothing.

    Attributes:
        dataset_seed: from which the scene's own seed was drawn.
        route_row: group of routes that the scene's route is of.
        route_start_share: how far along the route it starts, 0 to 1.
    """

    dataset_seed: int = 0
    route_row: str = ""
    route_start_share: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class ScenePlan:
    """One scene of a data set.

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
    start_timestamp_us: int  # of step 0, on the data set's clock; scenes never overlap
    step_us: int
    warmup_ticks: int
    samples: int
    keyframe_every_steps: int
    sweeps_per_keyframe: int
    rig: tuple[CameraSpec, ...]
    swarm: SwarmTrajectory
    weather: WeatherTrack
    images: ImageFormat
    splits: tuple[str, ...]  # split names that hold this scene
    version: str  # nuScenes version folder, v1.0-mini
    degradations: DegradationPlan | None = None
    max_formation_error_m: float = 5.0  # bridge: a drone farther than this from its place voids the scene
    wind_map_mps: tuple[float, float, float] = (0.0, 0.0, 0.0)
    lidar: LidarSpec | None = None  # one on every drone
    labels: LabelPlan = LabelPlan()
    notes: PlanNotes = PlanNotes()
    recording: Recorded = field(default="full", metadata=_LATER)
    ingredients: dict[str, Any] = field(default_factory=dict)  # what is in the scene: name -> record of its plan

    def of(self, record: type[T]) -> T | None:
        """Return the plan of the ingredient that has this record; None where the scene has none."""
        return next((plan for plan in self.ingredients.values() if isinstance(plan, record)), None)

    @property
    def image_every_steps(self) -> int:
        """Steps between two images of one camera."""
        return self.keyframe_every_steps // (self.sweeps_per_keyframe + 1)

    @property
    def capture_steps(self) -> range:
        """Steps at which images are taken, keyframes and sweeps."""
        return range(0, (self.samples - 1) * self.keyframe_every_steps + 1, self.image_every_steps)

    def channel(self, *, camera: str, drone_id: int) -> str:
        """Name the channel as UAV3D does: ``CAMERA_FRONT_id_0``."""
        return f"CAMERA_{camera}_id_{drone_id}"

    @property
    def channels(self) -> tuple[str, ...]:
        """All channels in UAV3D's order: drone by drone, cameras in the rig's order."""
        return tuple(self.channel(camera=c.name, drone_id=d) for d in self.swarm.drone_ids for c in self.rig)

    def lidar_channel(self, drone_id: int) -> str:
        """Name the channel of a drone's lidar: ``LIDAR_id_0``."""
        return f"LIDAR_id_{drone_id}"

    @property
    def lidar_channels(self) -> tuple[str, ...]:
        """The channels of all lidars, drone by drone; none where the rig has no lidar."""
        return tuple(self.lidar_channel(d) for d in self.swarm.drone_ids) if self.lidar else ()
