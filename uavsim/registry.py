"""Plug-ins: a registry holds the built-in objects of a kind and those that installed packages add; ``pick`` answers a typo.

A package adds an object by an entry point of the group ``uavsim.<kind>``::

    [project.entry-points."uavsim.exporters"]
    waymo = "my_package.waymo:export_waymo"
"""

import difflib
import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Generic, TypeVar

from uavsim.errors import InputError, UnknownNameError

__all__ = ["Named", "Registry", "nearest", "pick"]

T = TypeVar("T")
NO_MEMORY: Final = "failed to map segment"  # as the dynamic linker reports that this process may have no more memory


@dataclass(frozen=True, slots=True)
class Named(Generic[T]):
    """An object by its dotted name, ``package.module:object``; its module is imported when the object is asked for."""

    name: str

    def load(self) -> T:
        """Import the object.

        Raises:
            InputError: there is no such module or object, or what the module needs is not installed.
        """
        module, _, attribute = self.name.partition(":")
        try:
            found: T = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, SystemExit) as error:
            if NO_MEMORY in str(error):
                raise
            raise InputError(f"{self.name} cannot be imported: {error}") from error
        return found


class Registry(Generic[T]):
    """Objects of one kind by name; those of installed packages are loaded when they are picked.

    A name that two packages claim, or that a package claims beside a built-in one, is refused until one of them goes.
    """

    def __init__(
        self, kind: str, builtin: Mapping[str, T | Named[T]], *, what: str | None = None, expects: Any = None
    ) -> None:
        """Remember the built-in objects; installed packages are looked for at the first use.

        Args:
            kind: plural, the end of the entry points' group: ``exporters`` for ``uavsim.exporters``.
            builtin: the objects that are always there; one that is ``Named`` is imported when it is picked.
            what: the word for one of them in messages; by default ``kind`` less its s.
            expects: what a plug-in must be an instance of (``collections.abc.Callable`` for functions).
        """
        self.group = f"uavsim.{kind}"
        self._objects: dict[str, T | Named[T]] = dict(builtin)
        self._settled: dict[str, T] = {}  # cache: plans pick the same names ten thousand times
        self.builtin = tuple(builtin)
        self._what = what or kind.removesuffix("s")
        self._expects = expects

    def names(self) -> list[str]:
        """Return every name that can be picked: the built-in ones in their order, then the others sorted."""
        return [*self.builtin, *sorted(set(self._found) - set(self.builtin))]

    def pick(self, name: str) -> T:
        """Return the object of a name.

        Raises:
            UnknownNameError: no such name; the message names the nearest one.
            InputError: several packages claim the name, or the package that has it does not load.
        """
        if name in self._settled:
            return self._settled[name]
        pick(dict.fromkeys(self.names()), name, what=self._what)
        entries = self._found.get(name, [])
        owners = ["uavsim"] * (name in self.builtin) + [_package(entry) for entry in entries]
        if len(owners) > 1:
            raise InputError(f"{self._what} {name!r} is claimed by {' and '.join(owners)}; uninstall all but one")
        found = self._objects.get(name) or self._loaded(entries[0])
        picked: T = found.load() if isinstance(found, Named) else found
        self._objects[name] = self._settled[name] = picked
        return picked

    @cached_property
    def _found(self) -> dict[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        for entry in entry_points(group=self.group):
            found.setdefault(entry.name, []).append(entry)
        return found

    def _loaded(self, entry: EntryPoint) -> T:
        place = f"{self._what} {entry.name!r} of the package {_package(entry)}"
        try:
            plugin: T = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit() at import, too, would else end the command as if all were well
            reason = str(error).partition("\n")[0]
            raise InputError(f"{place} does not load: {type(error).__name__}: {reason}") from error
        if self._expects is not None and not isinstance(plugin, self._expects):
            raise InputError(f"{place}: {entry.value} is of type {type(plugin).__name__}, not {self._expects.__name__}")
        return plugin


def package_behind(error: BaseException) -> str | None:
    """Return the plug-in package, with its version, whose code raised an error; None when only uavsim's did."""
    modules = set()
    at = error.__traceback__
    while at is not None:
        modules.add(str(at.tb_frame.f_globals.get("__name__", "")).partition(".")[0])
        at = at.tb_next
    groups = [group for group in entry_points().groups if group.startswith("uavsim.")]
    entries = (entry for group in groups for entry in entry_points(group=group))
    foreign = (entry for entry in entries if not entry.module.startswith(("uavsim", "headless_simulator")))
    return next((_package(entry) for entry in foreign if entry.module.partition(".")[0] in modules), None)


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
        name: the name to look up.
        what: the word for it in the message ("formation", "town").

    Raises:
        UnknownNameError: no such name; the message names the nearest one.
    """
    if name in table:
        return table[name]
    guess = nearest(name, table)
    hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(sorted(table)) or 'none'}"
    raise UnknownNameError(f"unknown {what} {name!r}; {hint}")


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module
