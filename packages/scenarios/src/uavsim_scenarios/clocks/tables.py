"""The tables of clocks, of images between keyframes by their clocks, and of the messages that these make."""

from uavsim.dataset.rows import ClockReadingRow, ClockRow, MessageRow
from uavsim.dataset.schema import CLOCK, CLOCK_READING, MESSAGE

__all__ = ["CLOCK", "CLOCK_READING", "MESSAGE", "ClockReadingRow", "ClockRow", "MessageRow"]
