"""Plug-ins are dictionaries; ``pick`` answers a typo with the nearest name, ``with_plugins`` adds those of other packages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import TypeVar

from uavsim.errors import InputError, UnknownNameError

__all__ = ["nearest", "pick", "with_plugins"]

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


def with_plugins(built_in: Mapping[str, T], *, group: str, kind: type[T]) -> dict[str, T]:
    """Return our own plug-ins and those that installed packages offer under an entry point group.

    Args:
        built_in: ours, by name; they come first.
        group: the entry point group; an entry point's name is the plug-in's name, its object the plug-in.
        kind: what each must be.

    Raises:
        InputError: an entry point cannot be loaded, is something else, or takes a name that is taken.
    """
    table = dict(built_in)
    for point in sorted(entry_points(group=group), key=lambda p: p.name):
        where = f"entry point {point.name!r} of {group} ({point.value})"
        try:
            plugin = point.load()
        except (ImportError, AttributeError) as error:
            raise InputError(f"{where} cannot be loaded: {error}") from error
        if not isinstance(plugin, kind):
            raise InputError(f"{where} is a {type(plugin).__name__}, not a {kind.__name__}")
        if point.name in table:
            raise InputError(f"{where} takes a name that is taken")
        table[point.name] = plugin
    return table
