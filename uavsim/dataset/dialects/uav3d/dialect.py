"""The uav3d dialect, which UAV3D's code reads: conversion from the strict dialect and back.

Differences to strict (docs/formats-uav3d.md): global camera poses in ``calibrated_sensor`` with one row an image, in the
simulator's left-handed axes with AirSim's NED quaternions; identity ego poses; actor origins instead of box centres; sizes as
length, width, height; blueprints as categories; images in ``sweeps/<town>_<row>/<channel>/<ns>.png``; no LIDAR_TOP.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

from uavsim.dataset import layout
from uavsim.dataset.dialects.base import Dialect, FileMove
from uavsim.dataset.dialects.uav3d.format import (
    FRAMES,
    Uav3dInfo,
    Uav3dOptions,
)
from uavsim.dataset.dialects.uav3d.from_strict import uav3d_scene
from uavsim.dataset.dialects.uav3d.to_strict import strict_scene
from uavsim.dataset.reader import DatasetReader, SceneRows
from uavsim.dataset.rows import CategoryRow, DatasetInfo, SensorRow
from uavsim.dataset.schema import (
    ATTRIBUTE,
    CATEGORY,
    INSTANCE,
    LAYER,
    LIDARSEG,
    MAP,
    SAMPLE_DATA,
    SEMANTIC_TAG,
    SENSOR,
    STRICT_CATEGORY,
    STRICT_LAYER,
    STRICT_LIDARSEG,
    STRICT_SAMPLE_DATA,
    STRICT_SENSOR,
    UAV3D_TABLES,
    VISIBILITY,
    Table,
    Tables,
)
from uavsim.dataset.tokens import token
from uavsim.dataset.vocabulary import attribute_rows, category_rows, category_token, visibility_rows
from uavsim.images import draw

_UNCHANGED: Final[tuple[Table[Any], ...]] = (ATTRIBUTE, VISIBILITY, SEMANTIC_TAG, MAP)


def _looks_like_uav3d(reader: DatasetReader) -> bool:
    """Return whether categories are blueprints, ``vehicle.tesla.model3``, without a channel LIDAR_TOP."""
    lidar = any(row.get("channel") == layout.BEV_CHANNEL for row in reader.shared(SENSOR))
    return not lidar and all(str(row.get("name", "")).count(".") >= 2 for row in reader.shared(CATEGORY))


class _FromStrict:
    """Conversion of a version folder from strict to uav3d."""

    def __init__(self, reader: DatasetReader, options: Uav3dOptions) -> None:
        self._reader, self._options = reader, options
        self._channel_of = {row["token"]: row["channel"] for row in reader.shared(SENSOR)}
        self._blueprints: set[str] = set()

    def scene(self, scene: SceneRows) -> SceneRows:
        made = uav3d_scene(scene, channel_of_sensor=self._channel_of, options=self._options)
        instances = INSTANCE.of(made.rows)
        self._blueprints |= {row.get("uav_category") or row.get("uav_blueprint", "") for row in instances}
        return made

    def files(self, before: SceneRows, after: SceneRows) -> Iterator[FileMove]:
        del before
        for image in after.rows[SAMPLE_DATA.name]:
            yield FileMove(image["uav_filename"], image["filename"])
        for table in (LAYER, STRICT_LAYER, STRICT_LIDARSEG, STRICT_SAMPLE_DATA):
            for row in table.of(after.rows):
                yield FileMove(row["filename"], row["filename"])

    def shared(self) -> Tables:
        reader = self._reader
        return _unchanged(reader) | {
            CATEGORY.name: _blueprint_rows(self._blueprints),
            SENSOR.name: [row for row in reader.shared(SENSOR) if row["modality"] == "camera"],
            STRICT_CATEGORY.name: reader.shared(CATEGORY),
            STRICT_SENSOR.name: reader.shared(SENSOR),
        }

    def shared_files(self, shared: Tables) -> Iterator[FileMove]:
        for row in MAP.of(shared):
            yield FileMove(row["filename"], row["filename"])

    def info(self, row_count: dict[str, int]) -> Uav3dInfo:
        strict = self._reader.info
        return {
            **strict,
            "dialect": "uav3d",
            "version": self._reader.version,
            "timestamp_unit": self._options.timestamp_unit,
            "num_pts": self._options.num_pts,
            "rows": dict(sorted(row_count.items())),
            "notes": [
                "UAV3D's dialect: global camera poses in calibrated_sensor (one row an image), left-handed axes, AirSim's "
                "quaternions, actor origins, sizes as length, width, height. docs/formats.md describes it all.",
                "Fields uav_* and tables strict_*, camera_pose, layer and visibility_detail are uavsim's, in the "
                "right-handed frame.",
            ],
            "strict": strict,
        }


class _ToStrict:
    """Conversion of a version folder from uav3d, including UAV3D's own release, to strict."""

    def __init__(self, reader: DatasetReader) -> None:
        self._reader = reader
        self._channel_of = {row["token"]: row["channel"] for row in reader.shared(SENSOR)}
        self._name_of = {row["token"]: row["name"] for row in reader.shared(CATEGORY)}

    def scene(self, scene: SceneRows) -> SceneRows:
        return strict_scene(scene, channel_of_sensor=self._channel_of, name_of_category=self._name_of)

    def files(self, before: SceneRows, after: SceneRows) -> Iterator[FileMove]:
        stored = {row["token"]: row["filename"] for row in SAMPLE_DATA.of(before.rows)}
        for row in SAMPLE_DATA.of(after.rows):
            name = row["filename"]
            yield FileMove(stored.get(row["token"], name), name, may_miss=row["token"] not in stored)
        for table in (LAYER, LIDARSEG):
            for other in table.of(after.rows):
                yield FileMove(other["filename"], other["filename"])

    def shared(self) -> Tables:
        reader = self._reader
        shared = _unchanged(reader) | {
            CATEGORY.name: reader.shared(STRICT_CATEGORY) or category_rows(),
            SENSOR.name: reader.shared(STRICT_SENSOR) or [*reader.shared(SENSOR), _lidar_sensor()],
        }
        shared[ATTRIBUTE.name] = shared[ATTRIBUTE.name] or attribute_rows()
        shared[VISIBILITY.name] = shared[VISIBILITY.name] or visibility_rows()
        return shared

    def shared_files(self, shared: Tables) -> Iterator[FileMove]:
        for row in MAP.of(shared):
            yield FileMove(row["filename"], row["filename"], may_miss=True)

    def info(self, row_count: dict[str, int]) -> DatasetInfo:
        del row_count
        reported = cast("Uav3dInfo", self._reader.info)
        return reported.get("strict") or {"dialect": "strict", "version": self._reader.version}


def _unchanged(reader: DatasetReader) -> Tables:
    return {table.name: reader.shared(table) for table in _UNCHANGED if table in reader.tables}


def _blueprint_rows(blueprints: Iterable[str]) -> list[CategoryRow]:
    names = sorted(name for name in blueprints if name)
    return [
        {"token": category_token(name), "name": name, "description": "", "index": index, "color": list(colour)}
        for index, (name, colour) in enumerate(zip(names, draw.palette(len(names)), strict=True), start=1)
    ]


def _lidar_sensor() -> SensorRow:
    return {"token": token("sensor", layout.BEV_CHANNEL), "channel": layout.BEV_CHANNEL, "modality": "lidar"}


UAV3D: Final = Dialect(
    name="uav3d",
    detect=_looks_like_uav3d,
    frames=FRAMES,
    tables=UAV3D_TABLES,
    options=Uav3dOptions,
    from_strict=_FromStrict,
    to_strict=_ToStrict,
)
