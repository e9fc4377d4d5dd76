"""The shutter of a camera in a rig: ``shutter: {readout_s: 0.02, exposure_s: 0.01}``."""

import math
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from uavsim.config.base import Model
from uavsim.geometry.shutter import Shutter

_SHORTEST_US: Final = 1000  # of a dataset's ``step_s``


class CameraShutter(Model):
    """A rolling shutter: rows are read one after the other, each exposed for some time."""

    readout_s: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Time from the first row to the end of the last one; 0 is a global shutter."""
    exposure_s: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Exposure time of each row; 0 is an instant, without motion blur."""

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if not self.readout_s and not self.exposure_s:
            raise ValueError("a shutter needs readout_s or exposure_s above 0; otherwise remove it")
        return self

    def shutter(self, *, step_us: int) -> Shutter:
        """Return it in steps of the simulation."""
        return Shutter(round(self.exposure_s * 1e6), round(self.readout_s * 1e6), step_us)

    def fault(self, *, step_us: int, image_us: int) -> tuple[str, str] | None:
        """Return the wrong key and why images of whole steps cannot make it, with the nearest possible values.

        Args:
            step_us: of the simulation.
            image_us: between two images of a camera.
        """
        for key in ("readout_s", "exposure_s"):
            wanted_s = getattr(self, key)
            steps = wanted_s * 1e6 / step_us
            if abs(steps - round(steps)) > 1e-6:
                near = sorted({max(int(steps), 0 if int(steps) else 1), int(steps) + 1})
                values = " or ".join(f"{step * step_us / 1e6:g}" for step in near)
                times_us = (round(seconds * 1e6) for seconds in (self.readout_s, self.exposure_s))
                other = _other_step(step_us, image_us, *times_us)
                return key, (
                    f"{wanted_s:g} is not a multiple of step_s={step_us / 1e6:g}, at which images are taken; possible: "
                    f"{values}{other}"
                )
        longest_s = (image_us - step_us) / 1e6
        if self.readout_s + self.exposure_s > longest_s + 1e-9:
            key = "readout_s" if self.readout_s >= self.exposure_s else "exposure_s"
            other_s = self.exposure_s if key == "readout_s" else self.readout_s
            return key, (
                f"the shutter is open for {self.readout_s + self.exposure_s:g} s, but the next image begins after "
                f"{image_us / 1e6:g} s; the nearest {key} is {max(longest_s - other_s, 0.0):g}"
            )
        return None


def _other_step(step_us: int, *times_us: int) -> str:
    """Return the longest step, up to the simulation's, that divides all times; "" if it would be too short."""
    common_us = math.gcd(*times_us)
    step_us = max(step for step in range(1, step_us + 1) if common_us % step == 0)
    return f", or step_s: {step_us / 1e6:g}" if step_us >= _SHORTEST_US else ""
