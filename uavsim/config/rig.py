"""``flight_plans/rigs/*.yaml``: the sensors that an agent carries."""

from typing import Annotated, Any, ClassVar, Final, Self

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator

from uavsim.config import explain
from uavsim.config.base import CameraName, Metres3, Model, Text
from uavsim.config.exposure import CameraExposure
from uavsim.config.lens import CameraLens
from uavsim.config.shutter import CameraShutter
from uavsim.errors import UnknownNameError
from uavsim.records.modalities import CAMERA_SENSORS, INSTANCE, LIDAR, RGB, camera_sensors, modalities
from uavsim.records.radar import RadarParams
from uavsim.records.sensors import LidarParams, SensorParams
from uavsim.registry import Named, pick

__all__ = ["Block", "Camera", "Fov", "Lidar", "Mounted", "Pixels", "Radar", "Rig", "Sensors"]


def _known(name: str) -> str:
    if name == LIDAR:
        raise ValueError("a lidar is not a sensor of a camera: add the block lidar: {} to the rig")
    try:
        return pick(camera_sensors(), name, what="sensor").name
    except UnknownNameError as error:
        raise ValueError(str(error)) from error


def _check_vignetting(parts: tuple[float, float, float]) -> tuple[float, float, float]:
    """Refuse vignetting that brightens, or that leaves no light."""
    square = np.linspace(0.0, 1.0, 257)
    taken = -np.polyval([*parts[::-1], 0.0], square)
    if float(taken.min()) < -1e-9:
        raise ValueError(f"brightens the image by {-float(taken.min()):.3g} somewhere; the nearest is [0, 0, 0]")
    if (most := float(taken.max())) > _DARKEST:
        near = ", ".join(f"{part * _DARKEST / most:.4g}" for part in parts)
        raise ValueError(
            f"leaves {1 - most:.3g} of the light somewhere, less than {1 - _DARKEST:g}; the nearest is [{near}]"
        )
    return parts


_DARKEST: Final = 0.95
_SCHEMA: dict[str, Any] = {"anyOf": [{"enum": list(CAMERA_SENSORS)}, {"type": "string", "pattern": r"^[a-z0-9_]+$"}]}
SensorName = Annotated[str, AfterValidator(_known), WithJsonSchema(_SCHEMA)]
"""A sensor of uavsim or of an installed package; editors complete the former and accept any word."""

Pixels = Annotated[int, Field(ge=16, le=8192)]
_ConeDeg = Annotated[float, Field(ge=1, le=160)]
Fov = Annotated[float, Field(ge=5, le=170)]
Vignetting = Annotated[tuple[float, float, float], AfterValidator(_check_vignetting)]
Sensors = Annotated[tuple[SensorName, ...], Field(min_length=1)]


class Mount(Model):
    """The mount of a sensor on its agent."""

    mount_m: Metres3 = (0.0, 0.0, 0.0)
    """Position on the agent: x forward, y left, z up."""
    pitch_deg: Annotated[float, Field(ge=-90, le=90)] = 0.0
    """-45 looks down at an angle, -90 straight down."""
    yaw_deg: Annotated[float, Field(ge=-360, le=360)] = 0.0
    """Clockwise seen from above, as CARLA has it: 90 looks right."""
    roll_deg: Annotated[float, Field(ge=-180, le=180)] = 0.0


class Settling(Model):
    """Ticks that RGB cameras render before an image is kept, so that exposure, anti-aliasing and textures settle on Unreal."""

    ticks: Annotated[int, Field(ge=0, le=100)] = 3
    """Ticks before each image, while the camera follows its agent; 0 keeps the first rendering."""
    first_ticks: Annotated[int, Field(ge=0, le=1000)] = 30
    """Minimum number of ticks before a scene's first image; at most the dataset's ``warmup_s``. 0 switches them off."""
    first_s: Annotated[float, Field(ge=0, le=10)] = 0.6
    """Minimum duration of these ticks: exposure adapts over time, and 2.5 stops take 0.6 s at the default ``speed``."""


