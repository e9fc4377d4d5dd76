"""A dataset in the validator: tables as columns, references as row numbers, findings with the names of their rows."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypedDict

import numpy as np

from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.files.names import MISSING, DataFolder
from uavsim.files.parse import parse_json
from uavsim.files.unfinished import refuse_without_tables
from uavsim.registry import pick
from uavsim.typing import BoolArray, IntArray
from uavsim.validate.findings import Finding
from uavsim.validate.schema import EXTRA, TABLES, Field
from uavsim.validate.tables import MOST_TABLE_BYTES, ColumnTable, hashes, read_table, resolve

Dialect = Literal["strict", "uav3d"]
DIALECTS: Final[dict[str, Dialect]] = {"strict": "strict", "uav3d": "uav3d"}
BEV_CHANNEL: Final = "LIDAR_TOP"
FILE_TABLES: Final = tuple(
    name for name, fields in (TABLES | EXTRA).items() if any(spec.name == "filename" for spec in fields)
)
"""Every table that names files."""


class FindingPlace(TypedDict, total=False):
    """The place of a finding: keyword arguments of ``Finding``."""

    scene: str
    sample: str
    channel: str


@dataclass(slots=True)
class DataSet:
    """One version folder, read. References in ``ColumnTable.columns`` are row numbers (NONE and DANGLING below 0)."""

    files: DataFolder
    version: str
    dialect: Dialect
    tables: dict[str, ColumnTable]
    splits: dict[str, list[str]]
    load_findings: list[Finding] = field(default_factory=list)
    schema: dict[str, tuple[Field, ...]] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The dataset's folder; checks open its files through ``files`` only."""
        return self.files.root

    def read(self, name: str) -> bytes:
        """Return the bytes of a file that a table names; b"" if it cannot be read, which the file checks report."""
        try:
            return self.files.read(name)
        except DatasetError:
            return b""

    def __getitem__(self, table: str) -> ColumnTable:
        return self.tables[table]

    @property
    def sensor_of_data(self) -> IntArray:
        """(N,) sensor row of each sample_data row, negative for a broken chain of references."""
        return follow(self["sample_data"]["calibrated_sensor_token"], self["calibrated_sensor"]["sensor_token"])

    @property
    def scene_of_data(self) -> IntArray:
        """(N,) scene row of each sample_data row."""
        return follow(self["sample_data"]["sample_token"], self["sample"]["scene_token"])

    @property
    def scene_of_annotation(self) -> IntArray:
        """(N,) scene row of each annotation."""
        return follow(self["sample_annotation"]["sample_token"], self["sample"]["scene_token"])

    @property
    def channels(self) -> list[str]:
        """Channel of each sensor row."""
        names: list[str] = self["sensor"]["channel"]
        return names

    @property
    def is_camera(self) -> BoolArray:
        """(sensors,) bool, cameras."""
        return np.array([m == "camera" for m in self["sensor"]["modality"]], bool)

    @property
    def camera_rows(self) -> IntArray:
        """(V,) rows of sample_data that are images with valid references."""
        sensor = self.sensor_of_data
        good = (sensor >= 0) & (self.scene_of_data >= 0) & (self["sample_data"]["ego_pose_token"] >= 0)
        camera = np.zeros(len(sensor), bool)
        camera[good] = self.is_camera[sensor[good]]
        return np.flatnonzero(camera)

    @property
    def intruder_ids(self) -> dict[int, frozenset[int]]:
        """Instance ids of the intruders by scene row; ``intruder_view`` labels them instead of ``sample_annotation``."""
        if "encounter" not in self.tables:
            return {}
        table, ids = self["encounter"], dict[int, set[int]]()
        for scene, instance in zip(table["scene_token"].tolist(), table["instance_id"].tolist(), strict=True):
            ids.setdefault(scene, set()).add(instance)
        return {scene: frozenset(found) for scene, found in ids.items()}

    @property
    def own_instances(self) -> dict[tuple[int, str], int]:
        """Instance row of each agent with a box, by scene row and agent id (the end of the channel name)."""
        if "agent" not in self.tables:
            return {}
        table = self["agent"]
        rows = zip(table["scene_token"].tolist(), table["id"], table["instance_token"].tolist(), strict=True)
        return {(scene, agent): instance for scene, agent, instance in rows if instance >= 0}

    @property
    def visible_px(self) -> IntArray:
        """(N,) visible pixels of each annotation: ``uav_visible_px``, or ``num_lidar_pts`` in a dataset without lidar."""
        table = self["sample_annotation"]
        stated: IntArray = table["num_lidar_pts"]
        reported = table.get("uav_visible_px")
        return stated if reported is None else np.where(reported >= 0, reported, stated)

    @property
    def placed_instances(self) -> BoolArray:
        """(instances,) bool, placed by a corner case: such an object may lie on its side or on a roof, with open doors."""
        placed = np.zeros(len(self["instance"]), dtype=bool)
        if "object_tag" in self.tables:
            table = self["object_tag"]
            of_case = np.array([token != "" for token in table["corner_case_token"]], dtype=bool)
            rows = table["instance_token"][of_case]
            placed[rows[rows >= 0]] = True
        return placed

    @property
    def placed(self) -> BoolArray:
        """(annotations,) bool, boxes of instances that a corner case placed."""
        instance = self["sample_annotation"]["instance_token"]
        placed: BoolArray = np.append(self.placed_instances, False)[np.where(instance >= 0, instance, -1)]
        return placed

    @property
    def category_of_annotation(self) -> IntArray:
        """(N,) category row of each annotation, -1 if unknown."""
        category = follow(self["sample_annotation"]["instance_token"], self["instance"]["category_token"])
        return np.maximum(category, -1)

    def of_category(self, holds: Callable[[str], bool]) -> BoolArray:
        """Return (annotations,) bool, whether a condition holds for the category's name; False for unknown categories."""
        by_category = np.array([holds(name) for name in self["category"]["name"]] + [False], bool)
        return np.asarray(by_category[self.category_of_annotation])

    @property
    def flies(self) -> BoolArray:
        """(annotations,) bool, bodies of the swarm's drones."""
        return self.of_category("vehicle.ego".__eq__)

    def scene_place(self, row: int) -> FindingPlace:
        """Return the place of a scene row."""
        return FindingPlace(scene=self["scene"]["name"][row]) if row >= 0 else FindingPlace()

    def sample_place(self, row: int) -> FindingPlace:
        """Return the place of a sample row: sample and scene."""
        if row < 0:
            return FindingPlace()
        return FindingPlace(
            **self.scene_place(int(self["sample"]["scene_token"][row])), sample=self["sample"].tokens[row]
        )

    def data_place(self, row: int) -> FindingPlace:
        """Return the place of a sample_data row: scene, sample, channel; an empty place for a negative row."""
        if row < 0:
            return FindingPlace()
        calibration = int(self["sample_data"]["calibrated_sensor_token"][row])
        sensor = int(self["calibrated_sensor"]["sensor_token"][calibration]) if calibration >= 0 else -1
        location = self.sample_place(int(self["sample_data"]["sample_token"][row]))
        if sensor >= 0:
            location["channel"] = self.channels[sensor]
        return location

    def annotation_place(self, row: int) -> FindingPlace:
        """Return the place of an annotation row: sample and scene."""
        return self.sample_place(int(self["sample_annotation"]["sample_token"][row]))

    def locate(self, table: str, row: int) -> FindingPlace:
        """Return the place of a row of any table, as far as it has one."""
        if table == "sample_data":
            return self.data_place(row)
        if table == "sample_annotation":
            return self.annotation_place(row)
        if table == "sample":
            return self.sample_place(row)
        if table == "scene":
            return self.scene_place(row)
        if table == "instance":
            first = int(self["instance"]["first_annotation_token"][row])
            return self.annotation_place(first) if first >= 0 else FindingPlace()
        owners = self[table].get("sample_data_token")
        return FindingPlace() if owners is None else self.data_place(int(owners[row]))


