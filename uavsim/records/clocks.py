"""The plan of agents with clocks of their own, which trigger images between the keyframes."""

from dataclasses import dataclass

from uavsim.records.sensors import Agent
from uavsim.typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ClocksPlan:
    """The clocks of A agents, their N trigger times, and the resulting M messages.

    An agent's clock shows ``t * (1 + drift_ppm * 1e-6) + offset_us`` at the true time ``t`` since step 0.

    Attributes:
        agents: (A,) agents with clocks, the drones first.
        rate_hz: rate of each clock.
        drift_ppm: (A,).
        offset_us: (A,).
        fires: (N,) indices into ``agents``.
        step: (N,) plan steps of the images, ascending.
        asked_us: (N,) requested true times since step 0; ``step`` is the nearest step.
        message: (M,) indices into ``step``: the sent images.
        receiver: (M,) indices into ``agents``.
        arrival_us: (M,) true times since step 0; NaN for a lost message.
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
        """Return the agents that take images at a step."""
        first, last = self.step.searchsorted(step), self.step.searchsorted(step, side="right")
        return {self.agents[k] for k in self.fires[first:last].tolist()}
