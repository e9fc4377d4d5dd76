"""Read a dataset in any dialect scene by scene, with one scene in memory.

Tables that uavsim wrote have their rows in order of the scenes: all tables are read together, and each scene takes its rows.
Tables in any other order are read completely and grouped.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from uavsim.dataset.collector import collector_paused
from uavsim.dataset.named import check_scene_names, check_shared_names, check_splits
from uavsim.dataset.rows import DatasetInfo, SceneRow
from uavsim.dataset.schema import (
    DATASET_INFO,
    REQUIRED,
    SPLITS,
    UAV3D_TABLES,
    Owner,
    Table,
    Tables,
    all_tables,
    refuse_unknown,
    scene_tables,
)
from uavsim.dataset.tables import iter_rows, read_rows
from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.files.names import DataFolder, check_part
from uavsim.files.parse import parse_json, read_regular
from uavsim.files.unfinished import refuse_without_tables
from uavsim.registry import nearest
from uavsim.typing import JsonDict

Row = TypeVar("Row", bound=Mapping[str, object])


@dataclass(frozen=True, slots=True, eq=False)
class SceneRows:
    """One scene: its row of ``scene`` and its rows of every other table, in table order."""

    scene: SceneRow
    rows: Tables


class DatasetReader:
    """One version of a dataset."""

    def __init__(
        self, root: Path, version: str, *, tables: Iterable[Table[Any]] = (), required: Iterable[str] = REQUIRED
    ) -> None:
        """Open the tables, and verify that the required ones exist.

        Args:
            root: the dataset's folder.
            version: name of the version folder.
            tables: tables of the dialect beside ``schema.all_tables``.
            required: names of required tables; default: the 13 that the devkit opens.

        Raises:
            DatasetError: a required table is missing.
        """
        self.root, self.version = root, version
        self.folder = root / check_part(version, what=f"{root}: version")
        self._files = DataFolder(root)
        known = (*all_tables(), *tables)
        self._known = (*known, *UAV3D_TABLES)
        for name in ("", *(table.file for table in known), SPLITS, DATASET_INFO):
            outside = self._files.leads_outside(f"{version}/{name}")
            if outside:
                raise DatasetError(f"{self.folder / name}: {outside}")
        missing = [name for name in required if not self._path(name).is_file()]
        if missing:
            raise DatasetError(f"{self.folder}: not a dataset: {missing[0]}.json is missing")
        self.tables = [table for table in known if (self.folder / table.file).is_file()]
        """The known tables of the dataset."""
        self._per_scene = scene_tables(self.tables)

    @property
    def info(self) -> DatasetInfo:
        """The dataset's description; {} without one."""
        return cast("DatasetInfo", self._json(DATASET_INFO))

    @property
    def splits(self) -> dict[str, list[str]]:
        """Scene names by split; {} without splits."""
        splits = self._json(SPLITS)
        check_splits(self._files, splits)
        return splits

    def shared(self, table: Table[Row]) -> list[Row]:
        """Return the rows of a shared table; [] for a missing table."""
        path = self.folder / table.file
        rows = read_rows(path) if path.is_file() else []
        check_shared_names(self._files, table.name, rows)
        return cast("list[Row]", rows)

    def scene_rows(self) -> list[SceneRow]:
        """Return the rows of the table ``scene``.

        Raises:
            DatasetError: the table is damaged, or a scene's name is no valid part of a file name.
        """
        rows = read_rows(self._path("scene"))
        for row in rows:
            check_part(row.get("name"), what=f"{self.root}: scene")
        return cast("list[SceneRow]", rows)

    def scenes(self) -> Iterator[SceneRows]:
        """Yield every scene in table order.

        Raises:
            DatasetError: a table is damaged, or the dataset's description lists an unknown table.
        """
        counted: object = self.info.get("rows")
        self._refuse_unknown(counted if isinstance(counted, dict) else ())
        for scene in self._stream() if self._in_scene_order() else self._grouped():
            check_scene_names(self._files, scene.scene, scene.rows)
            yield scene

    def refuse_unknown_files(self) -> None:
        """Refuse unknown JSON files beside the tables, for conversions that must not lose any table.

        Raises:
            DatasetError: a file is no known table.
        """
        files = {path.name for path in self.folder.glob("*.json")} - {SPLITS, DATASET_INFO}
        self._refuse_unknown(name.removesuffix(".json") for name in files)

    def _refuse_unknown(self, names: Iterable[str]) -> None:
        refuse_unknown(names, where=self.folder, known=self._known)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _json(self, name: str) -> JsonDict:
        path = self.folder / name
        if not path.is_file():
            return {}
        try:
            value = parse_json(read_regular(path))
        except ValueError as error:
            raise DatasetError(f"{path}: not JSON: {error}") from error
        if not isinstance(value, dict):
            raise DatasetError(f"{path}: not a JSON object")
        return value

    def _in_scene_order(self) -> bool:
        """Return whether uavsim wrote the tables, and all of them exist; only then their order is known."""
        if not self.info or not {table.name for table in self.tables}.issuperset(REQUIRED):
            return False
        return sum(1 for _ in iter_rows(self._path("log"))) == sum(1 for _ in iter_rows(self._path("scene")))

    def _stream(self) -> Iterator[SceneRows]:
        tables = {table.name: _Peekable(iter_rows(self._path(table.name))) for table in self._per_scene}
        for scene in iter_rows(self._path("scene")):
            yield _collect(scene, self._per_scene, lambda table, owns: tables[table.name].take_while(owns))
        left = [name for name, table in tables.items() if not table.exhausted]
        if left:
            raise DatasetError(f"{self._path(left[0])}: a row belongs to no scene or is out of order")

    def _grouped(self) -> Iterator[SceneRows]:
        rows = {t.name: _ByOwner(self._path(t.name), t.owner.column) for t in self._per_scene if t.owner}
        for scene in read_rows(self._path("scene")):
            yield _collect(scene, self._per_scene, lambda table, owns: rows[table.name].of(owns.tokens))


