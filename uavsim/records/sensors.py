"""Agents, their sensors, and the parameters of each kind of sensor.

A sensor is a mount on an agent with one or more modalities (``records/modalities.py``): a camera's image, mask and depth share
one pose, one channel and one set of parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final, Literal, Protocol

import numpy as np

from uavsim.errors import InputError
from uavsim.geometry import pinhole, unreal
from uavsim.geometry.frames import FLU_SE3_OPTICAL
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.geometry.shutter import Shutter
from uavsim.records.ingredients import AGENT_KINDS, AgentKindName
from uavsim.typing import FloatArray

__all__ = [
    "Agent",
    "AgentsPlan",
    "CameraParams",
    "Exposure",
    "LidarParams",
    "Sensor",
    "SensorParams",
    "SensorSpec",
    "Settle",
    "shutter_of",
    "shutter_steps",
]

_ON_THE_GROUND: Final = {"CAMERA": "CAM"}  # nuScenes' prefix; drones have UAV3D's


@dataclass(frozen=True, slots=True)
class Agent:
    """A carrier of sensors.

    Attributes:
        number: number of the agent in its kind; drone 0 is the centre of the formation.
        kind: determines the source of the pose, and the rig.
        body: blueprint of the agent's visible body; "" for none.
    """

    number: int
    kind: AgentKindName = "drone"
    body: str = ""

    @property
    def id(self) -> str:
        """Suffix of channel names: ``0`` for a drone, ``v1`` for a vehicle, ``r0`` for a roadside unit."""
        return f"{AGENT_KINDS[self.kind].letter}{self.number}"


class SensorParams(Protocol):
    """The parameters of a kind of sensor: a frozen dataclass in the plan.

    Attributes:
        prefix: prefix of channel names.
        is_optical: the data are in a camera's frame (x right, y down, z forward), else in the sensor's flu.
    """

    prefix: ClassVar[str]
    is_optical: ClassVar[bool]


@dataclass(frozen=True, slots=True)
class Settle:
    """Ticks in which RGB cameras draw before a stored image, so that Unreal's exposure, anti-aliasing and textures settle.

    Attributes:
        ticks: before each image, while the camera follows its agent.
        first_ticks: before a scene's first image; at most the warm-up.
    """

    ticks: int = 0
    first_ticks: int = 0


@dataclass(frozen=True, slots=True)
class Exposure:
    """The exposure of a camera; ``config/exposure.py`` has the reason for a speed different from CARLA's.

    Attributes:
        mode: adapted to the histogram of luminance of the drawn images, or constant.
        compensation: stops.
        speed: speed of the adaptation, stops per second; for ``histogram`` only.
        shutter_speed: 1 / s; this and the next two are for ``manual`` only.
        iso: sensitivity.
        fstop: aperture.
    """

    mode: Literal["histogram", "manual"] = "histogram"
    compensation: float = 0.0
    speed: float = 10.0
    shutter_speed: float = 200.0
    iso: float = 100.0
    fstop: float = 1.4


@dataclass(frozen=True, slots=True)
class CameraParams:
    """A camera: a pinhole, or a lens in front of one.

    Attributes:
        fov_deg: horizontal; with a lens, of its radial part along the central row.
        lens: lens for this image size; None for a pinhole.
        shutter: shutter of an additional image over several ticks; None for none.
        settle: drawing before each stored image.
        vignetting: a1, a2, a3 of ``light_share``; () without vignetting.
        exposure: exposure of the colour image.
    """

    prefix: ClassVar[str] = "CAMERA"
    is_optical: ClassVar[bool] = True

    width_px: int
    height_px: int
    fov_deg: float
    lens: Lens | None = None
    shutter: Shutter | None = None
    vignetting: tuple[float, ...] = ()
    settle: Settle = Settle()
    exposure: Exposure = Exposure()

    @property
    def intrinsic(self) -> FloatArray:
        """The (3, 3) matrix from optical points to pixels; with a lens, applied after its distortion."""
        if self.lens is not None:
            return self.lens.intrinsic
        return pinhole.intrinsic(width_px=self.width_px, height_px=self.height_px, fov_deg=self.fov_deg)

    @property
    def rendered(self) -> CameraParams:
        """The rendered pinhole: the camera itself, or a wider one with the field of view of the lens."""
        if self.lens is None:
            return self
        wide = self.lens.wide
        return CameraParams(wide.width_px, wide.height_px, wide.fov_deg, exposure=self.exposure)

    @property
    def light_share(self) -> FloatArray:
        """(H, W) relative illumination: 1 + a1 r^2 + a2 r^4 + a3 r^6, r = 1 at the farthest corner."""
        cx, cy = self.intrinsic[:2, 2]
        v, u = np.indices((self.height_px, self.width_px)) + 0.5
        far = np.hypot(max(cx, self.width_px - cx), max(cy, self.height_px - cy))
        square = ((u - cx) ** 2 + (v - cy) ** 2) / far**2
        a1, a2, a3 = self.vignetting or (0.0, 0.0, 0.0)
        return np.asarray(1.0 + square * (a1 + square * (a2 + square * a3)))

    def resized(self, width_px: int, height_px: int) -> CameraParams:
        """Return the camera with another image size and the same field of view."""
        if self.lens is None:
            return replace(self, width_px=width_px, height_px=height_px)
        lens, scale = self.lens, width_px / self.width_px
        fx, fy = (focal * scale for focal in lens.focal_px)
        cx = width_px / 2 + (lens.centre_px[0] - self.width_px / 2) * scale
        cy = height_px / 2 + (lens.centre_px[1] - self.height_px / 2) * scale
        lens = replace(lens, focal_px=(fx, fy), centre_px=(cx, cy), size_px=(width_px, height_px))
        return replace(self, width_px=width_px, height_px=height_px, lens=lens)

    def project(self, points_optical_m: FloatArray, *, beyond: bool = False) -> FloatArray:
        """Project (..., 3) optical points, metres, to (..., 2) pixels; NaN behind the camera or outside the lens's view.

        Args:
            points_optical_m: x right, y down, z forward.
            beyond: extrapolate the lens linearly outside its field of view, for outlines that extend beyond the image.
        """
        if self.lens is not None:
            return self.lens.project(points_optical_m, beyond=beyond)
        return pinhole.project(points_optical_m, intrinsic=self.intrinsic)

    def rays(self, pixels: FloatArray) -> FloatArray:
        """Return the rays of (..., 2) pixels: (..., 3) points at depth 1 m."""
        return pinhole.rays(pixels, intrinsic=self.intrinsic) if self.lens is None else self.lens.rays(pixels)


@dataclass(frozen=True, slots=True)
class LidarParams:
    """A lidar; each tick is one revolution.

    Attributes:
        channels: number of beams, evenly spaced between the two angles.
        points_per_second: points of all beams; a revolution has ``points_per_second / rotation_hz``.
        rotation_hz: revolutions per second: 1 / step.
        upper_fov_deg, lower_fov_deg: elevation of the highest and the lowest beam.
    """

    prefix: ClassVar[str] = "LIDAR"
    is_optical: ClassVar[bool] = False

    channels: int
    range_m: float
    points_per_second: int
    rotation_hz: float
    upper_fov_deg: float
    lower_fov_deg: float


@dataclass(frozen=True, slots=True)
class SensorSpec:
    """One sensor of a rig, the same on every agent with the rig.

    Attributes:
        name: ``FRONT``, or any word of A-Z, 0-9 and _; "" for the only sensor of its kind.
        mount_t_m: (x, y, z) in the agent's flu frame, metres.
        mount_rpy_deg: CARLA's (roll, pitch, yaw) of the mount, degrees: pitch -45 looks down, yaw +90 looks right.
        params: parameters of the kind of sensor.
        modalities: names of ``records/modalities.py``, that of the channel's own file first.
    """

    name: str
    mount_t_m: tuple[float, float, float]
    mount_rpy_deg: tuple[float, float, float]
    params: SensorParams
    modalities: tuple[str, ...]

    @property
    def flu_SE3_mount(self) -> SE3:
        """The mount: agent <- the sensor's flu, with x along the viewing direction."""
        turn = unreal.map_q_flu_from_ue_euler(np.array(self.mount_rpy_deg, dtype=np.float64))
        return SE3(turn, np.array(self.mount_t_m, dtype=np.float64))

    @property
    def flu_SE3_sensor(self) -> SE3:
        """The mount: agent <- frame of the sensor's data."""
        return self.flu_SE3_mount @ FLU_SE3_OPTICAL if self.params.is_optical else self.flu_SE3_mount

    @property
    def camera(self) -> CameraParams:
        """The parameters of a camera.

        Raises:
            InputError: the sensor is not a camera.
        """
        if not isinstance(self.params, CameraParams):
            raise InputError(f"sensor {self.name or self.params.prefix} is not a camera")
        return self.params

    def channel_of(self, agent: Agent) -> str:
        """Return the channel name, as in UAV3D: ``CAMERA_FRONT_id_0``, ``LIDAR_id_0``; on the ground ``CAM_FRONT_id_v0``."""
        prefix = self.params.prefix
        prefix = prefix if AGENT_KINDS[agent.kind].flies else _ON_THE_GROUND.get(prefix, prefix)
        return "_".join(filter(None, (prefix, self.name, "id", agent.id)))


