"""The caller's identity: the few methods that answer one client otherwise than others ask here."""

from contextvars import ContextVar
from typing import Final

CALLER: Final[ContextVar[object]] = ContextVar("caller", default=None)
"""The connection of the call that this thread answers."""
