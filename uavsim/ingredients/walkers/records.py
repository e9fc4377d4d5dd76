"""What a plan says of walkers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WalkersPlan"]


@dataclass(frozen=True, slots=True)
class WalkersPlan:
    """How many are asked for; the recording says how many spawned."""

    walkers: int
