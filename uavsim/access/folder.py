"""A dataset opened by its folder: scenes in any order, with little memory for sequential access."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access.scene_tables import SharedRows
from uavsim.access.scenes import Sample, Scene
from uavsim.access.towns import TownMap
from uavsim.dataset.collector import collector_paused
from uavsim.dataset.dialects import STRICT, Conversion, dialect_of
from uavsim.dataset.reader import DatasetReader, open_dataset
from uavsim.dataset.rows import DatasetInfo
from uavsim.dataset.schema import CATEGORY, MAP, REQUIRED, SENSOR, Row, Table, Tables
from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.files.parse import reading, reads
from uavsim.files.unfinished import refuse_unfinished, refuse_without_tables
from uavsim.records.road_map import RoadMap
from uavsim.registry import pick

_CACHED_SCENES: Final = 16
_NEEDED: Final = ("scene", "sample", "sample_data", "ego_pose", "calibrated_sensor", "sensor")
_LOST_WITHOUT: Final = {"sample_annotation": "boxes", "instance": "boxes", "category": "boxes", "map": "maps"}


def open_folder(folder: Path | str, version: str | None = None) -> Dataset:
    """Open a dataset in the nuScenes format, in any installed dialect.

    Args:
        folder: the dataset's folder, with ``v1.0-mini`` or the like.
        version: version folder; default: the only one.

    Raises:
        DatasetError: the folder has no dataset, or a required table is missing.
        UnknownNameError: the version does not exist, or ``version`` is missing and there are several.
    """
    root = Path(folder)
    refuse_unfinished(root)
    if (root / ".uavsim").is_dir() and not any(root.glob("v*/sample.json")):
        refuse_without_tables(root)
        raise DatasetError(f"{root}: no scene is finished yet; see uavsim status {root}")
    return Dataset(open_dataset(root, version, required=_NEEDED))


class Dataset:
    """One version of a dataset; rows of scenes and pixels are read on first access."""

    def __init__(self, reader: DatasetReader) -> None:
        """Use ``open_folder``."""
        self._dialect = dialect_of(reader)
        self.dialect_name = self._dialect.name
        self.root, self.version = reader.root, reader.version
        self._reader = reader
        if self._dialect.tables:
            self._reader = DatasetReader(self.root, self.version, tables=self._dialect.tables, required=_NEEDED)
        self._cached: OrderedDict[str, Scene] = OrderedDict()
        self._running: Iterator[Scene] = iter(())

    def __repr__(self) -> str:
        return f"Dataset({str(self.root)!r}, {self.version!r}, {len(self)} scenes)"

    def __len__(self) -> int:
        return len(self.scene_names)

    def __iter__(self) -> Iterator[Scene]:
        return self.scenes()

    @property
    def missing(self) -> dict[str, str]:
        """Missing tables of nuScenes, and the data that are unavailable without them."""
        names = {table.name for table in self._reader.tables}
        return {name: _LOST_WITHOUT.get(name, "its columns") for name in REQUIRED if name not in names}

    @property
    def info(self) -> DatasetInfo:
        """The dataset's description; {} without one."""
        return self._reader.info

    @cached_property
    def scene_names(self) -> tuple[str, ...]:
        """The names of all scenes, in table order."""
        return tuple(name for name, _ in self.scene_lengths)

    @cached_property
    def scene_lengths(self) -> tuple[tuple[str, int], ...]:
        """Name and number of samples of every scene, in table order."""
        with reading(self.root):
            return tuple((str(row["name"]), int(row["nbr_samples"])) for row in self._reader.scene_rows())

    @property
    def splits(self) -> dict[str, list[str]]:
        """Scene names by split; {} without splits."""
        return self._reader.splits

    @cached_property
    @reads
    def categories(self) -> tuple[str, ...]:
        """The names of all object classes, in table order."""
        return tuple(str(row["name"]) for row in self._shared_tables.get(CATEGORY.name, ()))

    @cached_property
    @reads
    def category_index(self) -> dict[str, int]:
        """The index of each class: nuScenes', or else its position in the table."""
        rows = self._shared_tables.get(CATEGORY.name, ())
        return {str(row["name"]): int(row.get("index", row_number)) for row_number, row in enumerate(rows)}

    @cached_property
    @reads
    def maps(self) -> dict[str, TownMap]:
        """The map masks with a known origin, by town."""
        files, found = DataFolder(self.root), {}
        for row in self._shared_tables.get(MAP.name, ()):
            if "uav_mask_origin" in row:
                found[str(row["uav_town"])] = TownMap(
                    town=str(row["uav_town"]),
                    filename=row["filename"],
                    origin_map_m=np.array(row["uav_mask_origin"], dtype=np.float64),
                    metres_per_px=float(row.get("uav_metres_per_pixel", 0.1)),
                    files=files,
                )
        return found

    @property
    def map(self) -> RoadMap:
        """The vector map of the dataset's only town; see ``Scene.map`` for datasets with several towns.

        Raises:
            DatasetError: the dataset has no map expansion, or several towns.
            InputError: no installed package reads the map.
        """
        towns = sorted(self.maps)
        if len(towns) != 1:
            raise DatasetError(
                f"{self.root}: scenes in {len(towns)} towns ({', '.join(towns)}); use the map of a scene, scene.map"
            )
        return self._shared.road_map(towns[0])

    def rows(self, table: Table[Row]) -> list[Row]:
        """Return the rows of a shared table in the strict dialect; [] for a missing table."""
        return self._reader.shared(table) if self._dialect is STRICT else table.of(self._conversion().shared())

    def scene(self, name: str) -> Scene:
        """Return one scene.

        Forward access is fast. For a scene far behind the last one, the tables are read from their beginning.

        Raises:
            UnknownNameError: the scene does not exist; the message has the nearest name.
            DatasetError: a table is damaged.
        """
        pick(dict.fromkeys(self.scene_names), name, what="scene")
        if name in self._cached:
            self._cached.move_to_end(name)
            return self._cached[name]
        with collector_paused():  # which would scan the cached scenes for each new one
            for begun in (self._running, self.scenes()):
                self._running = begun
                for scene in begun:
                    self._cache(scene)
                    if scene.name == name:
                        return scene
        raise DatasetError(f"{self.root}: scene {name} was removed while the dataset was read")

    def scenes(self, split: str | None = None) -> Iterator[Scene]:
        """Yield all scenes, or those of a split, in table order, with the rows of one scene in memory.

        Raises:
            UnknownNameError: the split does not exist.
            DatasetError: a table is damaged.
        """
        names = None if split is None else set(pick(self.splits, split, what="split"))
        conversion = None if self._dialect is STRICT else self._conversion()
        with reading(self.root):
            for rows in self._reader.scenes():
                if names is not None and rows.scene["name"] not in names:
                    continue
                if conversion is None:
                    yield Scene(rows, self._shared, {})
                else:
                    after = conversion.scene(rows)
                    stored = {move.new: move.old for move in conversion.files(rows, after) if move.new != move.old}
                    yield Scene(after, self._shared, stored)

    def samples(self, split: str | None = None) -> Iterator[Sample]:
        """Yield all samples of all scenes; see ``scenes``."""
        for scene in self.scenes(split):
            yield from scene

    def _cache(self, scene: Scene) -> None:
        self._cached[scene.name] = scene
        while len(self._cached) > _CACHED_SCENES:
            self._cached.popitem(last=False)

    def _conversion(self) -> Conversion:
        if self._dialect.to_strict is None:
            raise DatasetError(f"{self.root}: the dialect {self._dialect.name} has no conversion to strict")
        return self._dialect.to_strict(self._reader)

    @cached_property
    @reads
    def _shared_tables(self) -> Tables:
        if self._dialect is STRICT:
            return {table.name: self._reader.shared(table) for table in (CATEGORY, SENSOR, MAP)}
        return self._conversion().shared()

    @cached_property
    def _shared(self) -> SharedRows:
        with reading(self.root):
            return SharedRows(
                files=DataFolder(self.root),
                sensors={row["token"]: row for row in self._shared_tables.get(SENSOR.name, ())},
                category_names={row["token"]: str(row["name"]) for row in self._shared_tables.get(CATEGORY.name, ())},
            )
