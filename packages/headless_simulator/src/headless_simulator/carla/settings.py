"""The clock's settings and their wire format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from headless_simulator.carla.values import optional
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import array, flag, number
from headless_simulator.world.large_map import Distances

_DEFAULT_STEP_S: Final = 0.05
_LONGEST_STEP_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Episode settings.

    Attributes:
        synchronous: clients own the clock.
        no_rendering: switches off the spectator's viewport; cameras draw all the same.
        fixed_step_s: length of a tick; None: the server's default.
        rest: settings stored for the client without effect here.
    """

    synchronous: bool = False
    no_rendering: bool = False
    fixed_step_s: float | None = None
    rest: tuple[Any, ...] = (True, 0.01, 10, 0.0, True, 3000.0, 2000.0, True)

    @property
    def step_s(self) -> float:
        """Length of the next tick, seconds."""
        return self.fixed_step_s or _DEFAULT_STEP_S

    @property
    def distances(self) -> Distances:
        """Streaming distances of large maps."""
        return Distances(*self.rest[5:8])

    def wire(self) -> list[Any]:
        """Encode the settings for clients."""
        step = [False] if self.fixed_step_s is None else [True, self.fixed_step_s]
        return [self.synchronous, self.no_rendering, step, *self.rest]

    def changed(self, wire: list[Any]) -> Settings:
        """Decode the settings of a client.

        Raises:
            BadArgument: a field cannot be read.
            CallRefused: the step is too long or negative.
        """
        rows = array(wire, "episode settings", least=3)
        step = optional(rows[2], "fixed_delta_seconds")
        if step is not None and not 0.0 <= number(step, "fixed_delta_seconds") <= _LONGEST_STEP_S:
            raise CallRefused(f"fixed_delta_seconds must be 0 to {_LONGEST_STEP_S:g} s, not {step}")
        rest = [
            flag(value, "settings flag") if isinstance(old, bool) else number(value, "settings number")
            for old, value in zip(self.rest, rows[3:], strict=False)
        ]
        stored = tuple(rest) + self.rest[len(rest) :]
        return replace(
            self,
            synchronous=flag(rows[0], "synchronous_mode"),
            no_rendering=flag(rows[1], "no_rendering_mode"),
            fixed_step_s=float(step) if step else None,
            rest=(*stored[:2], int(stored[2]), *stored[3:]),
        )
