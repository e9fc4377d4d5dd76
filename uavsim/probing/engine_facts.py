"""Measured facts of a merged build and their consequences; without vendor imports, for ``doctor``."""

from dataclasses import dataclass
from typing import Final

NO_MERGED: Final = "topology merged does not support this simulator; use topology bridge or carla"
_MOVES_M: Final = 0.05
_STILL_M: Final = 1e-4


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """The measured facts.

    Attributes:
        returns_without_tick: a call that needs the game thread returned without a tick.
        returns_within_ticks: the call returned after a few ticks.
        car_moves_m: motion of the fastest actor in the same number of ticks before the pause.
        paused_moves_m: motion of the fastest actor in ticks under ``simPause``; None without snapshots.
    """

    returns_without_tick: bool
    returns_within_ticks: bool
    car_moves_m: float
    paused_moves_m: float | None

    @property
    def is_supported(self) -> bool:
        """Whether images can be captured: at once, or in ticks of a held world."""
        holds = self.paused_moves_m is not None and self.paused_moves_m <= _STILL_M and self.car_moves_m >= _MOVES_M
        return self.returns_without_tick or (self.returns_within_ticks and holds)

    @property
    def lines(self) -> tuple[str, str]:
        """Printed finding, and its remedy or ""."""
        asks = "return without a tick" if self.returns_without_tick else "wait for a tick"
        if self.paused_moves_m is None:
            ticks = "a tick under simPause sends no snapshot"
        else:
            ticks = f"ticks under simPause move a car by {self.paused_moves_m:.3f} m ({self.car_moves_m:.3f} m without)"
        found = f"AirSim's calls {asks}; {ticks}"
        if not self.is_supported:
            why = "a car could not be made to move" if self.car_moves_m < _MOVES_M else "images cannot be proven"
            return found, f"{why}: {NO_MERGED}"
        return found, ""