def box_finding(data: DataSet, row: int, code: str, message: str, **numbers: object) -> Finding:
    """Return a finding on one annotation; its numbers begin with the annotation's token."""
    numbers = {"token": data["sample_annotation"].tokens[row], **numbers}
    return Finding(code, message, numbers=numbers, **data.annotation_place(row))


def follow(first: IntArray, second: IntArray) -> IntArray:
    """Return (N,) ``second[first]`` of (N,) row numbers; negative ones stay unchanged."""
    if not len(second):
        return np.minimum(first, -1)
    return np.where(first >= 0, second[np.maximum(first, 0)], first)


def versions_of(root: Path) -> list[str]:
    """Return the names of the version folders, which have a sample_data table.

    Raises:
        InputError: the folder does not exist.
        DatasetError: it has no version folder.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; give the dataset's folder, which contains v1.0-mini or the like")
    found = sorted(path.parent.name for path in root.glob("*/sample_data.json"))
    if not found:
        refuse_without_tables(root)
        raise DatasetError(f"{root}: no version folder with sample_data.json; give the dataset's folder")
    return found


def open_dataset(root: Path, version: str, *, dialect: str | None = None) -> DataSet:
    """Read one version folder; ``ColumnTable.findings`` has the faults of its tables.

    Args:
        root: the dataset's folder.
        version: one of ``versions_of``.
        dialect: ``strict`` or ``uav3d``; default: detected.

    Raises:
        InputError: the folder does not exist.
        UnknownNameError: the version or the dialect does not exist.
        DatasetError: the folder has no version.
    """
    if not (root / version).is_dir():
        raise UnknownNameError(f"{root / version}: no such version folder; available: {', '.join(versions_of(root))}")
    files = DataFolder(root)
    present = {name: fields for name, fields in EXTRA.items() if files.fault(f"{version}/{name}.json") != MISSING}
    schema = _added(files, version) | TABLES | present
    tables = {name: read_table(files, f"{version}/{name}.json", fields) for name, fields in schema.items()}
    for name, fields in schema.items():
        for spec in fields:
            if spec.kind == "ref":
                columns = tables[name].columns
                columns[spec.name] = resolve(columns[spec.name], tables[spec.table])
            elif spec.kind == "refs":
                flat, lengths = tables[name].lists[spec.name]
                tables[name].lists[spec.name] = (resolve(flat, tables[spec.table]), lengths)
    splits, findings = _read_splits(files, f"{version}/splits.json")
    detected = pick(DIALECTS, dialect, what="dialect") if dialect else _dialect(tables)
    return DataSet(files, version, detected, tables, splits, findings, schema)


def _added(files: DataFolder, version: str) -> dict[str, tuple[Field, ...]]:
    """Return the tables of plug-ins, by the references in the dataset's description; {} if these are malformed."""
    try:
        description = parse_json(
            files.read(f"{version}/uav_dataset.json", what="there is", most_bytes=MOST_TABLE_BYTES)
        )
        names = {
            (t, column, of)
            for t, columns in description.get("references", {}).items()
            for column, of in columns.items()
        }
    except (AttributeError, DatasetError, TypeError, ValueError):
        return {}
    fields: dict[str, tuple[Field, ...]] = {}
    for table, column, of in sorted(names):
        is_there = re.fullmatch("[a-z][a-z_]*", table) and files.fault(f"{version}/{table}.json") != MISSING
        if is_there and of in TABLES and column != "token":
            fields[table] = (*fields.get(table, (Field("token", "token"),)), Field(column, "ref", table=of))
    return fields


