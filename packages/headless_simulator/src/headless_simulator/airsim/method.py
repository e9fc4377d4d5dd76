"""Descriptions of AirSim's methods, with the position of the vehicle argument."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, Final, TypeAlias

from headless_simulator.airsim.simulation import Simulation
from headless_simulator.rpc import methods
from headless_simulator.rpc.arguments import signature_of
from headless_simulator.rpc.methods import Method

Handler: TypeAlias = Callable[Concatenate[Simulation, ...], Any]
VEHICLE: Final = "vehicle_name"


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of a method.

    Attributes:
        vehicle_at: position of the vehicle's name among the arguments, or None.
    """

    vehicle_at: int | None

    def vehicle(self, arguments: Sequence[Any]) -> str:
        """Return the vehicle name of a call, "" for the first vehicle or none."""
        if self.vehicle_at is None or self.vehicle_at >= len(arguments):
            return ""
        name = arguments[self.vehicle_at]
        return name if isinstance(name, str) else ""


AirSimMethod: TypeAlias = Method[Simulation, Traits]


def call(handler: Handler, *, name: str = "") -> AirSimMethod:
    """Describe a function as a method, under its own name or ``name``."""
    return methods.method(handler, name=name, traits=Traits(signature_of(handler).index_of(VEHICLE)))


def declared(module: str) -> tuple[AirSimMethod, ...]:
    """Describe a module's public functions as methods."""
    return tuple(map(call, methods.public_functions(module)))
