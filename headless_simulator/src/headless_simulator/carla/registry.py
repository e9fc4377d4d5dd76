"""The table of RPC methods: each is a function of the server and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

Handler = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC method.

    Attributes:
        handler: takes the server and the wire arguments, returns the bare value.
        void: answers ``Response<void>``.
        bare: the returned value is the answer as it is.
    """

    handler: Handler
    void: bool = False
    bare: bool = False


METHODS: Final[dict[str, Method]] = {}


def method(name: str, *, void: bool = False, bare: bool = False) -> Callable[[Handler], Handler]:
    """Register a handler under its wire name."""

    def register(handler: Handler) -> Handler:
        assert name not in METHODS, name
        METHODS[name] = Method(handler, void=void, bare=bare)
        return handler

    return register
