"""Plug-ins are dictionaries; ``pick`` answers a typo with the nearest name. Other packages add to one by entry points."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import TypeVar

from uavsim.errors import InputError, UnknownNameError

__all__ = ["entry_point_names", "nearest", "pick", "pick_extended"]

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
    raise _unknown(name, table, what=what)


def pick_extended(table: Mapping[str, T], name: str, *, group: str, kind: type[T], what: str) -> T:
    """Return ``table[name]``, or what an installed package offers under that name; only that one package is imported.

    Args:
        table: the plug-ins of ours; they go first.
        name: what the user asked for.
        group: the entry points' group.
        kind: what an entry must be.
        what: the word for it in the message.

    Raises:
        UnknownNameError: no such name; the message names the nearest one.
        InputError: the package's entry cannot be imported, or is something else.
    """
    if name in table:
        return table[name]
    found = [entry for entry in entry_points(group=group) if entry.name == name]
    if not found:
        raise _unknown(name, [*table, *entry_point_names(group)], what=what)
    try:
        value = found[0].load()
    except (ImportError, AttributeError) as error:
        raise InputError(f"{what} {name!r}: {found[0].value} cannot be imported: {error}") from error
    if not isinstance(value, kind):
        raise InputError(f"{what} {name!r}: {found[0].value} is a {type(value).__name__}, not a {kind.__name__}")
    return value


def entry_point_names(group: str) -> list[str]:
    """Return what installed packages offer in a group, sorted; nothing is imported."""
    return sorted({entry.name for entry in entry_points(group=group)})


def _unknown(name: str, known: Iterable[str], *, what: str) -> UnknownNameError:
    known = sorted(known)
    guess = nearest(name, known)
    hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(known) or 'none'}"
    return UnknownNameError(f"unknown {what} {name!r}; {hint}")
