"""The table of what is measured at a rate of its own."""

from typing import Final, TypedDict

from uavsim.dataset.schema import Table


class StreamRow(TypedDict):
    """One sensor's readings over a scene; ``filename`` is a Parquet file.

    ``motion`` is ``planned``, known between the simulator's steps, too, or ``reported`` by the simulator at its steps.
    """

    token: str
    scene_token: str
    channel: str
    kind: str
    motion: str
    rate_hz: float
    count: int
    filename: str


STREAM: Final = Table.where_used("stream", StreamRow, "scene_token", refers=True)
TABLES: Final = (STREAM,)
