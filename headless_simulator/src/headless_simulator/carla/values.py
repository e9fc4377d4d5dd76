"""Read what clients send: every value is checked before it reaches the world."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from headless_simulator.world.pose import Pose6

_FAR = 1e7


class BadArgument(Exception):
    """A value that a call cannot take; the text says which."""


class CallFailed(Exception):
    """A call that the server understood and refuses; the text is what the client gets."""


def number(value: Any, *, what: str = "number") -> float:
    """Read a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadArgument(f"{what} is not a finite number: {value!r:.80}")
    return float(value)


def integer(value: Any, *, what: str = "integer") -> int:
    """Read an integer."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadArgument(f"{what} is not an integer: {value!r:.80}")
    return value


def actor_id(value: Any) -> int:
    """Read an actor id."""
    return integer(value, what="actor id")


def flag(value: Any) -> bool:
    """Read a truth value."""
    if not isinstance(value, (bool, int)):
        raise BadArgument(f"not a truth value: {value!r:.80}")
    return bool(value)


def text(value: Any) -> str:
    """Read a text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str):
        raise BadArgument(f"not a text: {value!r:.80}")
    return value


def items(value: Any, *, least: int = 0, what: str = "array") -> list[Any]:
    """Read an array of at least ``least`` items."""
    if not isinstance(value, (list, tuple)) or len(value) < least:
        raise BadArgument(f"{what} is not an array of {least} or more: {value!r:.80}")
    return list(value)


def vector(value: Any, *, what: str = "vector") -> tuple[float, float, float]:
    """Read [x, y, z]."""
    x, y, z = (number(v, what=what) for v in items(value, least=3, what=what)[:3])
    if max(abs(x), abs(y), abs(z)) > _FAR:
        raise BadArgument(f"{what} is out of this world: {value!r:.80}")
    return x, y, z


def transform(value: Any) -> Pose6:
    """Read [[x, y, z], [pitch, yaw, roll]]."""
    location, rotation = items(value, least=2, what="transform")[:2]
    return (*vector(location, what="location"), *vector(rotation, what="rotation"))


def optional(value: Any) -> Any:
    """Read [false] or [true, value]."""
    parts = items(value, least=1, what="optional")
    return parts[1] if parts[0] and len(parts) > 1 else None


def pose_wire(pose: Sequence[float]) -> list[list[float]]:
    """Write a pose as a transform."""
    return [[float(v) for v in pose[:3]], [float(v) for v in pose[3:6]]]
