"""AOT's files: ``part1/ImageSets`` with ground truth and encounters, ``part1/Images`` with grey images.

A flight is a scene and the camera that its intruders pass. Only planned intruders have a range, because AOT's tools count
every object with a range as planned. ``encounters.json`` beside AOT's files holds the planned encounters, and the exact range,
closing speed and tight box of every object.
"""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from uavsim.access import Image, Scene
from uavsim.dataset.rows import EncounterRow, IntruderViewRow
from uavsim.dataset.schema import ENCOUNTER, INTRUDER_VIEW
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError, InputError
from uavsim.escape import csv_cell
from uavsim.exports.formats.aot_encounters import ENCOUNTER_COLUMNS, Row, valid_encounters
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.text import write_json, write_text
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.images import codec
from uavsim.typing import JsonDict

_PART: Final = "part1"
_VALID: Final = "valid_encounters_maxRange700_maxGap3_minEncLen30"
_SEPARATOR: Final = "\n\n    "  # separator of records in the starter kit's loader
_NS_PER_US: Final = 1000
_DESCRIPTION: Final = "Air-to-air encounters of a simulated dataset; every label is exact."
_COLUMNS: Final = (
    "", "time", "id", "flight_id", "img_name", "frame", "range_distance_m", "is_above_horizon", "size_width", "size_height",
    "gt_left", "gt_top", "gt_right", "gt_bottom",
)  # fmt: skip
"""Columns of ``groundtruth.csv``, as the starter kit writes them."""


@dataclass(slots=True)
class _Flight:
    """One scene as a flight of AOT; ``views`` holds encounters and views by sample_data token."""

    name: str
    scene: str
    images: list[Image]
    views: dict[str, list[tuple[EncounterRow, IntruderViewRow]]] = field(default_factory=dict)

    def image_name(self, image: Image) -> str:
        """Return AOT's file name: 19 digits of the time in nanoseconds, then the flight."""
        return f"{image.timestamp_us * _NS_PER_US:019d}{self.name}.png"


@exporter
def export_aot(request: ExportRequest) -> list[Path]:
    """Write AOT's files.

    Raises:
        InputError: the dataset has no encounters.
        DatasetError: an image is missing, or intruders of one scene pass two cameras.
    """
    flights = [flight for scene in request.scenes() if (flight := _flight(scene)) is not None]
    if not flights:
        raise InputError(f"{request.root}: no scene has encounters; name a file of encounters in the dataset's YAML")
    out = ResultPath.open(request.out)
    sets = out / _PART / "ImageSets"
    rows = [row for flight in flights for row in _rows(flight)]
    write_json(sets / "groundtruth.json", _ground_truth(flights, request.version))
    write_text(sets / "groundtruth.csv", _csv(_COLUMNS, _table(flights)))
    _write_encounters(sets, rows)
    write_json(out / "encounters.json", [_exact_labels(flight) for flight in flights])
    for flight in flights:
        _write_images(out / _PART / "Images" / flight.name, flight)
    return [request.out / _PART, request.out / "encounters.json"]


def _flight(scene: Scene) -> _Flight | None:
    encounters = {row["token"]: row for row in scene.rows(ENCOUNTER)}
    if not encounters:
        return None
    channels = sorted({row["channel"] for row in encounters.values()})
    if len(channels) > 1:
        raise DatasetError(f"{scene.name}: intruders pass {' and '.join(channels)}; a flight in AOT has one camera")
    flight = _Flight(token(scene.name, "aot", scene.token), scene.name, scene.images_of(channels[0]))
    for view in scene.rows(INTRUDER_VIEW):
        flight.views.setdefault(view["sample_data_token"], []).append((encounters[view["encounter_token"]], view))
    return flight


def _rows(flight: _Flight) -> Iterator[Row]:
    """Yield one row for each object in each image, and one for each image without objects."""
    for frame, image in enumerate(flight.images):
        time_ns, name = image.timestamp_us * _NS_PER_US, flight.image_name(image)
        views = flight.views.get(image.token, [])
        if not views:
            yield Row(flight.name, name, frame, time_ns)
        for encounter, view in views:
            yield Row(
                flight.name,
                name,
                frame,
                time_ns,
                object_id=encounter["name"],
                box_px=tuple(view["bbox_aot"]),
                range_m=view["range_m"] if encounter["planned"] else None,
                horizon=view.get("is_above_horizon"),
            )


