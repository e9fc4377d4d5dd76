"""Descriptions of CARLA's methods: what their answers look like and what they need around them."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, TypeAlias, TypeVar

from headless_simulator.rpc.methods import Method, method, public_functions

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


def call(handler: Handler[ContextT], *, name: str = "", traits: Traits | None = None) -> CarlaMethod[ContextT]:
    """Describe a function as a method, under its own name or another one; one that returns nothing is void."""
    usual = Traits(is_void=inspect.signature(handler, eval_str=True).return_annotation is None)
    return method(handler, name=name, traits=traits or usual)


def declared(module: str, **traits: Traits) -> tuple[CarlaMethod[Any], ...]:
    """Describe a module's public functions as methods, by their own names.

    Args:
        module: its name.
        traits: of those, by name, that have other ones than ``call`` gives.
    """
    found = tuple(call(function, traits=traits.pop(function.__name__, None)) for function in public_functions(module))
    assert not traits, f"{module} has no {', '.join(traits)}"
    return found
