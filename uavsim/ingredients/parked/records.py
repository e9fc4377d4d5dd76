"""A plan's records of parked vehicles."""

from dataclasses import dataclass

__all__ = ["ParkedPlan"]


@dataclass(frozen=True, slots=True)
class ParkedPlan:
    """They are read when the scene begins; there is nothing to choose."""
