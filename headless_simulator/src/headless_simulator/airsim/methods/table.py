"""How a method is entered in a table of calls, and how its arguments are checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from headless_simulator.airsim.ned import quat_of, vector_of

Handler = Callable[..., Any]
MANY: Final = 16  # more arguments than any method has


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC method.

    Attributes:
        handler: called with the simulation and the arguments of the wire.
        required: fewest arguments.
        allowed: most arguments.
        vehicle_at: place of the vehicle's name among the arguments, -1 when it has none.
    """

    handler: Handler
    required: int
    allowed: int
    vehicle_at: int

    def vehicle(self, arguments: list[Any]) -> str:
        """Give the vehicle that a call is about, "" for the first one or none."""
        if 0 <= self.vehicle_at < len(arguments) and isinstance(arguments[self.vehicle_at], str):
            return str(arguments[self.vehicle_at])
        return ""


Table = dict[str, Method]


def entry(table: Table, name: str = "") -> Callable[[Handler], Handler]:
    """Enter a function in a table under its own name or another one."""

    def enter(handler: Handler) -> Handler:
        parameters = list(inspect.signature(handler).parameters.values())[1:]
        required = sum(p.default is inspect.Parameter.empty for p in parameters)
        names = [p.name for p in parameters]
        spread = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
        required = required - spread
        allowed = MANY if spread else len(parameters)
        vehicle_at = names.index("vehicle") if "vehicle" in names else -1
        table[name or handler.__name__] = Method(handler, required, allowed, vehicle_at)
        return handler

    return enter


def number(value: Any, what: str) -> float:
    """Read a number of the wire.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{what} must be a number, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{what} is too large") from None


def finite(value: Any, what: str) -> float:
    """Read a finite number of the wire.

    Raises:
        ValueError: it is none.
    """
    read = number(value, what)
    if not math.isfinite(read):
        raise ValueError(f"{what} must be finite")
    return read


def whole(value: Any, what: str) -> int:
    """Read a whole number of the wire.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, int):
        raise ValueError(f"{what} must be a whole number, not {type(value).__name__}")
    return int(value)


def text(value: Any, what: str) -> str:
    """Read text of the wire.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, str):
        raise ValueError(f"{what} must be text, not {type(value).__name__}")
    return value


def finite_pose(value: Any) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    """Read a Pose whose parts are all finite.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, dict) or not {"position", "orientation"} <= value.keys():
        raise ValueError("expected a Pose: a map with 'position' and 'orientation'")
    position, quat = vector_of(value["position"]), quat_of(value["orientation"])
    if not all(map(math.isfinite, (*position, *quat))):
        raise ValueError("a Pose here must be finite")
    return position, quat