class Camera(Mount):
    """One camera; omitted keys have the rig's values."""

    width_px: Pixels | None = None
    height_px: Pixels | None = None
    fov_deg: Fov | None = None
    lens: CameraLens | None = None
    """None is a pinhole, or the rig's."""
    shutter: CameraShutter | None = None
    """None takes each image in one tick only, or as the rig has it."""
    vignetting: Vignetting | None = None
    exposure: CameraExposure | None = None
    """None is the rig's."""
    sensors: Sensors | None = None


class Block(Mount):
    """The rig's block of a sensor other than a camera; ``Modality.block`` names its subclass."""

    def fault(self, *, step_us: int) -> tuple[str, str] | None:
        """Return the wrong key and the reason, for a simulation with these steps."""
        del step_us
        return None

    def params(self, *, step_us: int) -> SensorParams:
        """Return the sensor's parameters (``records/sensors.py``)."""
        raise NotImplementedError


class Lidar(Block):
    """A lidar; each step of the simulation is one whole turn of it."""

    channels: Annotated[int, Field(ge=1, le=256)] = 64
    range_m: Annotated[float, Field(gt=0, le=1000)] = 150.0
    points_per_second: Annotated[int, Field(ge=1, le=20_000_000)] = 640_000
    """Points of all channels together; a turn has this number times the step."""
    rotation_hz: Annotated[float, Field(gt=0, le=1000)] | None = None
    """One over the dataset's ``step_s``, which is also the default: a tick is a whole turn."""
    upper_fov_deg: Annotated[float, Field(ge=-90, le=90)] = -25.0
    lower_fov_deg: Annotated[float, Field(ge=-90, le=90)] = -90.0
    """Elevation of the lowest beam; -90 is straight down where the lidar is mounted level."""

    @model_validator(mode="after")
    def _check_fov_order(self) -> Self:
        if self.upper_fov_deg <= self.lower_fov_deg:
            raise ValueError(f"upper_fov_deg={self.upper_fov_deg:g} is not above lower_fov_deg={self.lower_fov_deg:g}")
        return self

    def fault(self, *, step_us: int) -> tuple[str, str] | None:
        """See ``Block``: it makes one whole turn each step, and has a point for each beam."""
        turns_hz = 1e6 / step_us
        if self.rotation_hz is not None and abs(self.rotation_hz - turns_hz) > 1e-6 * turns_hz:
            return "rotation_hz", (
                f"{self.rotation_hz:g} turns per second are not one turn per step of {step_us / 1e6:g} s; leave it out, or "
                f"write {turns_hz:g}"
            )
        if self.points_per_second < self.channels * turns_hz:
            return "points_per_second", (
                f"{self.points_per_second} is less than one point per channel and turn: {self.channels} channels at "
                f"{turns_hz:g} turns per second need {self.channels * turns_hz:g}"
            )
        return None

    def params(self, *, step_us: int) -> LidarParams:
        """See ``Block``."""
        return LidarParams(
            channels=self.channels,
            range_m=self.range_m,
            points_per_second=self.points_per_second,
            rotation_hz=1e6 / step_us,
            upper_fov_deg=self.upper_fov_deg,
            lower_fov_deg=self.lower_fov_deg,
        )


