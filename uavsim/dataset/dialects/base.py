"""A dialect: one object that distinguishes it from others, and turns it into the strict dialect and back."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from uavsim.dataset.reader import DatasetReader, SceneRows
from uavsim.dataset.rows import DatasetInfo
from uavsim.dataset.schema import Table, Tables
from uavsim.typing import FloatArray

_Turn: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Frames:
    """A dialect's writing of places and rotations; each pair of functions undoes the other.

    Attributes:
        vector_from_map: (N, 3) vectors of the ``map`` frame -> the dialect's.
        vector_to_map: back.
        rotation_from_map: (N, 4) wxyz rotations, map <- body (x forward, y left, z up) -> the dialect's.
        rotation_to_map: back.
        size_columns: where width, length and height stand in ``size``.
    """

    vector_from_map: _Turn
    vector_to_map: _Turn
    rotation_from_map: _Turn
    rotation_to_map: _Turn
    size_columns: tuple[int, int, int]

    def size_from_wlh(self, size: list[float]) -> list[float]:
        """Return (width, length, height) in the dialect's order."""
        out = [0.0, 0.0, 0.0]
        for value, column in zip(size, self.size_columns, strict=True):
            out[column] = value
        return out

    def size_to_wlh(self, size: list[float]) -> list[float]:
        """Return the dialect's size as width, length, height."""
        return [size[column] for column in self.size_columns]


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file that is brought over: its path in the source and in the target; ``may_miss`` puts an empty one in its place."""

    old: str
    new: str
    may_miss: bool = False


class Conversion(Protocol):
    """One version folder on its way into another dialect: scene after scene, then what belongs to no scene."""

    def scene(self, scene: SceneRows) -> SceneRows:
        """Return a scene's rows in the other dialect."""
        ...

    def files(self, before: SceneRows, after: SceneRows) -> Iterable[FileMove]:
        """Return the files that the scene's rows name."""
        ...

    def shared(self) -> Tables:
        """Return the tables that belong to no scene; called once, after the last scene."""
        ...

    def shared_files(self, shared: Tables) -> Iterable[FileMove]:
        """Return the files that they name."""
        ...

    def info(self, row_count: dict[str, int]) -> DatasetInfo:
        """Return the dataset's description."""
        ...


@dataclass(frozen=True, slots=True)
class NoOptions:
    """Of a dialect that can be had in one way only."""


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """A way to write the tables of a dataset.

    ``strict`` is the hub: every other dialect converts from it and to it, and both ways lose nothing.

    Attributes:
        name: as in ``uavsim convert --dialect`` and ``uav_dataset.json``.
        detect: whether a dataset that does not report its dialect is in this one.
        frames: of places, rotations and sizes.
        checks: of the validator that only this dialect has to pass, beside those that all have to.
        tables: that it has beside ``schema.all_tables``.
        options: a frozen dataclass of choices, all with defaults.
        from_strict: starts the conversion of a strict version folder; None for ``strict`` itself.
        to_strict: starts the way back.
    """

    name: str
    detect: Callable[[DatasetReader], bool]
    frames: Frames
    checks: tuple[str, ...] = ()
    tables: tuple[Table[Any], ...] = ()
    options: type[Any] = NoOptions
    from_strict: Callable[[DatasetReader, Any], Conversion] | None = None
    to_strict: Callable[[DatasetReader], Conversion] | None = None
