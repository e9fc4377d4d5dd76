"""Descriptions of CARLA's methods: form of the answer and locking."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, TypeAlias, TypeVar

from headless_simulator.rpc.methods import Method, method, public_functions

ContextT = TypeVar("ContextT")
Handler: TypeAlias = Callable[Concatenate[ContextT, ...], Any]


def always(_arguments: list[Any]) -> bool:
    """Return True."""
    return True


def never(_arguments: list[Any]) -> bool:
    """Return False."""
    return False


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of a method.

    Attributes:
        is_void: answers ``Response<void>``.
        is_bare: the returned value is the answer, without a wrapper.
        is_locked: runs under the world's lock; other methods take the lock themselves.
        advances: whether a call with the wire arguments advances the simulation.
        is_spawn: spawns an actor, which a snapshot has to show before the answer.
    """

    is_void: bool = False
    is_bare: bool = False
    is_locked: bool = True
    advances: Callable[[list[Any]], bool] = never
    is_spawn: bool = False


CarlaMethod: TypeAlias = Method[ContextT, Traits]


def call(handler: Handler[ContextT], *, name: str = "", traits: Traits | None = None) -> CarlaMethod[ContextT]:
    """Describe a function as a method, under its own name or ``name``; a function that returns None is void."""
    usual = Traits(is_void=inspect.signature(handler, eval_str=True).return_annotation is None)
    return method(handler, name=name, traits=traits or usual)


def declared(module: str, **traits: Traits) -> tuple[CarlaMethod[Any], ...]:
    """Describe a module's public functions as methods.

    Args:
        module: module name.
        traits: traits by method name that differ from those of ``call``.
    """
    found = tuple(call(function, traits=traits.pop(function.__name__, None)) for function in public_functions(module))
    assert not traits, f"{module} has no {', '.join(traits)}"
    return found
