"""The clock's settings, as clients read and write them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from headless_simulator.carla import values
from headless_simulator.carla.values import CallFailed

_DEFAULT_STEP_S: Final = 0.05
_LONGEST_STEP_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Episode settings.

    Attributes:
        synchronous: clients own the clock.
        no_rendering: cameras send nothing.
        fixed_step_s: length of a tick; None: chosen here.
        rest: what is kept for the client and changes nothing here.
    """

    synchronous: bool = False
    no_rendering: bool = False
    fixed_step_s: float | None = None
    rest: tuple[Any, ...] = (True, 0.01, 10, 0.0, True, 3000.0, 2000.0, True)

    @property
    def step_s(self) -> float:
        """Length of the next tick."""
        return self.fixed_step_s or _DEFAULT_STEP_S

    def wire(self) -> list[Any]:
        """As clients read it."""
        step = [False] if self.fixed_step_s is None else [True, self.fixed_step_s]
        return [self.synchronous, self.no_rendering, step, *self.rest]

    def changed(self, wire: list[Any]) -> Settings:
        """As a client wants it."""
        rows = values.items(wire, least=3, what="episode settings")
        step = values.optional(rows[2])
        if step is not None and not 0.0 <= values.number(step, what="fixed_delta_seconds") <= _LONGEST_STEP_S:
            raise CallFailed(f"fixed_delta_seconds {step} is not within 0 to {_LONGEST_STEP_S:g} s")
        rest = [
            values.flag(v) if isinstance(old, bool) else values.number(v)
            for old, v in zip(self.rest, rows[3:], strict=False)
        ]
        kept = tuple(rest) + self.rest[len(rest) :]
        kept = (*kept[:2], int(kept[2]), *kept[3:])
        return replace(
            self,
            synchronous=values.flag(rows[0]),
            no_rendering=values.flag(rows[1]),
            fixed_step_s=float(step) if step else None,
            rest=kept,
        )
