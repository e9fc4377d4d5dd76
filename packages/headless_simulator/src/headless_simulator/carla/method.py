"""Descriptions of CARLA's methods: what their answers look like and what they need around them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, TypeAlias, TypeVar

from headless_simulator.rpc.methods import Method, method

ContextT = TypeVar("ContextT")
Handler: TypeAlias = Callable[Concatenate[ContextT, ...], Any]


def always(_arguments: list[Any]) -> bool:
    """Say yes, whatever the arguments are."""
    return True


def never(_arguments: list[Any]) -> bool:
    """Say no, whatever the arguments are."""
    return False


@dataclass(frozen=True, slots=True)
class Traits:
    """The server's knowledge of a method.

    Attributes:
        is_void: answers ``Response<void>``.
        is_bare: the returned value is the answer as it is.
        is_locked: runs under the world's lock; the others take it themselves where they need it.
        advances: whether a call with those wire arguments makes the simulation advance.
        is_spawn: brings an actor into the world, which a snapshot has to show before the client hears of it.
    """

    is_void: bool = False
    is_bare: bool = False
    is_locked: bool = True
    advances: Callable[[list[Any]], bool] = never
    is_spawn: bool = False


CarlaMethod: TypeAlias = Method[ContextT, Traits]


def value(handler: Handler[ContextT], *, name: str = "", traits: Traits = Traits()) -> CarlaMethod[ContextT]:
    """Describe a method that answers a value."""
    return method(handler, name=name, traits=traits)


def void(handler: Handler[ContextT], *, name: str = "", traits: Traits = Traits(is_void=True)) -> CarlaMethod[ContextT]:
    """Describe a method that answers nothing."""
    assert traits.is_void, "a void method"
    return method(handler, name=name, traits=traits)
