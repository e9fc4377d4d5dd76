"""Read YAML: a file becomes a frozen model, or an error of one line with file, line and key.

Size, depth and expansion of aliases are bounded; duplicate keys, tags and anything but plain data are refused. Words and
numbers follow YAML 1.2's core rules: ``no``, ``12:30`` and ``2024-01-01`` are words, ``1e3`` is a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy as np
import yaml
from pydantic import ValidationError

from uavsim.config import explain
from uavsim.config.base import Model
from uavsim.config.distribution import Distribution, DistributionError, distributions, with_plain, with_value
from uavsim.config.explain import KeyPath
from uavsim.errors import ConfigError

__all__ = ["Loaded", "Source", "display_path", "load", "parse"]

_MOST_SHOWN: Final = 20  # errors of one file
MAX_BYTES: Final = 2_000_000
MAX_DEPTH: Final = 24
MAX_VALUES: Final = 100_000
_PARSER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULL: Final = re.compile(r"|~|null|Null|NULL")
_BOOL: Final = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT: Final = re.compile(r"[-+]?[0-9]{1,40}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

M = TypeVar("M", bound=Model)


@dataclass(slots=True)
class _Node:
    """One value of the file with its line; ``plain`` until it has parts."""

    line: int
    plain: Any = None
    items: list[_Node] | None = None
    entries: dict[str, tuple[int, _Node]] | None = None
    open: bool = True  # an alias inside it would be a circle


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a configuration: makes errors that point at the line."""

    path: Path
    root: _Node = field(repr=False)

    def line(self, key_path: KeyPath) -> int:
        """Return the line of a value by its keys; if the file does not have it, of the nearest one above."""
        return self._walk(key_path)[0]

    def written(self, key_path: KeyPath) -> KeyPath:
        """Return the steps of a key path that are in the file: a short form has fewer than its model."""
        return self._walk(key_path)[1]

    def _walk(self, key_path: KeyPath) -> tuple[int, KeyPath]:
        node, line, steps = self.root, self.root.line, list[str | int]()
        for step in key_path:
            if isinstance(step, str) and node.entries is not None and step in node.entries:
                line, node = node.entries[step]
            elif isinstance(step, int) and node.items is not None and step < len(node.items):
                node = node.items[step]
                line = node.line
            else:
                continue
            steps.append(step)
        return line, tuple(steps)

    def error(self, key_path: KeyPath, what: str) -> ConfigError:
        """Make the error ``FILE:LINE: KEY: what``."""
        key = explain.key(key_path)
        return ConfigError(f"{display_path(self.path)}:{self.line(key_path)}: {key + ': ' if key else ''}{what}")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[M]):
    """A configuration with its name (the file's stem) and its source.

    Attributes:
        name: of the file, without its suffix.
        model: the values; a number that each scene draws has one of its bounds.
        source: makes errors that name the line.
        draws: the distributions of the numbers that each scene draws, by key path.
    """

    name: str
    model: M
    source: Source
    draws: Mapping[KeyPath, Distribution] = field(default_factory=dict)

    def drawn(self, rng_of: Callable[[str], np.random.Generator]) -> tuple[Loaded[M], dict[str, float]]:
        """Draw every number that a scene draws.

        Args:
            rng_of: returns the generator of a key such as ``traffic.vehicles``.

        Returns:
            The configuration of the scene, and the numbers by their keys.
        """
        model, numbers = self.model, {}
        for key_path, distribution in self.draws.items():
            key = explain.key(key_path)
            numbers[key] = distribution.draw(rng_of(key))
            model = with_value(model, key_path, numbers[key])
        return Loaded(self.name, model, self.source), numbers

    def error(self, key_path: KeyPath, what: str) -> ConfigError:
        """See ``Source.error``."""
        return self.source.error(key_path, what)