class Radar(Block):
    """A radar that sends rays into a cone at each step of the simulation."""

    range_m: Annotated[float, Field(gt=0, le=1000)] = 100.0
    points_per_second: Annotated[int, Field(ge=1, le=2_000_000)] = 6000
    """Points per second; a measurement has this number times the step."""
    horizontal_fov_deg: _ConeDeg = 60.0
    vertical_fov_deg: _ConeDeg = 20.0
    noise_seed: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    """Seed of its rays' directions, the same in each scene."""

    def fault(self, *, step_us: int) -> tuple[str, str] | None:
        """See ``Block``: a measurement has a ray at least."""
        if self.points_per_second * step_us < 1_000_000:
            fewest = -(-1_000_000 // step_us)
            return "points_per_second", f"{self.points_per_second} is below one point per step; set at least {fewest}"
        return None

    def params(self, *, step_us: int) -> RadarParams:
        """See ``Block``."""
        del step_us
        return RadarParams(
            self.range_m, self.points_per_second, self.horizontal_fov_deg, self.vertical_fov_deg, self.noise_seed
        )


class Mounted(Model):
    """One sensor other than a camera: the name of its modality, and its block."""

    model_config = ConfigDict(extra="allow")

    lidar: Lidar | None = None

    @property
    def sensor(self) -> tuple[str, Block]:
        """The modality's name and its block."""
        if self.lidar is not None:
            return LIDAR, self.lidar
        ((name, block),) = (self.model_extra or {}).items()
        assert isinstance(block, Block)
        return name, block

    @model_validator(mode="after")
    def _parse_sensor(self) -> Self:
        extra = self.model_extra or {}
        if len(extra) + (self.lidar is not None) != 1:
            raise ValueError("a mounted sensor needs exactly one modality, for example {lidar: {channels: 32}}")
        blocks = {name: m.block for name, m in modalities().items() if m.block}
        for name, values in extra.items():
            try:
                block: type[Block] = Named(pick(blocks, name, what="sensor")).load()
                extra[name] = block.model_validate(values)
            except UnknownNameError as error:
                raise explain.wrong_key(name, str(error)) from error
            except ValidationError as error:
                key_path, message, _ = explain.first(error, block, line_of=lambda _: 0)
                raise explain.wrong_key(name, message, below=key_path) from error
        return self


class Rig(Model):
    """Cameras by name, in the order of the dataset's channels; the numbers here hold for every camera without its own."""

    drawable: ClassVar = ("cameras", "lidar", "mounted")

    width_px: Pixels = 800
    height_px: Pixels = 450
    fov_deg: Fov = 90.0
    """Horizontal field of view."""
    lens: CameraLens | None = None
    """Of every camera without its own."""
    shutter: CameraShutter | None = None
    """Of every camera without its own."""
    settle: Settling = Settling()
    vignetting: Vignetting | None = None
    """a1, a2, a3: a pixel at r of the way to the farthest corner has 1 + a1 r^2 + a2 r^4 + a3 r^6 of its light."""
    exposure: CameraExposure = CameraExposure()
    """Of every camera without its own."""
    sensors: Sensors = (RGB, INSTANCE)
    cameras: Annotated[dict[CameraName, Camera], Field(min_length=1, max_length=16)]
    lidar: Lidar | None = None
    """The only lidar of an agent; several need names (``mounted``)."""
    mounted: Annotated[dict[CameraName, Mounted], Field(max_length=16, default_factory=dict)]
    """Further sensors other than cameras, by name: ``ROOF: {lidar: {...}}``."""
    notes: Text = ""

    @model_validator(mode="after")
    def _check_camera_sensors(self) -> Self:
        for name, camera in self.cameras.items():
            sensors = camera.sensors or self.sensors
            if len(set(sensors)) != len(sensors):
                raise ValueError(f"camera {name} names a sensor twice")
            for needed, why in (
                (RGB, "its image is the channel's file"),
                (INSTANCE, "labels are counted in its masks"),
            ):
                if needed not in sensors:
                    raise ValueError(f"camera {name} lacks the sensor {needed!r}: {why}")
            known, lens = camera_sensors(), camera.lens or self.lens
            if lens and lens.focal_px and camera.fov_deg:
                raise ValueError(f"camera {name} has both fov_deg and focal_px of its lens; leave one out")
            for sensor in sensors if lens else ():
                if known[sensor].through_lens is None:
                    supported = ", ".join(n for n, modality in known.items() if modality.through_lens)
                    raise ValueError(f"camera {name}: a lens does not support the sensor {sensor!r}, only {supported}")
        return self
