"""The exposure of a camera in a rig: ``exposure: {mode: manual, shutter_speed: 400}``."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from uavsim.config.base import Model
from uavsim.records.sensors import Exposure

_Stops = Annotated[float, Field(ge=-15, le=15)]
_USUAL: Final = Exposure()


class CameraExposure(Model):
    """Brightness of images: adapted to the camera's view, or constant.

    An adapted exposure closes 1 - 2^(-speed t) of its distance from what the image asks for in t seconds of drawn frames, and
    only then. CARLA's own speeds, 3 up and 1 down, leave 35 % of a first error after 30 ticks of 0.05 s at the slower one,
    so that images of a scene darken for seconds after its start and after each jump of a camera; 10 leaves less than 0.1 %.
    Source: CARLA's ref_sensors.md, "Advanced camera attributes"; Unreal 4.26's ``PostProcessEyeAdaptation.cpp``.
    """

    mode: Literal["histogram", "manual"] = "histogram"
    """histogram adapts over the camera's frames; manual is constant."""
    compensation: _Stops = 0.0
    """Stops: 1 is twice as bright."""
    speed: Annotated[float, Field(gt=0, le=1000)] | None = None
    """histogram: speed in stops per second, up and down; 10 by default."""
    shutter_speed: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """manual: 1 / exposure time in seconds; 200 by default. It changes only the brightness, without blur."""
    iso: Annotated[float, Field(ge=1, le=1_000_000)] | None = None
    """manual: sensitivity; 100 by default."""
    fstop: Annotated[float, Field(gt=0, le=64)] | None = None
    """manual: aperture, which also changes the depth of field; 1.4 by default."""

    @model_validator(mode="after")
    def _check_mode(self) -> Self:
        others = ("shutter_speed", "iso", "fstop") if self.mode == "histogram" else ("speed",)
        for key in others:
            if getattr(self, key) is not None:
                raise ValueError(f"{key} has no effect in mode {self.mode}: leave it out, or choose the other mode")
        return self

    @property
    def exposure(self) -> Exposure:
        """All of it as a record."""
        return Exposure(
            mode=self.mode,
            compensation=self.compensation,
            speed=self.speed or _USUAL.speed,
            shutter_speed=self.shutter_speed or _USUAL.shutter_speed,
            iso=self.iso or _USUAL.iso,
            fstop=self.fstop or _USUAL.fstop,
        )
