"""``uavsim convert``: a whole data set from one dialect into the other, scene by scene; image files are hard-linked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Literal

from uavsim.dataset import layout
from uavsim.dataset.assemble import DATASET_INFO, AssembledVersion
from uavsim.dataset.reader import DatasetReader, SceneRows
from uavsim.dataset.tables import TableWriter, write_json, write_rows
from uavsim.dataset.tokens import token
from uavsim.dataset.uav3d import Uav3dOptions, uav3d_scene
from uavsim.dataset.uav3d_to_strict import strict_scene
from uavsim.dataset.vocabulary import attribute_rows, category_rows, category_token, visibility_rows
from uavsim.errors import DatasetError, InputError
from uavsim.files.bring import bring_file
from uavsim.files.names import DataFolder, name_fault
from uavsim.files.whole import write_whole
from uavsim.images import draw
from uavsim.typing import JsonDict

__all__ = ["Dialect", "convert"]

Dialect = Literal["strict", "uav3d"]
_COMMON_SCENE_TABLES: Final = (
    "instance",
    "calibrated_sensor",
    "ego_pose",
    "log",
    "scene",
    "sample",
    "sample_data",
    "sample_annotation",
    "camera_pose",
    "layer",
    "visibility_detail",
    "agent_view",
)
_UNCHANGED: Final[tuple[str, ...]] = ("attribute", "visibility", "semantic_tag", "map")
_CARRIED: Final = ("strict_sample_data", "strict_ego_pose", "strict_calibrated_sensor")


def convert(root: Path, out: Path, *, dialect: Dialect, options: Uav3dOptions | None = None) -> list[AssembledVersion]:
    """Write ``root`` in another dialect to ``out``, all versions that it has.

    strict -> uav3d -> strict gives the same bytes in every table.

    Args:
        root: a data set.
        out: a folder that is empty or not there yet; on the same file system nothing is copied.
        dialect: which to write.
        options: of the uav3d dialect.

    Raises:
        InputError: ``out`` is not empty, or ``root`` is in that dialect already.
        DatasetError: ``root`` is no data set, or damaged.
        StorageError: ``out`` cannot be written.
    """
    versions = sorted(path.parent.name for path in root.glob("v*/sample.json"))
    if not versions:
        raise DatasetError(f"{root}: no data set: no v1.0-*/sample.json in it")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: holds something already; name a new folder")
    readers = [DatasetReader(root, version) for version in versions]
    if readers[0].dialect == dialect:
        raise InputError(f"{root}: is in the dialect {dialect} already")
    (out / "samples").mkdir(parents=True, exist_ok=True)
    convert_one = _to_uav3d if dialect == "uav3d" else _to_strict
    return [convert_one(reader, out, options or Uav3dOptions()) for reader in readers]


def _to_uav3d(reader: DatasetReader, out: Path, options: Uav3dOptions) -> AssembledVersion:
    channel_of = {row["token"]: row["channel"] for row in reader.shared("sensor")}
    blueprints: set[str] = set()
    files = _Files(reader.root, out)
    with ExitStack() as stack:
        tables = _Tables(out / reader.version, (*_COMMON_SCENE_TABLES, *_CARRIED), stack)
        for scene in reader.scenes():
            made = uav3d_scene(scene, channel_of_sensor=channel_of, options=options)
            blueprints |= {row.get("uav_category") or row.get("uav_blueprint", "") for row in made.rows["instance"]}
            files.link((row["uav_filename"], row["filename"]) for row in made.rows["sample_data"])
            files.link(
                (row["filename"],) * 2 for row in (*made.rows.get("layer", ()), *made.rows["strict_sample_data"])
            )
            tables.add(made)
        shared = {name: reader.shared(name) for name in _UNCHANGED if name in reader.table_names}
        shared |= {
            "category": _blueprint_rows(blueprints),
            "sensor": [row for row in reader.shared("sensor") if row["modality"] == "camera"],
            "strict_category": reader.shared("category"),
            "strict_sensor": reader.shared("sensor"),
        }
        result = tables.keep(shared, reader)
    files.link((row["filename"],) * 2 for row in shared["map"])
    _write_info(reader, out, _uav3d_info(reader.info, result, options))
    return result


def _to_strict(reader: DatasetReader, out: Path, options: Uav3dOptions) -> AssembledVersion:
    del options
    channel_of = {row["token"]: row["channel"] for row in reader.shared("sensor")}
    name_of = {row["token"]: row["name"] for row in reader.shared("category")}
    files = _Files(reader.root, out)
    with ExitStack() as stack:
        tables = _Tables(out / reader.version, _COMMON_SCENE_TABLES, stack)
        for scene in reader.scenes():
            made = strict_scene(scene, channel_of_sensor=channel_of, name_of_category=name_of)
            stored = {row["token"]: row["filename"] for row in scene.rows["sample_data"]}
            cameras = [row for row in made.rows["sample_data"] if row["token"] in stored]
            files.link((stored[row["token"]], row["filename"]) for row in cameras)
            files.link((row["filename"],) * 2 for row in made.rows.get("layer", ()))
            files.link_or_make_empty(row["filename"] for row in made.rows["sample_data"] if row["token"] not in stored)
            tables.add(made)
        shared = {name: reader.shared(name) for name in _UNCHANGED if name in reader.table_names}
        shared |= {
            "category": reader.shared("strict_category") or category_rows(),
            "sensor": reader.shared("strict_sensor") or [*reader.shared("sensor"), _lidar_sensor()],
        }
        shared["attribute"] = shared["attribute"] or attribute_rows()
        shared["visibility"] = shared["visibility"] or visibility_rows()
        result = tables.keep(shared, reader)
    files.link_or_make_empty(row["filename"] for row in shared["map"])
    _write_info(reader, out, reader.info.get("strict") or {"dialect": "strict", "version": reader.version})
    return result


class _Tables:
    """The per-scene tables of one version while it is written."""

    def __init__(self, folder: Path, names: Iterable[str], stack: ExitStack) -> None:
        self._folder = folder
        self._writers = {name: stack.enter_context(TableWriter(folder / f"{name}.json")) for name in names}
        self._scenes: list[str] = []

    def add(self, scene: SceneRows) -> None:
        self._scenes.append(scene.scene["name"])
        for name, writer in self._writers.items():
            for row in scene.rows.get(name, ()):
                writer.add(row)

    def keep(self, shared: dict[str, list[JsonDict]], reader: DatasetReader) -> AssembledVersion:
        result = AssembledVersion(self._folder.name, self._scenes)
        for name, writer in self._writers.items():
            writer.keep()
            result.row_count[name] = writer.row_count
        for name, rows in shared.items():
            result.row_count[name] = write_rows(self._folder / f"{name}.json", rows)
        if reader.splits:
            write_json(self._folder / "splits.json", reader.splits)
        return result


class _Files:
    """Brings files over by hard link, by copy where the file system has none."""

    def __init__(self, root: Path, out: Path) -> None:
        self._source, self._out = DataFolder(root), out

    def link(self, pairs: Iterable[tuple[str, ...]]) -> None:
        """Bring each (path in the source, path in the target) over.

        Raises:
            DatasetError: a file that a table names is not there, or a name leaves the data set.
            StorageError: the target cannot be written.
        """
        for old, new in pairs:
            bring_file(self._source.file(old), self._inside(new))

    def link_or_make_empty(self, names: Iterable[str]) -> None:
        """Bring files over that may be missing: an empty one takes their place."""
        for name in names:
            target = self._inside(name)
            if self._source.fault(name) is None:
                bring_file(self._source.file(name), target)
            else:
                write_whole(target, b"")

    def _inside(self, name: str) -> Path:
        fault = name_fault(name)
        if fault:
            raise DatasetError(f"{self._source.root}: a table names {name!a}, which {fault}")
        return self._out / name


def _blueprint_rows(blueprints: Iterable[str]) -> list[JsonDict]:
    names = sorted(name for name in blueprints if name)
    return [
        {"token": category_token(name), "name": name, "description": "", "index": index, "color": list(colour)}
        for index, (name, colour) in enumerate(zip(names, draw.palette(len(names)), strict=True), start=1)
    ]


def _lidar_sensor() -> JsonDict:
    return {"token": token("sensor", layout.BEV_CHANNEL), "channel": layout.BEV_CHANNEL, "modality": "lidar"}


def _uav3d_info(strict: JsonDict, result: AssembledVersion, options: Uav3dOptions) -> JsonDict:
    return {
        **strict,
        "dialect": "uav3d",
        "version": result.version,
        "timestamp_unit": options.timestamp_unit,
        "num_pts": options.num_pts,
        "rows": dict(sorted(result.row_count.items())),
        "notes": [
            "UAV3D's dialect: global camera poses in calibrated_sensor (one row an image), left-handed axes, AirSim's "
            "quaternions, actor origins, sizes as length, width, height. docs/formats.md tells it all.",
            "Fields uav_* and tables strict_*, camera_pose, layer and visibility_detail are ours, in the right-handed frame.",
        ],
        "strict": strict,
    }


def _write_info(reader: DatasetReader, out: Path, info: JsonDict) -> None:
    write_json(out / reader.version / DATASET_INFO, info)
