"""A plan's record of agents that take images by clocks of their own, between the keyframes."""

from dataclasses import dataclass

from uavsim.records.sensors import Agent
from uavsim.typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ClocksPlan:
    """The clocks of A agents, the N times at which their cameras fire, and the M messages that these make.

    An agent's clock shows ``t * (1 + drift_ppm * 1e-6) + offset_us`` at the true time ``t`` since step 0.

    Attributes:
        agents: (A,) that have one: the drones first.
        rate_hz: of each clock.
        drift_ppm: (A,) of each clock.
        offset_us: (A,) of each clock.
        fires: (N,) places in ``agents``.
        step: (N,) of the plan, ascending, in which the images are taken.
        asked_us: (N,) true instants since step 0 at which the cameras were to fire; the step is the nearest one.
        message: (M,) places in ``step``: what was sent.
        receiver: (M,) places in ``agents``.
        arrival_us: (M,) true instants since step 0; NaN where it was lost.
    """

    agents: tuple[Agent, ...]
    rate_hz: float
    drift_ppm: FloatArray
    offset_us: FloatArray
    fires: IntArray
    step: IntArray
    asked_us: FloatArray
    message: IntArray
    receiver: IntArray
    arrival_us: FloatArray

    def agents_at(self, step: int) -> set[Agent]:
        """Return who takes images at a step."""
        first, last = self.step.searchsorted(step), self.step.searchsorted(step, side="right")
        return {self.agents[k] for k in self.fires[first:last].tolist()}
