"""Assemble a dataset's tables from its scenes' fragments by copying text, in constant memory."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.dataset import layout
from uavsim.dataset.fragment import FragmentHead, PackedFragment, open_fragment
from uavsim.dataset.rows import DatasetInfo, MapRow, RunInfo, SensorRow
from uavsim.dataset.schema import (
    ATTRIBUTE,
    CATEGORY,
    DATASET_INFO,
    LIDARSEG,
    MAP,
    SEMANTIC_TAG,
    SENSOR,
    SPLITS,
    VISIBILITY,
    Tables,
    all_tables,
    refuse_unknown,
    scene_tables,
)
from uavsim.dataset.tables import TableWriter, write_json, write_rows
from uavsim.dataset.tokens import token
from uavsim.dataset.vocabulary import attribute_rows, category_rows, semantic_tag_rows, visibility_rows
from uavsim.errors import DatasetError
from uavsim.images import codec
from uavsim.records.plan import ScenePlan

METRES_PER_MAP_PIXEL: Final = 0.1
_SPLIT_ORDER: Final = ("uav_train", "uav_val", "uav_test")

NUM_LIDAR_PTS_MEANING: Final = (
    "num_lidar_pts is the number of pixels of the object in the instance masks, summed over all cameras of the sample; "
    "0 means that no camera sees it. There is no lidar: LIDAR_TOP is a virtual sensor on the ground under drone 0, turned "
    "with its heading, that gives evaluations their range centre."
)

NUM_LIDAR_PTS_WITH_LIDAR: Final = (
    "num_lidar_pts is the number of points on the object in the turns of all drones' lidars (LIDAR_id_*) at the sample; the "
    "pixels that show it are in uav_visible_px. LIDAR_TOP holds the points of drone 0's lidar in a frame on the ground under "
    "it, turned with its heading, that gives evaluations their range centre."
)


@dataclass(slots=True)
class AssembledVersion:
    """The content of one version folder: scene names in table order, and the number of rows of each table."""

    version: str
    scenes: list[str] = field(default_factory=list)
    row_count: dict[str, int] = field(default_factory=dict)


def versions_of(head: FragmentHead | ScenePlan) -> tuple[str, ...]:
    """Return the version folders of a scene.

    As in UAV3D, ``v1.0-trainval`` has all scenes in order of their numbers, and ``v1.0-test`` the test scenes again.
    """
    if head.version == "v1.0-trainval" and "uav_test" in head.splits:
        return (head.version, "v1.0-test")
    return (head.version,)


def assemble(
    root: Path,
    fragments: Iterable[bytes | PackedFragment],
    *,
    map_masks: Mapping[str, bytes] | None = None,
    info: RunInfo | None = None,
) -> list[AssembledVersion]:
    """Write all tables, ``splits.json``, the map masks and the dataset's description.

    The fragments are read once, one at a time. The tables replace older ones after the last fragment is read.

    Args:
        root: the dataset's folder.
        fragments: packed fragments, in order of the scene numbers.
        map_masks: town -> PNG, as from ``map_mask.draw_map_mask``; other towns get a blank mask.
        info: content for ``uav_dataset.json`` (name, seed, versions of the tools).

    Raises:
        DatasetError: there is no scene, a scene occurs twice or out of order, or a table is unknown.
        StorageError: a file cannot be written.
    """
    with ExitStack() as stack:
        folders: dict[str, _VersionFolder] = {}
        for data in fragments:
            fragment = open_fragment(data) if isinstance(data, bytes) else data
            for version in versions_of(fragment.head):
                if version not in folders:
                    folders[version] = _VersionFolder(root, version, stack)
                folders[version].add(fragment)
        if not folders:
            raise DatasetError(f"{root}: no scene to assemble")
        blank = _write_masks(root, sorted({t for f in folders.values() for t in f.towns}), map_masks or {})
        return [folder.keep(info or {}, blank_maps=blank) for folder in folders.values()]


class _VersionFolder:
    """The tables of one version while scenes are added."""

    def __init__(self, root: Path, version: str, stack: ExitStack) -> None:
        self._folder = root / version
        self._writers = {
            table.name: stack.enter_context(TableWriter(self._folder / table.file)) for table in scene_tables()
        }
        self._sensors: dict[str, str] = {}
        self._splits: dict[str, list[str]] = {}
        self._last_index = -1
        self._has_props = self._has_drones = False
        self.towns: dict[str, tuple[tuple[float, float], list[str]]] = {}
        self.result = AssembledVersion(version)

    def add(self, fragment: PackedFragment) -> None:
        head = fragment.head
        if head.scene_index <= self._last_index:
            raise DatasetError(f"scene {head.scene} (number {head.scene_index}) is repeated or out of order")
        refuse_unknown({*fragment.compressed, *fragment.row_count}, where=f"rows of scene {head.scene}")
        self._last_index = head.scene_index
        self._has_props |= head.has_props
        self._has_drones |= head.has_drones
        for name, writer in self._writers.items():
            lines = fragment.lines(name)
            if name == LIDARSEG.name:  # the devkit counts the files of each version's own folder
                old, new = (f'"{layout.LIDARSEG}/{version}/'.encode() for version in (head.version, self._folder.name))
                lines = lines.replace(old, new)
            writer.add_lines(lines, count=fragment.row_count.get(name, 0))
        self._sensors |= dict(head.channels)
        for split in head.splits:
            self._splits.setdefault(split, []).append(head.scene)
        self.towns.setdefault(head.town, (head.mask_origin_map_m, []))[1].append(head.log_token)
        self.result.scenes.append(head.scene)

    def keep(self, info: RunInfo, *, blank_maps: list[str]) -> AssembledVersion:
        count = self.result.row_count
        with_lidar = self._writers[LIDARSEG.name].row_count > 0
        for table in scene_tables():
            writer = self._writers[table.name]
            if writer.row_count or table.where_empty:
                writer.keep()
                count[table.name] = writer.row_count
            else:
                writer.leave_out()
        shared: Tables = {
            CATEGORY.name: category_rows(
                with_lidarseg=with_lidar, with_props=self._has_props, with_drones=self._has_drones
            ),
            ATTRIBUTE.name: attribute_rows(),
            VISIBILITY.name: visibility_rows(),
            SEMANTIC_TAG.name: semantic_tag_rows(),
            SENSOR.name: _sensor_rows(self._sensors),
            MAP.name: _map_rows(self.towns),
        }
        for name, rows in shared.items():
            count[name] = write_rows(self._folder / f"{name}.json", rows)
        write_json(self._folder / SPLITS, {name: self._splits[name] for name in _split_names(self._splits)})
        described = _description(info, self.result, towns=list(self.towns), blank=blank_maps, with_lidar=with_lidar)
        added = {
            table.name: dict(table.references) for table in all_tables() if table.references and table.name in count
        }
        hints = {"references": added} if added else {}  # for the validator, which lacks the tables of packages
        write_json(self._folder / DATASET_INFO, {**described, **hints})
        return self.result


def _split_names(splits: Iterable[str]) -> list[str]:
    known = [name for name in _SPLIT_ORDER if name in splits]
    return known + sorted(name for name in splits if name not in _SPLIT_ORDER)


def _sensor_rows(sensors: Mapping[str, str]) -> list[SensorRow]:
    cameras_first = sorted(sensors.items(), key=lambda item: item[1] != "camera")  # stable: channels keep their order
    return [{"token": token("sensor", name), "channel": name, "modality": modality} for name, modality in cameras_first]


def _map_rows(towns: Mapping[str, tuple[tuple[float, float], list[str]]]) -> list[MapRow]:
    return [
        {
            "token": token("map", town),
            "log_tokens": logs,
            "category": "semantic_prior",
            "filename": layout.map_path(town),
            "uav_town": town,
            "uav_mask_origin": list(origin),
            "uav_metres_per_pixel": METRES_PER_MAP_PIXEL,
        }
        for town, (origin, logs) in towns.items()
    ]


def _write_masks(root: Path, towns: list[str], masks: Mapping[str, bytes]) -> list[str]:
    """Write the map masks; return the towns with a blank mask."""
    blank = codec.encode_png(np.zeros((16, 16), dtype=np.uint8))
    empty = []
    for town in towns:
        path = root / layout.map_path(town)
        path.parent.mkdir(parents=True, exist_ok=True)
        if town in masks:
            path.write_bytes(masks[town])
        elif not path.exists():
            path.write_bytes(blank)
        if path.read_bytes() == blank:
            empty.append(town)
    return empty


def _description(
    info: RunInfo, version: AssembledVersion, *, towns: list[str], blank: list[str], with_lidar: bool
) -> DatasetInfo:
    notes = [NUM_LIDAR_PTS_WITH_LIDAR if with_lidar else NUM_LIDAR_PTS_MEANING]
    notes += [f"{layout.map_path(town)} is blank: the town's map was not drawn." for town in towns if town in blank]
    notes.append(
        "Map masks have 0.1 m a pixel; their bottom left pixel is at uav_mask_origin of the table map, not at (0, 0): "
        "draw with underlay_map=False, or shift."
    )
    return {
        **info,
        "dialect": "strict",
        "version": version.version,
        "scenes": len(version.scenes),
        "towns": towns,
        "rows": dict(sorted(version.row_count.items())),
        "notes": notes,
    }
