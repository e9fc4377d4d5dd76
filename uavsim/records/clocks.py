"""A plan's record of agents that take images by clocks of their own, between the keyframes."""

from __future__ import annotations

from dataclasses import dataclass

from uavsim.records.sensors import Agent
from uavsim.typing import FloatArray, IntArray

__all__ = ["ClocksPlan"]


@dataclass(frozen=True, slots=True, eq=False)
class ClocksPlan:
    """The clocks of A drones, the N times at which their cameras fire, and the M messages that these make.

    An agent's clock shows ``t * (1 + drift_ppm * 1e-6) + offset_us`` at the true time ``t`` since step 0.

    Attributes:
        drone_ids: (A,) of the swarm.
        rate_hz: of each clock.
        drift_ppm: (A,) of each clock.
        offset_us: (A,) of each clock.
        drone: (N,) places in ``drone_ids``.
        step: (N,) of the plan, ascending, in which the images are taken.
        asked_us: (N,) true instants since step 0 at which the cameras were to fire; the step is the nearest one.
        message: (M,) places in ``step``: what was sent.
        receiver: (M,) places in ``drone_ids``.
        arrival_us: (M,) true instants since step 0; NaN where it was lost.
    """

    drone_ids: tuple[int, ...]
    rate_hz: float
    drift_ppm: FloatArray
    offset_us: FloatArray
    drone: IntArray
    step: IntArray
    asked_us: FloatArray
    message: IntArray
    receiver: IntArray
    arrival_us: FloatArray

    def agents_at(self, step: int) -> set[Agent]:
        """Return who takes images at a step."""
        first, last = self.step.searchsorted(step), self.step.searchsorted(step, side="right")
        return {Agent(self.drone_ids[k]) for k in self.drone[first:last].tolist()}
