"""The caller's identity, for the few methods with client-specific answers."""

from contextvars import ContextVar
from typing import Final

CALLER: Final[ContextVar[object]] = ContextVar("caller", default=None)
"""The connection of the call that the current thread serves."""
