"""Method tables: functions by RPC name, bound to the object that they work on.

The methods of a module are its public functions. ``bind`` joins them with the context that they need, ``combine``
puts bound tables together and refuses a name that is there twice.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, TypeVar

from headless_simulator.errors import ClientError
from headless_simulator.rpc.arguments import Signature, signature_of
from headless_simulator.terminal import note_bug

ContextT = TypeVar("ContextT")
TraitsT = TypeVar("TraitsT")


class InternalError(Exception):
    """An unexpected exception in a call; its traceback is on stderr already."""


@dataclass(frozen=True, slots=True)
class Method(Generic[ContextT, TraitsT]):
    """One RPC method.

    Attributes:
        name: on the wire.
        handler: takes a context and the arguments that ``signature`` read.
        signature: how the arguments are read.
        traits: what else the protocol has to know of it.
    """

    name: str
    handler: Callable[Concatenate[ContextT, ...], Any]
    signature: Signature
    traits: TraitsT


def method(
    handler: Callable[Concatenate[ContextT, ...], Any], *, name: str = "", traits: TraitsT
) -> Method[ContextT, TraitsT]:
    """Describe a function as a method, under its own name or another one."""
    return Method(name or handler.__name__, handler, signature_of(handler), traits)


def public_functions(module: str) -> list[Callable[..., Any]]:
    """Return the functions without an underscore that a module itself defines, in its order."""
    named = vars(sys.modules[module]).items()
    return [f for name, f in named if inspect.isfunction(f) and f.__module__ == module and not name.startswith("_")]


@dataclass(frozen=True, slots=True)
class Bound(Generic[TraitsT]):
    """A method and the context that it works on."""

    method: Method[Any, TraitsT]
    context: Any

    @property
    def traits(self) -> TraitsT:
        """The protocol's own properties of the method."""
        return self.method.traits

    def read(self, arguments: Sequence[Any]) -> list[Any]:
        """Read the arguments of one call.

        Raises:
            BadArgument: they are not what the method takes.
        """
        return self.method.signature.read(arguments)

    def run(self, arguments: Sequence[Any]) -> Any:
        """Carry out a call with arguments that were read.

        Raises:
            ClientError: the client did something wrong.
            ConnectionAbortedError: the connection is to be closed instead of an answer.
            InternalError: any other exception; its traceback is on stderr.
        """
        return guarded(self.method.name, lambda: self.method.handler(self.context, *arguments))


def guarded(where: str, act: Callable[[], Any]) -> Any:
    """Run our own code for a client and keep its bugs apart from the client's mistakes.

    Raises:
        ClientError: the client did something wrong.
        ConnectionAbortedError: the connection is to be closed instead of an answer.
        InternalError: any other exception; its traceback is on stderr.
    """
    try:
        return act()
    except (ClientError, ConnectionAbortedError, InternalError):
        raise
    except Exception as bug:
        note_bug(where, bug)
        raise internal_error(where, bug) from bug


def internal_error(where: str, bug: BaseException) -> InternalError:
    """Return the error that a client receives for a bug of the simulator."""
    return InternalError(f"internal error of the headless simulator in {where}: {type(bug).__name__}: {bug!s:.200}")


def bind(methods: Iterable[Method[ContextT, TraitsT]], context: ContextT) -> dict[str, Bound[TraitsT]]:
    """Join methods with the context that they work on.

    Raises:
        ValueError: a name is there twice.
    """
    return combine(*({method.name: Bound(method, context)} for method in methods))


def combine(*tables: Mapping[str, Bound[TraitsT]]) -> dict[str, Bound[TraitsT]]:
    """Put tables together.

    Raises:
        ValueError: a name is there twice.
    """
    whole: dict[str, Bound[TraitsT]] = {}
    for table in tables:
        twice = sorted(whole.keys() & table.keys())
        if twice:
            raise ValueError(f"methods that are there twice: {', '.join(twice)}")
        whole.update(table)
    return whole
