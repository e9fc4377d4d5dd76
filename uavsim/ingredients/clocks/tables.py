"""The tables of clocks, of images between keyframes by their clocks, and of the messages that these make."""

from typing import Final, TypedDict

from uavsim.dataset.schema import Table


class ClockRow(TypedDict):
    """One agent's clock, and the simulation's step.

    At ``t`` us of a scene that begins at ``t0`` it shows ``t + (t - t0) * drift_ppm * 1e-6 + offset_us``.
    """

    token: str
    scene_token: str
    agent: str
    rate_hz: float
    step_us: int
    drift_ppm: float
    offset_us: float


class ClockReadingRow(TypedDict):
    """One image that was taken by its agent's clock; ``sample_data.timestamp`` is the true time at which it was.

    ``asked_us`` is the true time at which it was to be taken, after the scene's begin; ``residual_us`` is how much later it
    was, at most half a step of the simulation. ``agent_timestamp`` is what the agent's clock showed when it was taken.
    """

    token: str
    sample_data_token: str
    asked_us: float
    residual_us: float
    agent_timestamp: int


class MessageRow(TypedDict):
    """The images of one firing on the way to another agent; ``arrival`` is 0 where they were lost."""

    token: str
    scene_token: str
    sender: str
    receiver: str
    timestamp: int
    arrival: int


CLOCK: Final = Table.where_used("clock", ClockRow, "scene_token", refers=True)
CLOCK_READING: Final = Table.where_used("clock_reading", ClockReadingRow, "sample_data_token", refers=True)
MESSAGE: Final = Table.where_used("message", MessageRow, "scene_token", refers=True)
TABLES: Final = (CLOCK, CLOCK_READING, MESSAGE)