def open_dataset(root: Path, version: str | None = None, *, required: Iterable[str] = REQUIRED) -> DatasetReader:
    """Open a dataset.

    Args:
        root: the dataset's folder.
        version: ``v1.0-mini``; default: the only version.
        required: names of required tables.

    Raises:
        InputError: the folder does not exist.
        DatasetError: the folder has no tables.
        UnknownNameError: the version does not exist, or ``version`` is missing and there are several.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder")
    found = sorted(path.parent.name for path in root.glob("v*/sample.json"))
    if not found and (root / "sample.json").is_file():
        raise DatasetError(f"{root}: this is a version folder; give its parent folder")
    if not found:
        refuse_without_tables(root)
        raise DatasetError(f"{root}: not a dataset: no v1.0-*/sample.json")
    if version is None and len(found) > 1:
        raise UnknownNameError(f"{root} has the versions {', '.join(found)}; choose one with --version")
    chosen = version or found[0]
    if chosen not in found:
        raise UnknownNameError(
            f"{root} has no version {chosen!r}; did you mean {nearest(chosen, found) or found[0]!r}?"
        )
    return DatasetReader(root, chosen, required=required)


@dataclass(frozen=True, slots=True)
class _Owns:
    """Predicate of the rows of one scene."""

    column: str
    tokens: dict[str, None]

    def __call__(self, row: JsonDict) -> bool:
        return row.get(self.column) in self.tokens


class _Peekable:
    """An iterator of rows that stops before the first row of the next scene."""

    def __init__(self, rows: Iterator[JsonDict]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    @property
    def exhausted(self) -> bool:
        return self._next is None

    def take_while(self, owns: _Owns) -> list[JsonDict]:
        taken = []
        while self._next is not None and owns(self._next):
            taken.append(self._next)
            self._next = next(self._rows, None)
        return taken


class _ByOwner:
    """All rows of a table by the token of their owner, in table order."""

    def __init__(self, path: Path, column: str) -> None:
        self._rows: dict[str, list[tuple[int, JsonDict]]] = {}
        with collector_paused():
            for row_number, row in enumerate(iter_rows(path)):
                self._rows.setdefault(str(row.get(column)), []).append((row_number, row))

    def of(self, tokens: dict[str, None]) -> list[JsonDict]:
        numbered_rows = [item for token in tokens for item in self._rows.get(token, ())]
        return [row for _, row in sorted(numbered_rows, key=lambda item: item[0])]


def _collect(scene: Any, tables: list[Table[Any]], take: Callable[[Table[Any], _Owns], list[JsonDict]]) -> SceneRows:
    """Take a scene's rows from every table; earlier tables hold the tokens of rows of later ones."""
    rows: Tables = {}
    with collector_paused():
        for table in tables:
            if table.owner is not None:
                tokens = _named(table.owner, rows) if table.owner.named_in else {scene["token"]: None}
                rows[table.name] = take(table, _Owns(table.owner.column, tokens))
    return SceneRows(scene=scene, rows=rows)


def _named(owner: Owner, rows: Tables) -> dict[str, None]:
    """Return the tokens that identify a table's rows of the scene, in table order."""
    return {row[column]: None for table, column in owner.named_in for row in rows.get(table, ()) if column in row}
