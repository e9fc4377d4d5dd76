"""The table of what is measured at a rate of its own."""

from uavsim.dataset.rows import StreamRow
from uavsim.dataset.schema import STREAM

__all__ = ["STREAM", "StreamRow"]
