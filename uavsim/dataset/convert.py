"""``uavsim convert``: convert a dataset from one dialect to another, scene by scene; image files are hard-linked."""

from collections.abc import Container, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from uavsim.dataset.assemble import AssembledVersion
from uavsim.dataset.dialects import DIALECTS, STRICT, Conversion, Dialect, FileMove, dialect_of
from uavsim.dataset.reader import DatasetReader, SceneRows
from uavsim.dataset.schema import DATASET_INFO, SPLITS, TABLES, VECTOR_MAPS, Table, Tables, all_tables, scene_tables
from uavsim.dataset.tables import TableWriter, write_json, write_rows
from uavsim.errors import DatasetError, InputError
from uavsim.files.bring import bring_file
from uavsim.files.names import DataFolder, name_fault
from uavsim.files.parse import reading
from uavsim.files.results import ResultPath
from uavsim.files.unfinished import refuse_without_tables
from uavsim.files.whole import write_whole


def convert(root: Path, out: Path | ResultPath, *, dialect: str, options: Any = None) -> list[AssembledVersion]:
    """Write all versions of ``root`` in another dialect to ``out``.

    strict -> uav3d -> strict gives the same bytes in every table.

    Args:
        root: the dataset's folder.
        out: a new or empty folder, or that of the same conversion after an interruption; or an open, marked folder
            (``ResultPath.unfinished``). On the same file system nothing is copied.
        dialect: target dialect, a name of ``DIALECTS``.
        options: an instance of the target dialect's ``options``.

    Raises:
        UnknownNameError: the dialect does not exist.
        InputError: ``out`` is not empty, ``root`` has the target dialect, or neither dialect is strict.
        DatasetError: ``root`` is no dataset, is damaged, or has an unknown table.
        StorageError: ``out`` cannot be written.
    """
    if isinstance(out, ResultPath):
        with reading(root):
            return _convert(root, out, dialect=dialect, options=options)
    result = ResultPath.open(out)
    with result.unfinished(conversion_job(root, dialect, options)):
        return convert(root, result, dialect=dialect, options=options)


def conversion_job(root: Path, dialect: str, options: object) -> str:
    """Return one line that identifies the conversion and the state of the source tables."""
    tables = ((path, path.stat()) for path in sorted(root.glob("v*/sample_data.json")))
    state = [(path.parent.name, found.st_size, found.st_mtime_ns) for path, found in tables]
    return f"uavsim convert {str(root.resolve())!a} --dialect {dialect} {options} {state}"


def _convert(root: Path, out: ResultPath, *, dialect: str, options: Any) -> list[AssembledVersion]:
    target = DIALECTS.pick(dialect)
    versions = sorted(path.parent.name for path in root.glob("v*/sample.json"))
    if not versions:
        refuse_without_tables(root)
        raise DatasetError(f"{root}: not a dataset: no v1.0-*/sample.json")
    source = dialect_of(DatasetReader(root, versions[0]))
    if source is target:
        raise InputError(f"{root}: already has the dialect {dialect}; choose another --dialect")
    (out / "samples").make_folder()
    written = []
    for version in versions:
        reader = DatasetReader(root, version, tables=source.tables)
        conversion = _conversion(reader, source, target, options)
        written.append(convert_version(reader, out, conversion, (*all_tables(), *target.tables)))
    return written


def _conversion(reader: DatasetReader, source: Dialect, target: Dialect, options: Any) -> Conversion:
    if source is STRICT and target.from_strict is not None:
        return target.from_strict(reader, target.options() if options is None else options)
    if target is STRICT and source.to_strict is not None:
        return source.to_strict(reader)
    raise InputError(f"{reader.root}: no conversion from {source.name} to {target.name}; convert to strict first")


def convert_version(
    reader: DatasetReader,
    out: ResultPath,
    conversion: Conversion,
    known: Iterable[Table[Any]],
    *,
    only: Container[str] | None = None,
) -> AssembledVersion:
    """Write one version folder, and link or copy its files.

    Args:
        reader: reader of the version.
        out: the new dataset's folder.
        conversion: conversion between the dialects.
        known: tables that may be written.
        only: tokens of the scenes to convert; default: all.
    """
    reader.refuse_unknown_files()
    files = _Files(reader.root, out)
    with ExitStack() as stack:
        tables = _TableWriters(out / reader.version, scene_tables(known), stack)
        for scene in reader.scenes():
            if only is not None and scene.scene["token"] not in only:
                continue
            made = conversion.scene(scene)
            files.bring(conversion.files(scene, made))
            files.bring(_files_of_ingredients(made))
            tables.add(made)
        shared = conversion.shared()
        result = tables.keep(shared, reader)
    files.bring(conversion.shared_files(shared))
    files.bring_folders(VECTOR_MAPS)
    write_json(out / reader.version / DATASET_INFO, conversion.info(result.row_count))
    return result


def _files_of_ingredients(scene: SceneRows) -> Iterator[FileMove]:
    """Yield the files of tables that every dialect keeps unchanged."""
    known = {table.name for table in TABLES}
    for table in all_tables():
        rows = () if table.name in known else scene.rows.get(table.name, ())
        yield from (FileMove(row["filename"], row["filename"]) for row in rows if "filename" in row)


class _TableWriters:
    """The per-scene tables of one version while it is written."""

    def __init__(self, folder: ResultPath, tables: list[Table[Any]], stack: ExitStack) -> None:
        self._folder = folder
        self._writers = {t.name: stack.enter_context(TableWriter(folder / t.file)) for t in tables}
        self._where_empty = {t.name for t in tables if t.where_empty}
        self._scenes: list[str] = []

    def add(self, scene: SceneRows) -> None:
        self._scenes.append(scene.scene["name"])
        for name, writer in self._writers.items():
            for row in scene.rows.get(name, ()):
                writer.add(row)

    def keep(self, shared: Tables, reader: DatasetReader) -> AssembledVersion:
        result = AssembledVersion(self._folder.name, self._scenes)
        for name, writer in self._writers.items():
            if not writer.row_count and name not in self._where_empty:
                continue
            writer.keep()
            result.row_count[name] = writer.row_count
        for name, rows in shared.items():
            result.row_count[name] = write_rows(self._folder / f"{name}.json", rows)
        if reader.splits:
            splits = {name: [s for s in scenes if s in self._scenes] for name, scenes in reader.splits.items()}
            write_json(self._folder / SPLITS, splits)
        return result


class _Files:
    """Transfers files by hard links, or by copies on file systems without hard links."""

    def __init__(self, root: Path, out: ResultPath) -> None:
        self._source, self._out = DataFolder(root), out

    def bring(self, moves: Iterable[FileMove]) -> None:
        """Link or copy files.

        Raises:
            DatasetError: a file in a table is missing, or a name leads out of the dataset.
            StorageError: the target cannot be written.
        """
        for move in moves:
            target = self._inside(move.new)
            if self._source.fault(move.old) is None or not move.may_miss:
                bring_file(self._source.open(move.old), target)
            else:
                write_whole(target, b"")

    def bring_folders(self, folders: Iterable[str]) -> None:
        """Link or copy the files of existing folders."""
        names = (f"{folder}/{name}" for folder in folders for name in self._source.names(folder))
        self.bring(FileMove(name, name) for name in names if self._source.fault(name) is None)

    def _inside(self, name: str) -> ResultPath:
        fault = name_fault(name)
        if fault:
            raise DatasetError(f"{self._source.root}: a table names {name!a}, which {fault}")
        return self._out / name
