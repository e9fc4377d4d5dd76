"""Method tables: functions by RPC name, bound to their context.

The methods of a module are its public functions. ``bind`` joins them with their context, ``combine`` merges bound
tables and refuses duplicate names.
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
        name: name on the wire.
        handler: takes a context and the arguments that ``signature`` reads.
        signature: readers of the arguments.
        traits: protocol-specific properties.
    """

    name: str
    handler: Callable[Concatenate[ContextT, ...], Any]
    signature: Signature
    traits: TraitsT


def method(
    handler: Callable[Concatenate[ContextT, ...], Any], *, name: str = "", traits: TraitsT
) -> Method[ContextT, TraitsT]:
    """Describe a function as a method, under its own name or ``name``."""
    return Method(name or handler.__name__, handler, signature_of(handler), traits)


def public_functions(module: str) -> list[Callable[..., Any]]:
    """Return the public functions that a module defines, in source order."""
    named = vars(sys.modules[module]).items()
    return [f for name, f in named if inspect.isfunction(f) and f.__module__ == module and not name.startswith("_")]


@dataclass(frozen=True, slots=True)
class Bound(Generic[TraitsT]):
    """A method with its context."""

    method: Method[Any, TraitsT]
    context: Any

    @property
    def traits(self) -> TraitsT:
        """Protocol-specific properties of the method."""
        return self.method.traits

    def read(self, arguments: Sequence[Any]) -> list[Any]:
        """Read the arguments of one call.

        Raises:
            BadArgument: the arguments are invalid.
        """
        return self.method.signature.read(arguments)

    def run(self, arguments: Sequence[Any]) -> Any:
        """Execute a call with decoded arguments.

        Raises:
            ClientError: the client did something wrong.
            ConnectionAbortedError: the connection is to be closed instead of an answer.
            InternalError: any other exception; its traceback is on stderr.
        """
        return guarded(self.method.name, lambda: self.method.handler(self.context, *arguments))


def guarded(where: str, act: Callable[[], Any]) -> Any:
    """Run simulator code for a client, and separate its bugs from the client's mistakes.

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
    """Bind methods to their context.

    Raises:
        ValueError: two handlers have one name.
    """
    return combine(*({method.name: Bound(method, context)} for method in methods))


def combine(*tables: Mapping[str, Bound[TraitsT]]) -> dict[str, Bound[TraitsT]]:
    """Merge tables.

    Raises:
        ValueError: two handlers have one name.
    """
    combined: dict[str, Bound[TraitsT]] = {}
    for table in tables:
        duplicates = sorted(combined.keys() & table.keys())
        if duplicates:
            raise ValueError(f"methods with two handlers: {', '.join(duplicates)}")
        combined.update(table)
    return combined
