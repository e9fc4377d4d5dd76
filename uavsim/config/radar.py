"""The block of a radar in a rig: ``mounted: {NOSE: {radar: {range_m: 120}}}``."""

from typing import Annotated

from pydantic import Field

from uavsim.config.rig import Block
from uavsim.records.radar import RadarParams

_ConeDeg = Annotated[float, Field(ge=1, le=160)]


class Radar(Block):
    """A radar that sends rays into a cone at each step of the simulation."""

    range_m: Annotated[float, Field(gt=0, le=1000)] = 100.0
    points_per_second: Annotated[int, Field(ge=1, le=2_000_000)] = 6000
    """Of which a measurement has this many times the step."""
    horizontal_fov_deg: _ConeDeg = 60.0
    vertical_fov_deg: _ConeDeg = 20.0
    noise_seed: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    """Draws the directions of its rays, the same in each scene."""

    def fault(self, *, step_us: int) -> tuple[str, str] | None:
        """See ``Block``: a measurement has a ray at least."""
        if self.points_per_second * step_us < 1_000_000:
            fewest = -(-1_000_000 // step_us)
            return "points_per_second", f"{self.points_per_second} are less than one a step; at least {fewest} are one"
        return None

    def params(self, *, step_us: int) -> RadarParams:
        """See ``Block``."""
        del step_us
        return RadarParams(
            self.range_m, self.points_per_second, self.horizontal_fov_deg, self.vertical_fov_deg, self.noise_seed
        )
