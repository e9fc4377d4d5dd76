"""``flight_plans/rigs/*.yaml``: the cameras, and the lidar, that every drone carries."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from uavsim.config.base import CameraName, Metres3, Model, Text
from uavsim.errors import UnknownNameError
from uavsim.records.modalities import CAMERA_SENSORS, INSTANCE, LIDAR, RGB, camera_sensors
from uavsim.registry import pick

__all__ = ["Camera", "Fov", "Lidar", "Pixels", "Rig", "Sensors"]


def _known(name: str) -> str:
    if name == LIDAR:
        raise ValueError("a lidar is no sensor of a camera: give the rig a block lidar: {}")
    try:
        return pick(camera_sensors(), name, what="sensor").name
    except UnknownNameError as error:
        raise ValueError(str(error)) from error


_SCHEMA: dict[str, Any] = {"anyOf": [{"enum": list(CAMERA_SENSORS)}, {"type": "string", "pattern": r"^[a-z0-9_]+$"}]}
SensorName = Annotated[str, AfterValidator(_known), WithJsonSchema(_SCHEMA)]
"""One of ours or of an installed package's; editors complete ours and take any other word."""

Pixels = Annotated[int, Field(ge=16, le=8192)]
Fov = Annotated[float, Field(ge=5, le=170)]
Sensors = Annotated[tuple[SensorName, ...], Field(min_length=1)]


class Camera(Model):
    """One camera; what it leaves out it takes from the rig."""

    mount_m: Metres3 = (0.0, 0.0, 0.0)
    """On the drone: x forward, y left, z up."""
    pitch_deg: Annotated[float, Field(ge=-90, le=90)] = 0.0
    """-45 looks down at an angle, -90 straight down."""
    yaw_deg: Annotated[float, Field(ge=-360, le=360)] = 0.0
    """Clockwise seen from above, as CARLA has it: 90 looks right."""
    roll_deg: Annotated[float, Field(ge=-180, le=180)] = 0.0
    width_px: Pixels | None = None
    height_px: Pixels | None = None
    fov_deg: Fov | None = None
    sensors: Sensors | None = None


class Lidar(Model):
    """A lidar on every drone; each step of the simulation is one whole turn of it."""

    mount_m: Metres3 = (0.0, 0.0, 0.0)
    """On the drone: x forward, y left, z up."""
    pitch_deg: Annotated[float, Field(ge=-90, le=90)] = 0.0
    yaw_deg: Annotated[float, Field(ge=-360, le=360)] = 0.0
    roll_deg: Annotated[float, Field(ge=-180, le=180)] = 0.0
    channels: Annotated[int, Field(ge=1, le=256)] = 64
    range_m: Annotated[float, Field(gt=0, le=1000)] = 150.0
    points_per_second: Annotated[int, Field(ge=1, le=20_000_000)] = 640_000
    """Of all channels together; a turn has this many times the step."""
    rotation_hz: Annotated[float, Field(gt=0, le=1000)] | None = None
    """One over the data set's ``step_s``, which is also the default: a tick is a whole turn."""
    upper_fov_deg: Annotated[float, Field(ge=-90, le=90)] = -25.0
    lower_fov_deg: Annotated[float, Field(ge=-90, le=90)] = -90.0
    """Elevation of the lowest beam; -90 is straight down where the lidar is mounted level."""

    @model_validator(mode="after")
    def _upper_is_above_lower(self) -> Self:
        if self.upper_fov_deg <= self.lower_fov_deg:
            raise ValueError(f"upper_fov_deg={self.upper_fov_deg:g} is not above lower_fov_deg={self.lower_fov_deg:g}")
        return self


class Rig(Model):
    """Cameras by name, in the order of the data set's channels; the numbers here hold for every camera without its own."""

    width_px: Pixels = 800
    height_px: Pixels = 450
    fov_deg: Fov = 90.0
    """Horizontal."""
    sensors: Sensors = (RGB, INSTANCE)
    cameras: Annotated[dict[CameraName, Camera], Field(min_length=1, max_length=16)]
    lidar: Lidar | None = None
    notes: Text = ""

    @model_validator(mode="after")
    def _every_camera_has_what_labels_need(self) -> Self:
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
        return self
