"""What a plan says of walkers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WalkersPlan"]


@dataclass(frozen=True, slots=True)
class WalkersPlan:
    """How many are asked for; the recording tells how many spawned."""

    walkers: int
