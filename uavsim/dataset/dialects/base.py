"""The interface of a dialect: detection, and conversion from and to the strict dialect."""

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
    """A dialect's representation of vectors, rotations and sizes.

    Attributes:
        vector_from_map: (N, 3) vectors in the map frame -> (N, 3) vectors in the dialect's frame.
        vector_to_map: inverse of ``vector_from_map``.
        rotation_from_map: (N, 4) wxyz rotations, map <- body (x forward, y left, z up) -> the dialect's (N, 4) rotations.
        rotation_to_map: inverse of ``rotation_from_map``.
        size_columns: indices of width, length and height in ``size``.
    """

    vector_from_map: _Turn
    vector_to_map: _Turn
    rotation_from_map: _Turn
    rotation_to_map: _Turn
    size_columns: tuple[int, int, int]

    def size_from_wlh(self, size: list[float]) -> list[float]:
        """Reorder (width, length, height) to the dialect's order."""
        out = [0.0, 0.0, 0.0]
        for value, column in zip(size, self.size_columns, strict=True):
            out[column] = value
        return out

    def size_to_wlh(self, size: list[float]) -> list[float]:
        """Reorder the dialect's size to width, length, height."""
        return [size[column] for column in self.size_columns]


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file to copy: its path in the source and in the target; ``may_miss`` allows an empty file for a missing one."""

    old: str
    new: str
    may_miss: bool = False


class Conversion(Protocol):
    """The conversion of one version folder: scene by scene, then the shared tables."""

    def scene(self, scene: SceneRows) -> SceneRows:
        """Return a scene's rows in the other dialect."""

    def files(self, before: SceneRows, after: SceneRows) -> Iterable[FileMove]:
        """Return the files of the scene's rows."""

    def shared(self) -> Tables:
        """Return the shared tables, with rows of no scene; called once, after the last scene."""

    def shared_files(self, shared: Tables) -> Iterable[FileMove]:
        """Return the files of the shared tables."""

    def info(self, row_count: dict[str, int]) -> DatasetInfo:
        """Return the dataset's description."""


@dataclass(frozen=True, slots=True)
class NoOptions:
    """Options of a dialect without options."""


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """A variant of the tables of a dataset.

    Every dialect converts from ``strict`` and to ``strict`` without loss.

    Attributes:
        name: name in ``uavsim convert --dialect`` and ``uav_dataset.json``.
        detect: whether a dataset without a description has this dialect.
        frames: representation of vectors, rotations and sizes.
        checks: checks of the validator for this dialect only.
        tables: tables beside ``schema.all_tables``.
        options: a frozen dataclass with defaults for all fields.
        from_strict: starts the conversion of a strict version folder; None for ``strict`` itself.
        to_strict: starts the conversion to ``strict``.
    """

    name: str
    detect: Callable[[DatasetReader], bool]
    frames: Frames
    checks: tuple[str, ...] = ()
    tables: tuple[Table[Any], ...] = ()
    options: type[Any] = NoOptions
    from_strict: Callable[[DatasetReader, Any], Conversion] | None = None
    to_strict: Callable[[DatasetReader], Conversion] | None = None
