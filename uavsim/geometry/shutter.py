"""Shutters: rows of an image that are read one after the other, each exposed for a while, in steps of the simulation.

A row is read at the step that is nearest to its own instant, so that all that it shows is of one tick. The image's stamp is
the instant at which its first row begins to be exposed; the rows follow evenly within the readout.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uavsim.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Shutter:
    """A shutter; all of it is whole steps.

    Attributes:
        exposure_us: in which each row gathers light; 0 is an instant.
        readout_us: from the first row to the end of the last one; 0 is a global shutter.
        step_us: of the simulation.
    """

    exposure_us: int
    readout_us: int
    step_us: int

    @property
    def steps(self) -> int:
        """Steps after the image's own, of which images are taken for it, too."""
        return (self.exposure_us + self.readout_us) // self.step_us

    @cached_property
    def weights(self) -> FloatArray:
        """(E + 1,) shares of a row's light by the tick since its exposure began: light is linear between two ticks."""
        parts = self.exposure_us // self.step_us
        if not parts:
            return np.ones(1)
        return np.array([0.5, *[1.0] * (parts - 1), 0.5]) / parts

    def first_ticks(self, height_px: int) -> IntArray:
        """Return (H,) ticks at which the rows' exposures begin, counted from the image's own."""
        return np.asarray(np.floor(self.row_times_us(height_px) / self.step_us + 0.5), dtype=np.int64)

    def middle_ticks(self, height_px: int) -> IntArray:
        """Return (H,) ticks of the middles of the rows' exposures, the earlier one of two: what masks and depth show."""
        return self.first_ticks(height_px) + (self.exposure_us // self.step_us) // 2

    def row_times_us(self, height_px: int) -> FloatArray:
        """Return (H,) instants since the image's stamp at which a shutter without steps would begin each row."""
        return np.asarray(self.readout_us * (np.arange(height_px) + 0.5) / height_px)
