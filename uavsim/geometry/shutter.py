"""Rolling and global shutters: the exposure of each image row, in simulation steps.

The tick nearest to a row's own instant supplies the whole row. The image's timestamp is the instant at which the exposure of
its first row begins; the other rows follow at equal intervals within the readout.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uavsim.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Shutter:
    """A shutter with times in whole simulation steps.

    Attributes:
        exposure_us: exposure time of a row; 0 for an instant.
        readout_us: time from the first row to the end of the last one; 0 for a global shutter.
        step_us: simulation step.
    """

    exposure_us: int
    readout_us: int
    step_us: int

    @property
    def steps(self) -> int:
        """Number of steps after the image's own at which images must be captured, too."""
        return (self.exposure_us + self.readout_us) // self.step_us

    @cached_property
    def weights(self) -> FloatArray:
        """(E + 1,) weights of the ticks of a row's exposure (trapezoidal rule: light is linear between two ticks); sum 1."""
        parts = self.exposure_us // self.step_us
        if not parts:
            return np.ones(1)
        return np.array([0.5, *[1.0] * (parts - 1), 0.5]) / parts

    def first_ticks(self, height_px: int) -> IntArray:
        """Return (H,) int64 ticks at which the rows' exposures begin, counted from the image's own."""
        return np.asarray(np.floor(self.row_times_us(height_px) / self.step_us + 0.5), dtype=np.int64)

    def middle_ticks(self, height_px: int) -> IntArray:
        """Return (H,) int64 ticks of the middles of the exposures (the earlier of two), which masks and depth show."""
        return self.first_ticks(height_px) + (self.exposure_us // self.step_us) // 2

    def row_times_us(self, height_px: int) -> FloatArray:
        """Return (H,) microseconds from the image's timestamp to the start of each row's exposure, not rounded to steps."""
        return np.asarray(self.readout_us * (np.arange(height_px) + 0.5) / height_px)
