"""Plug-ins are dictionaries; ``pick`` answers a typo with the nearest name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from uavsim.errors import UnknownNameError

__all__ = ["nearest", "pick"]

T = TypeVar("T")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like ``name``, or None when nothing is like it."""
    known = sorted(known)
    by_folded = {k.casefold(): k for k in reversed(known)}
    hits = difflib.get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=0.5)
    return by_folded[hits[0]] if hits else None


def pick(table: Mapping[str, T], name: str, *, what: str) -> T:
    """Return ``table[name]``, or say what is there.

    Args:
        table: the plug-ins by name.
        name: what the user asked for.
        what: the word for it in the message ("formation", "town").

    Raises:
        UnknownNameError: no such name; the message names the nearest one.
    """
    if name in table:
        return table[name]
    guess = nearest(name, table)
    hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(sorted(table)) or 'none'}"
    raise UnknownNameError(f"unknown {what} {name!r}; {hint}")
