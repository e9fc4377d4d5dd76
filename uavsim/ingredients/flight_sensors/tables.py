"""The table of what is measured at a rate of its own."""

from __future__ import annotations

from typing import Final, TypedDict

from uavsim.dataset.schema import Owner, Table

__all__ = ["STREAM", "TABLES", "StreamRow"]


class StreamRow(TypedDict):
    """One sensor's readings over a scene; ``filename`` is a NumPy file of an array with named fields."""

    token: str
    scene_token: str
    channel: str
    kind: str
    rate_hz: float
    count: int
    filename: str


STREAM: Final = Table(
    "stream",
    StreamRow,
    Owner.by("scene_token", "scene.token"),
    required=False,
    where_empty=False,
    references={"scene_token": "scene"},
)
TABLES: Final = (STREAM,)
