"""A plan's records of walkers."""

from dataclasses import dataclass

__all__ = ["WalkersPlan"]


@dataclass(frozen=True, slots=True)
class WalkersPlan:
    """The requested walkers; the recording says how many spawned."""

    walkers: int