def display_path(path: Path) -> str:
    """Return the path for messages: relative if it is below the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def load(path: Path, model: type[M], *, text: str | None = None) -> Loaded[M]:
    """Read one file, or the text of one.

    Raises:
        ConfigError: it cannot be read, is not YAML, or does not fit the model; one line with file, line and key.
    """
    source = Source(path, _read(path) if text is None else _compose(path, text[:MAX_BYTES]))
    value = _plain(source.root, _Budget(path))
    if not isinstance(value, dict):
        raise source.error((), f"must hold keys and values, but is {explain.kind_word(value)}")
    try:
        draws = dict(distributions(value)) if model.drawable else {}
    except DistributionError as error:
        raise source.error(error.key_path, str(error)) from error
    for key_path in draws:
        if key_path[0] not in model.drawable:
            raise source.error(key_path, f"cannot be drawn for each scene; drawable: {', '.join(model.drawable)}")
    try:
        if not draws:
            return Loaded(path.stem, model.model_validate(value), source)
        return _with_draws(path.stem, value, model, source, draws)
    except ValidationError as error:
        key_path, what, in_file = explain.first(error, model, line_of=source.line)
        wrong = source.error(source.written(key_path) if in_file else key_path, what)
        every = explain.each(error, model, line_of=source.line)
        wrong.every = tuple(
            str(source.error(source.written(p) if in_file else p, said)) for p, said, in_file in every[:_MOST_SHOWN]
        )
        raise wrong from None


def _with_draws(
    name: str, value: dict[str, Any], model: type[M], source: Source, draws: dict[KeyPath, Distribution]
) -> Loaded[M]:
    """Check a file with all extremes of its distributions, and find the whole numbers."""
    for key_path, drawn in draws.items():
        probe = value
        for other, law in draws.items():
            probe = with_plain(probe, other, law.extremes[0] if other != key_path else law.extremes[0] + 0.5)
        try:
            model.model_validate(probe)
        except ValidationError as error:
            errors = [e for e in error.errors() if e["type"] in ("int_type", "int_from_float")]
            is_whole = any(e["loc"][: len(key_path)] == key_path for e in errors)
            draws[key_path] = replace(drawn, is_whole=is_whole)
    models = []
    for index in range(max(len(law.extremes) for law in draws.values())):
        probe = value
        for key_path, law in draws.items():
            probe = with_plain(probe, key_path, law.extremes[index % len(law.extremes)])
        models.append(model.model_validate(probe))
    return Loaded(name, models[0], source, draws)


def parse(path: Path, *, text: str | None = None) -> Any:
    """Read one file, or a text that was one, as plain dicts, tuples and values, without a model."""
    return _plain(_read(path) if text is None else _compose(path, text[:MAX_BYTES]), _Budget(path))


def _read(path: Path) -> _Node:
    """Read the file into nodes, checking what can be checked before anything is expanded."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise ConfigError(f"{display_path(path)}: cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{display_path(path)}:1: larger than {MAX_BYTES // 1_000_000} MB: not a configuration")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{display_path(path)}:{line}: not UTF-8 text (byte {error.start})") from error
    return _compose(path, text)


def _compose(path: Path, text: str) -> _Node:
    composer: _Composer | None = None
    try:
        loader = _PARSER(text)
        try:
            composer = _Composer(path, _events(loader))
            return composer.document()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        position = error.position if isinstance(error.position, int) else 0
        line = text.count("\n", 0, position) + 1
        raise ConfigError(
            f"{display_path(path)}:{line}: not YAML: contains a control character; leave it out"
        ) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise ConfigError(f"{display_path(path)}:{line}: not YAML: contains an unpaired surrogate") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        what = " ".join(str(part) for part in (error.context, error.problem) if part)
        near = composer.near if composer is not None else ""
        raise ConfigError(f"{display_path(path)}:{line}: {near}not YAML: {' '.join(what.split())}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{display_path(path)}:1: not YAML: {' '.join(str(error).split())}") from error


def _events(loader: Any) -> Iterator[Any]:
    while loader.check_event():
        yield loader.get_event()


class _Composer:
    """Makes nodes of parser events; never deeper than ``MAX_DEPTH``, so that no input can overflow the stack."""

    def __init__(self, path: Path, events: Iterator[Any]) -> None:
        self._path, self._events = path, events
        self._anchors: dict[str, _Node] = {}
        self._count = 0
        self._key_path: list[str | int] = []

    def document(self) -> _Node:
        root: _Node | None = None
        for event in self._events:
            if isinstance(event, (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent)):
                continue
            if isinstance(event, yaml.DocumentEndEvent):
                continue
            if root is not None:
                raise self._error(event, "the file has a second document; write it to a separate file")
            root = self._node(event, depth=0)
        return root or _Node(line=1, open=False)

    @property
    def near(self) -> str:
        """The key that is being read, as the start of a message."""
        return _near(self._key_path)

    def _node(self, event: Any, *, depth: int) -> _Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        self._count += 1
        if depth > MAX_DEPTH or self._count > MAX_VALUES:
            raise self._error(event, f"nested deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else "too many values")
        node = _Node(line=event.start_mark.line + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if isinstance(event, yaml.ScalarEvent):
            node.plain = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._refuse_tag(event, "seq")
            node.items = []
            while not isinstance(part := next(self._events), yaml.SequenceEndEvent):
                node.items.append(self._part(part, len(node.items), depth=depth + 1))
        else:
            self._refuse_tag(event, "map")
            self._fill_mapping(node, depth=depth)
        node.open = False
        return node

    def _fill_mapping(self, node: _Node, *, depth: int) -> None:
        node.entries = {}
        while not isinstance(part := next(self._events), yaml.MappingEndEvent):
            key = self._node(part, depth=depth + 1).plain
            if not isinstance(key, str) or not key:
                raise self._error(part, f"a key must be a word, not {explain.kind_word(key)}")
            if key in node.entries:
                first = node.entries[key][0]
                self._key_path.append(key)
                raise self._error(part, f"duplicate key (first in line {first})")
            line = part.start_mark.line + 1
            node.entries[key] = (line, self._part(None, key, depth=depth + 1))

    def _part(self, event: Any, step: str | int, *, depth: int) -> _Node:
        """Read one part of a list or mapping with its position; without an event, the next one."""
        self._key_path.append(step)
        node = self._node(event if event is not None else next(self._events), depth=depth)
        self._key_path.pop()
        return node

    def _alias(self, event: Any) -> _Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            raise self._error(event, f"*{event.anchor} is not an anchor of this file")
        if node.open:
            raise self._error(event, f"*{event.anchor} refers to a value that contains it")
        return node

    def _scalar(self, event: Any) -> Any:
        self._refuse_tag(event, "str")
        text: str = event.value
        if not event.implicit[0]:
            return text  # in quotes, or tagged as text
        if _NULL.fullmatch(text):
            return None
        if _BOOL.fullmatch(text):
            return text[0] in "tT"
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        return text

    def _refuse_tag(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", f"tag:yaml.org,2002:{kind}"):
            raise self._error(event, f"the tag {event.tag!r} is not allowed: plain values only")

    def _error(self, event: Any, what: str) -> ConfigError:
        return ConfigError(f"{display_path(self._path)}:{event.start_mark.line + 1}: {self.near}{what}")


@dataclass(slots=True)
class _Budget:
    """The number of values that aliases may still expand to."""

    path: Path
    left: int = MAX_VALUES


def _plain(node: _Node, budget: _Budget, key_path: KeyPath = ()) -> Any:
    """Turn nodes into dicts, tuples and values; aliases are expanded and counted."""
    budget.left -= 1
    if budget.left < 0:
        where = f"{display_path(budget.path)}:{node.line}: {_near(key_path[:1])}"
        raise ConfigError(f"{where}aliases unfold to more than {MAX_VALUES} values")
    if node.entries is not None:
        return {key: _plain(value, budget, (*key_path, key)) for key, (_, value) in node.entries.items()}
    if node.items is not None:
        return tuple(_plain(item, budget, (*key_path, i)) for i, item in enumerate(node.items))
    return node.plain


def _near(key_path: Sequence[str | int]) -> str:
    """Return the first few steps of a key path as the start of a message."""
    return f"{explain.key(tuple(key_path[:5]))}: " if key_path else ""
