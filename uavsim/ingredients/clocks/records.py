"""The plan's record, which the scene's own schedule reads."""

from uavsim.records.clocks import ClocksPlan

__all__ = ["ClocksPlan"]