def _dialect(tables: dict[str, ColumnTable]) -> Dialect:
    """Detect the dialect: UAV3D has one calibration per image and ego poses without rotation."""
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    poses, images = tables["ego_pose"]["rotation"], len(tables["sample_data"])
    unturned = np.mean(np.abs(poses - identity).max(axis=1) < 1e-9) if len(poses) else 0.0
    own_calibration = len(tables["calibrated_sensor"]) >= 0.9 * images > 0
    has_bev = hash(BEV_CHANNEL) in hashes(tables["sensor"]["channel"]).tolist()
    return "uav3d" if own_calibration and unturned > 0.9 and not has_bev else "strict"


def _read_splits(files: DataFolder, name: str) -> tuple[dict[str, list[str]], list[Finding]]:
    if files.fault(name) == MISSING:
        return {}, []
    try:
        content = parse_json(files.read(name, what="there is", most_bytes=MOST_TABLE_BYTES))
    except (DatasetError, ValueError) as error:
        return {}, [Finding("schema.table", f"splits.json cannot be read: {error}")]
    if not isinstance(content, dict) or not all(isinstance(v, list) for v in content.values()):
        return {}, [Finding("schema.table", "splits.json must map split names to lists of scene names")]
    return {str(k): [str(name) for name in v] for k, v in content.items()}, []
