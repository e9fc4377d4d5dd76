"""Checks of the names in a dataset's tables before they become parts of paths."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from uavsim.errors import DatasetError
from uavsim.files.names import MISSING, DataFolder, check_part, name_fault
from uavsim.typing import JsonDict

_NAMING: Final = ("sample_data", "strict_sample_data", "layer", "lidarseg")
_COLUMNS: Final = ("filename", "uav_filename")


def check_scene_names(
    files: DataFolder, scene: Mapping[str, object], rows: Mapping[str, Sequence[Mapping[str, object]]]
) -> None:
    """Refuse a scene with an invalid name or invalid file names; missing files are allowed.

    Raises:
        DatasetError: a name is invalid; the message has the table and the name.
    """
    check_part(scene.get("name"), what=f"{files.root}: scene")
    for table in _NAMING:
        for row in rows.get(table, ()):
            for column in _COLUMNS:
                if column in row:
                    _check_file(files, row[column], table=table)


def check_shared_names(files: DataFolder, table: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Refuse a table of channels, maps or categories with invalid names.

    Raises:
        DatasetError: a name is invalid; the message has the table and the name.
    """
    for row in rows:
        if table in {"sensor", "strict_sensor"}:
            check_part(row.get("channel"), what=f"{files.root}: channel")
        elif table == "map":
            _check_file(files, row.get("filename"), table=table)
        elif table in {"category", "strict_category"} and name_fault(row.get("name")):
            raise DatasetError(f"{files.root}: category {row.get('name')!a} {name_fault(row.get('name'))}")


def check_splits(files: DataFolder, splits: JsonDict) -> None:
    """Refuse invalid split and scene names in ``splits.json``.

    Raises:
        DatasetError: a name is invalid.
    """
    for split, scenes in splits.items():
        check_part(split, what=f"{files.root}: split")
        if not isinstance(scenes, list):
            raise DatasetError(f"{files.root}: splits.json: {split} is not a list of scene names")
        for scene in scenes:
            check_part(scene, what=f"{files.root}: splits.json: scene")


def _check_file(files: DataFolder, name: object, *, table: str) -> None:
    fault = name_fault(name) or files.fault(name)
    if fault not in {None, MISSING}:
        raise DatasetError(
            f"{files.root}: table {table} names {ascii(name)[:200]}, which {fault}; run uavsim validate {files.root}"
        )
