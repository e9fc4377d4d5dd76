"""The key ``clocks`` of a dataset's YAML."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from uavsim.config.base import Model

__all__ = ["Clocks", "Messages"]

Fraction = Annotated[float, Field(ge=0, le=10)]


class Messages(Model):
    """The way of one agent's images to each other one."""

    latency_s: tuple[Fraction, Fraction] = (0.0, 0.0)
    """Least and most; each message draws its own, so that they overtake each other."""
    loss: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of messages that never arrive."""
    range_m: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """Farther apart, nothing arrives."""
    latency_s_per_km: Fraction = 0.0
    """On top, by the way from drone to drone when it is sent."""
    bandwidth_mbps: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Of each sender's radio, which sends one message after the other, to all at once; without it sending takes no time."""
    size_kb: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Of a message; without it its images as they are, three bytes a pixel."""
    line_of_sight: bool = False
    """Nothing arrives through an obstacle of the town (``obstacles`` of its YAML)."""

    @property
    def by_place(self) -> tuple[str, ...]:
        """Return the keys given that need to know where sender and receiver are."""
        return tuple(key for key in ("range_m", "latency_s_per_km", "line_of_sight") if getattr(self, key))

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.latency_s[0] > self.latency_s[1]:
            raise ValueError(f"latency_s: [least, most], and {self.latency_s[0]:g} is more than {self.latency_s[1]:g}")
        return self


class Clocks(Model):
    """Each agent's cameras fire together, by the agent's own clock; what differs between agents is drawn from the seed."""

    rate_hz: Annotated[float, Field(gt=0, le=1000)]
    """Of each agent, by its own clock."""
    phase_s: tuple[Fraction, Fraction] = (0.0, 0.0)
    """Of the first firing: least and most."""
    jitter_s: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Standard deviation of each firing's true time, cut off at three of it."""
    drift_ppm: Annotated[float, Field(ge=0, le=10_000)] = 0.0
    """At most, faster or slower."""
    offset_s: Fraction = 0.0
    """At most, ahead of the true time or behind it."""
    trigger: Literal["free", "synchronised", "request"] = "free"
    """``synchronised``: all fire by the true time; their stamps are still of their own clocks. ``request``: the first drone
    fires by its clock and asks the others, who fire as soon as that arrives (``latency_s`` and ``loss`` of ``messages``)."""
    ground: bool = False
    """Cars and roadside units have such clocks, too; else they take keyframes alone."""
    messages: Messages = Messages()

    @model_validator(mode="after")
    def _known_before_the_flight(self) -> Self:
        needs = self.messages.by_place or ("bandwidth_mbps",) * (self.messages.size_kb is None)
        if self.ground and (given := [key for key in needs if getattr(self.messages, key)]):
            instead = "give size_kb, too" if given[0] == "bandwidth_mbps" else "leave it out"
            raise ValueError(f"messages.{given[0]} is of drones alone, and ground is true: {instead}")
        return self
