"""Registries of built-in objects and plug-ins by name; ``pick`` suggests the nearest name for a typo.

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
    """An object by its dotted name, ``package.module:object``, imported at first use."""

    name: str

    def load(self) -> T:
        """Import the object.

        Raises:
            InputError: the module, the object or a dependency does not exist.
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
    """Objects of one kind by name; plug-ins are loaded at first use.

    A name with two owners is refused.
    """

    def __init__(
        self, kind: str, builtin: Mapping[str, T | Named[T]], *, what: str | None = None, expects: Any = None
    ) -> None:
        """Store the built-in objects; the first use searches installed packages.

        Args:
            kind: plural, the end of the entry points' group: ``exporters`` for ``uavsim.exporters``.
            builtin: built-in objects; a ``Named`` one is imported at first use.
            what: singular in messages; default: ``kind`` without its s.
            expects: required type of a plug-in (``collections.abc.Callable`` for functions).
        """
        self.group = f"uavsim.{kind}"
        self._objects: dict[str, T | Named[T]] = dict(builtin)
        self._settled: dict[str, T] = {}  # cache: plans pick the same names ten thousand times
        self.builtin = tuple(builtin)
        self._what = what or kind.removesuffix("s")
        self._expects = expects

    def names(self) -> list[str]:
        """Return all names: the built-in ones in their order, then plug-ins sorted."""
        return [*self.builtin, *sorted(set(self._found) - set(self.builtin))]

    def pick(self, name: str) -> T:
        """Return the object of a name.

        Raises:
            UnknownNameError: no such name; the message names the nearest one.
            InputError: several packages have the name, or its package does not load.
        """
        if name in self._settled:
            return self._settled[name]
        pick(dict.fromkeys(self.names()), name, what=self._what)
        entries = self._found.get(name, [])
        owners = ["uavsim"] * (name in self.builtin) + [_package(entry) for entry in entries]
        if len(owners) > 1:
            raise InputError(f"{self._what} {name!r} is defined by {' and '.join(owners)}; uninstall all but one")
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
        label = f"{self._what} {entry.name!r} of the package {_package(entry)}"
        try:
            plugin: T = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit() at import, too, would else end the command as if all were well
            reason = str(error).partition("\n")[0]
            raise InputError(f"{label} does not load: {type(error).__name__}: {reason}") from error
        if self._expects is not None and not isinstance(plugin, self._expects):
            raise InputError(f"{label}: {entry.value} is of type {type(plugin).__name__}, not {self._expects.__name__}")
        return plugin


def package_behind(error: BaseException) -> str | None:
    """Return name and version of the plug-in package that raised an error; None for uavsim's own errors."""
    modules = set()
    frame = error.__traceback__
    while frame is not None:
        modules.add(str(frame.tb_frame.f_globals.get("__name__", "")).partition(".")[0])
        frame = frame.tb_next
    groups = [group for group in entry_points().groups if group.startswith("uavsim.")]
    entries = (entry for group in groups for entry in entry_points(group=group))
    foreign = (entry for entry in entries if not entry.module.startswith(("uavsim", "headless_simulator")))
    return next((_package(entry) for entry in foreign if entry.module.partition(".")[0] in modules), None)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to ``name``, or None."""
    known = sorted(known)
    by_folded = {k.casefold(): k for k in reversed(known)}
    hits = difflib.get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=0.5)
    return by_folded[hits[0]] if hits else None


def pick(table: Mapping[str, T], name: str, *, what: str) -> T:
    """Return ``table[name]``, or raise an error with the nearest name.

    Args:
        table: the plug-ins by name.
        name: the name to look up.
        what: kind of the name in the message ("formation", "town").

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
