"""Faults on demand (in work: nothing goes wrong yet)."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shot:
    """One delivery of a sensor's frame: what its header says, and how many ticks late it comes."""

    stamp: Any
    delay_ticks: int = 0


class Faults:
    """Nothing goes wrong."""

    def version(self, true: str) -> str:
        """Version that is told."""
        return true

    def map_name(self, true: str) -> str:
        """Map name that is told."""
        return true

    @contextlib.contextmanager
    def watched(self, connection: socket.socket) -> Iterator[None]:  # noqa: ARG002
        """Keep hold of an RPC connection while it is served."""
        yield

    def before_call(self, name: str) -> None:
        """Run before an RPC is answered."""

    def before_tick(self, frame: int) -> None:
        """Run before a tick."""

    def before_spawn(self, blueprint: str) -> None:
        """Run before a spawn."""

    def frames(self, actor_id: int, blueprint: str, stamp: Any) -> list[Shot]:  # noqa: ARG002
        """Deliveries of one sensor's frame."""
        return [Shot(stamp)]