def shutter_of(spec: SensorSpec) -> Shutter | None:
    """Return a camera's shutter, or None; None for other sensors."""
    return spec.params.shutter if isinstance(spec.params, CameraParams) else None


def shutter_steps(specs: Iterable[SensorSpec]) -> int:
    """Return the largest number of steps after the image's own in which a camera's shutter is open."""
    return max((shutter.steps for spec in specs if (shutter := shutter_of(spec)) is not None), default=0)


@dataclass(frozen=True, slots=True)
class AgentsPlan:
    """Agents beside the drones: base class of the plans of ingredients with agents.

    Attributes:
        agents: agents of one kind.
        rig: sensors of each agent.
        rig_name: name of the rig's file.
        labels_itself: the actor that carries an agent has a box in the agent's images, too.
    """

    agents: tuple[Agent, ...]
    rig: tuple[SensorSpec, ...]
    rig_name: str
    labels_itself: bool

    @property
    def farthest_m(self) -> float | None:
        """Largest distance of an agent from the nearest drone; beyond it, the scene is void."""
        return None


@dataclass(frozen=True)
class Sensor:
    """One sensor of one agent."""

    agent: Agent
    spec: SensorSpec

    def __hash__(self) -> int:
        """Hash agent and name only, because sensors are looked up at every tick."""
        return hash((self.agent, self.spec.name))

    @cached_property
    def channel(self) -> str:
        """See ``SensorSpec.channel_of``."""
        return self.spec.channel_of(self.agent)