def _entity(row: Row) -> JsonDict:
    entity: JsonDict = {"time": row.time_ns, "blob": {"frame": row.frame}, "labels": {}}
    if row.object_id:
        entity |= {"id": row.object_id, "bb": list(row.box_px)}
    if row.range_m is not None:
        entity["blob"]["range_distance_m"] = row.range_m
    if row.horizon is not None:
        entity["labels"]["is_above_horizon"] = row.horizon
    return entity | {"flight_id": row.flight, "img_name": row.image}


def _ground_truth(flights: list[_Flight], version: str | None) -> JsonDict:
    changed = datetime.fromtimestamp(max(f.images[-1].timestamp_us for f in flights) // 1_000_000, UTC)
    metadata = {"description": _DESCRIPTION, "last_modified": changed.isoformat(), "version": version or "1.0"}
    metadata["profile"] = _profile(flights)
    return {"metadata": metadata, "samples": {flight.name: _sample(flight) for flight in flights}}


def _profile(flights: list[_Flight]) -> str:
    """Return the profile of all encounters.

    Raises:
        DatasetError: the encounters have several profiles.
    """
    profiles = sorted({row["profile"] for flight in flights for views in flight.views.values() for row, _ in views})
    if len(profiles) > 1:
        raise DatasetError(f"encounters have the profiles {' and '.join(profiles)}; an AOT file has one")
    return profiles[0] if profiles else ""


def _sample(flight: _Flight) -> JsonDict:
    first, last = flight.images[0], flight.images[-1]
    span_us = last.timestamp_us - first.timestamp_us
    fps = round((len(flight.images) - 1) * 1e6 / span_us, 6) if span_us else 0.0
    return {
        "metadata": {
            "data_path": f"{_PART}/Images/{flight.name}/",
            "fps": fps,
            "number_of_frames": len(flight.images),
            "duration": (span_us / 1000.0) * len(flight.images) / max(len(flight.images) - 1, 1),
            "resolution": {"height": first.size_px[1], "width": first.size_px[0]},
        },
        "entities": [_entity(row) for row in _rows(flight)],
    }


def _table(flights: list[_Flight]) -> Iterator[list[Any]]:
    rows = ((row, flight.images[0]) for flight in flights for row in _rows(flight))
    for number, (row, image) in enumerate(rows):
        box: list[Any] = [None] * 4
        if row.object_id:
            left, top, width, height = row.box_px
            box = [left, top, left + width, top + height]
        size = list(image.size_px)
        named = [row.time_ns, row.object_id, row.flight, row.image, row.frame, row.range_m, row.horizon]
        yield [number, *named, *size, *box]


def _csv(columns: tuple[str, ...], rows: Iterator[list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([csv_cell(value) if isinstance(value, str) else value for value in row] for row in rows)
    return text.getvalue()


def _write_encounters(sets: ResultPath, rows: list[Row]) -> None:
    """Write the valid encounters as a table, and as records with the names of their images."""
    encounters = valid_encounters(rows)
    table = ([n, *(encounter.record[name] for name in ENCOUNTER_COLUMNS)] for n, encounter in enumerate(encounters))
    write_text(sets / f"{_VALID}.csv", _csv(("", *ENCOUNTER_COLUMNS), table))
    records = [
        json.dumps(encounter.record | {"img_name": list(encounter.images)}, indent=2) for encounter in encounters
    ]
    write_text(sets / f"{_VALID}.json", _SEPARATOR.join(records))


def _exact_labels(flight: _Flight) -> JsonDict:
    """Return the content of ``encounters.json`` for a flight."""
    encounters = {row["token"]: row for views in flight.views.values() for row, _ in views}
    views = [
        {"img_name": flight.image_name(image), "frame": frame, "id": encounter["name"]}
        | {key: view.get(key) for key in _EXACT}
        for frame, image in enumerate(flight.images)
        for encounter, view in flight.views.get(image.token, [])
    ]
    planned = [{k: v for k, v in row.items() if k not in _INNER} for row in encounters.values()]
    return {"flight_id": flight.name, "scene": flight.scene, "encounters": planned, "objects": views}


_EXACT: Final = (
    "range_m", "closing_mps", "azimuth_deg", "elevation_deg", "bbox", "from_mask", "visible_px", "is_above_horizon",
)  # fmt: skip
_INNER: Final = frozenset({"token", "scene_token", "instance_id"})


def _write_images(folder: ResultPath, flight: _Flight) -> None:
    for image in flight.images:
        grey = codec.grey_of(image.pixels())
        write_whole(folder / flight.image_name(image), codec.encode_png(grey))
