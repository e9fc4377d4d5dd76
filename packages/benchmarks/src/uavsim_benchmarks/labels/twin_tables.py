"""The tables of ``uavsim twins``: images with a twin in another weather, and occlusions that a twin proves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uavsim.errors import InputError
from uavsim.files.names import DataFolder
from uavsim.files.parse import parse_json, read_regular, reading
from uavsim.typing import JsonDict


@dataclass(frozen=True, slots=True)
class TwinTables:
    """Rows of ``twin.json`` by image, of ``occlusion_cause.json`` by annotation."""

    weather: Mapping[str, tuple[tuple[str, Path], ...]]
    causes: Mapping[str, tuple[JsonDict, ...]]

    def images_of(self, token: str) -> tuple[tuple[str, Path], ...]:
        """Return the name and the file of each twin of an image in another weather."""
        return self.weather.get(token, ())

    def causes_of(self, annotations: Iterable[str]) -> dict[tuple[str, str], JsonDict]:
        """Return the rows of some boxes by annotation and image; proven rows take precedence."""
        rows = [row for token in annotations for row in self.causes.get(token, ())]
        rows.sort(key=lambda row: bool(row["proven"]))
        return {(row["sample_annotation_token"], row["sample_data_token"]): row for row in rows}


def read_twins(folder: Path) -> TwinTables:
    """Read both tables.

    Raises:
        InputError: a table is missing or not of ``uavsim twins``.
        DatasetError: a row has another form.
    """
    with reading(folder):
        return _tables(folder)


def _tables(folder: Path) -> TwinTables:
    files = DataFolder(folder)
    weather: dict[str, list[tuple[str, Path]]] = {}
    for row in _rows(folder / "twin.json", ("sample_data_token", "twin", "kind", "filename")):
        if row["kind"] == "weather" and files.fault(row["filename"]) is None:
            weather.setdefault(row["sample_data_token"], []).append((row["twin"], files.file(row["filename"])))
    causes: dict[str, list[JsonDict]] = {}
    columns = ("sample_annotation_token", "sample_data_token", "occluded_by_instance_token", "twin", "proven")
    for row in _rows(folder / "occlusion_cause.json", (*columns, "covered_px", "twin_visible_px")):
        causes.setdefault(row["sample_annotation_token"], []).append(row)
    return TwinTables(_frozen(weather), _frozen(causes))


def _frozen(lists: Mapping[str, list[Any]]) -> dict[str, tuple[Any, ...]]:
    return {key: tuple(values) for key, values in lists.items()}


def _rows(path: Path, keys: tuple[str, ...]) -> list[JsonDict]:
    if not path.is_file():
        raise InputError(f"{path.parent}: {path.name} is missing; create it with uavsim twins")
    try:
        rows = parse_json(read_regular(path))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) and all(key in row for key in keys) for row in rows):
        raise InputError(f"{path}: not a table of uavsim twins; each row needs {', '.join(keys)}")
    return rows
