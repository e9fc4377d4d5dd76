"""Read a data set scene by scene, ours or others', in either dialect, without holding more than one scene.

Tables that we wrote have their rows in the order of the scenes, so every table is read along with the others, and each scene
takes the rows that belong to it. Tables in any other order are read whole and grouped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uavsim.dataset.assemble import DATASET_INFO
from uavsim.dataset.named import check_scene_names, check_shared_names, check_splits
from uavsim.dataset.tables import iter_rows, read_rows
from uavsim.dataset.vocabulary import TABLES
from uavsim.errors import DatasetError, UnknownNameError
from uavsim.files.names import DataFolder, check_part
from uavsim.files.parse import parse_json, read_regular
from uavsim.registry import nearest
from uavsim.typing import JsonDict

__all__ = ["SHARED_TABLES", "DatasetReader", "SceneRows", "open_dataset"]

SHARED_TABLES: Final = (
    "category",
    "attribute",
    "visibility",
    "semantic_tag",
    "sensor",
    "map",
    "strict_category",
    "strict_sensor",
)
"""Small tables that belong to no scene."""

_OPTIONAL: Final = (
    "camera_pose",
    "layer",
    "visibility_detail",
    "agent_view",
    "strict_calibrated_sensor",
    "strict_ego_pose",
    "strict_sample_data",
)
_OWNER: Final[dict[str, tuple[str, str]]] = {  # table -> (its column, the set of tokens that the column must be in)
    "scene": ("token", "scene"),
    "log": ("token", "log"),
    "sample": ("scene_token", "scene"),
    "sample_data": ("sample_token", "sample"),
    "strict_sample_data": ("sample_token", "sample"),
    "sample_annotation": ("sample_token", "sample"),
    "ego_pose": ("token", "ego_pose"),
    "calibrated_sensor": ("token", "calibrated_sensor"),
    "strict_ego_pose": ("token", "strict_ego_pose"),
    "strict_calibrated_sensor": ("token", "strict_calibrated_sensor"),
    "instance": ("token", "instance"),
    "camera_pose": ("token", "sample_data"),
    "layer": ("sample_data_token", "sample_data"),
    "agent_view": ("sample_data_token", "sample_data"),
    "visibility_detail": ("sample_annotation_token", "sample_annotation"),
}
"""In the order in which tables are read: each row's owner is known before the row is looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class SceneRows:
    """One scene: its row of ``scene`` and the rows of every table that belong to it, in table order."""

    scene: JsonDict
    rows: dict[str, list[JsonDict]]


class DatasetReader:
    """One version of a data set."""

    def __init__(self, root: Path, version: str) -> None:
        """Check that the 13 tables are there.

        Raises:
            DatasetError: a table is missing.
        """
        self.root, self.version = root, version
        self.folder = root / check_part(version, what=f"{root}: version")
        self._files = DataFolder(root)
        missing = [name for name in TABLES if not self._path(name).is_file()]
        if missing:
            raise DatasetError(f"{self.folder}: no data set: {missing[0]}.json is missing")
        self._per_scene = [name for name in _OWNER if self._path(name).is_file()]

    @property
    def table_names(self) -> list[str]:
        """Every table that is there and known."""
        known = dict.fromkeys((*TABLES, *_OPTIONAL, *SHARED_TABLES))
        return [name for name in known if self._path(name).is_file()]

    @property
    def info(self) -> JsonDict:
        """The data set's own description; {} where others wrote it."""
        return self._json(DATASET_INFO)

    @property
    def dialect(self) -> str:
        """``strict`` or ``uav3d``; data sets of others are told apart by the categories' and channels' names."""
        told = self.info.get("dialect")
        if isinstance(told, str):
            return told
        lidar = any(row.get("channel") == "LIDAR_TOP" for row in self.shared("sensor"))
        blueprints = all(str(row.get("name", "")).count(".") >= 2 for row in self.shared("category"))
        return "uav3d" if blueprints and not lidar else "strict"

    @property
    def splits(self) -> dict[str, list[str]]:
        """``splits.json``; {} where there is none."""
        splits = self._json("splits.json")
        check_splits(self._files, splits)
        return splits

    def shared(self, name: str) -> list[JsonDict]:
        """Return a table that belongs to no scene; [] for one that is not there."""
        path = self._path(name)
        rows = read_rows(path) if path.is_file() else []
        check_shared_names(self._files, name, rows)
        return rows

    def scenes(self) -> Iterator[SceneRows]:
        """Yield every scene in table order.

        Raises:
            DatasetError: a table is damaged.
        """
        for scene in self._stream() if self._in_scene_order() else self._grouped():
            check_scene_names(self._files, scene.scene, scene.rows)
            yield scene

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
            raise DatasetError(f"{path}: a JSON object is expected")
        return value

    def _in_scene_order(self) -> bool:
        """Tell whether the tables are ours; only then is their order promised."""
        return bool(self.info) and sum(1 for _ in iter_rows(self._path("log"))) == sum(
            1 for _ in iter_rows(self._path("scene"))
        )

    def _stream(self) -> Iterator[SceneRows]:
        tables = {name: _Peekable(iter_rows(self._path(name))) for name in self._per_scene}
        for scene in iter_rows(self._path("scene")):
            yield _collect(scene, self._per_scene, lambda name, owns: tables[name].take_while(owns))
        left = [name for name, table in tables.items() if not table.exhausted]
        if left:
            raise DatasetError(f"{self._path(left[0])}: holds a row that belongs to no scene, or out of order")

    def _grouped(self) -> Iterator[SceneRows]:
        rows = {name: _ByOwner(self._path(name), _OWNER[name][0]) for name in self._per_scene}
        for scene in read_rows(self._path("scene")):
            yield _collect(scene, self._per_scene, lambda name, owns: rows[name].of(owns.tokens))


def open_dataset(root: Path, version: str | None = None) -> DatasetReader:
    """Open a data set.

    Args:
        root: its folder.
        version: ``v1.0-mini``; by default the only one that is there.

    Raises:
        DatasetError: no such folder or no tables in it.
        UnknownNameError: no such version, or several and none was named.
    """
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder")
    found = sorted(path.parent.name for path in root.glob("v*/sample.json"))
    if not found:
        raise DatasetError(f"{root}: no data set: no v1.0-*/sample.json in it")
    if version is None and len(found) > 1:
        raise UnknownNameError(f"{root} holds {', '.join(found)}: name one with --version")
    chosen = version or found[0]
    if chosen not in found:
        raise UnknownNameError(
            f"{root} holds no version {chosen!r}; did you mean {nearest(chosen, found) or found[0]!r}?"
        )
    return DatasetReader(root, chosen)


@dataclass(frozen=True, slots=True)
class _Owns:
    """Whether a row belongs to the scene at hand."""

    column: str
    tokens: dict[str, None]

    def __call__(self, row: JsonDict) -> bool:
        return row.get(self.column) in self.tokens


class _Peekable:
    """An iterator whose next row can be left for the next scene."""

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
        for place, row in enumerate(iter_rows(path)):
            self._rows.setdefault(str(row.get(column)), []).append((place, row))

    def of(self, tokens: dict[str, None]) -> list[JsonDict]:
        placed = [item for token in tokens for item in self._rows.get(token, ())]
        return [row for _, row in sorted(placed, key=lambda item: item[0])]


def _collect(scene: JsonDict, names: list[str], take: Callable[[str, _Owns], list[JsonDict]]) -> SceneRows:
    """Take a scene's rows from every table; the tokens of one table own the rows of the next."""
    tokens: dict[str, dict[str, None]] = {"scene": {scene["token"]: None}, "log": {scene["log_token"]: None}}
    rows: dict[str, list[JsonDict]] = {}
    for name in names:
        column, owner = _OWNER[name]
        rows[name] = take(name, _Owns(column, tokens.get(owner, {})))
        if name in {"sample", "sample_data", "sample_annotation"}:
            tokens[name] = dict.fromkeys(row["token"] for row in rows[name])
        if name in {"sample_data", "strict_sample_data"}:
            _add_poses(tokens, rows[name], prefix="strict_" if name.startswith("strict_") else "")
        if name == "sample_annotation":
            tokens["instance"] = dict.fromkeys(row["instance_token"] for row in rows[name])
    return SceneRows(scene=scene, rows=rows)


def _add_poses(tokens: dict[str, dict[str, None]], rows: list[JsonDict], *, prefix: str) -> None:
    """Note which poses and calibrations a scene's images have, in this dialect and, if carried along, in the strict one."""
    for row in rows:
        tokens.setdefault(f"{prefix}ego_pose", {})[row["ego_pose_token"]] = None
        tokens.setdefault(f"{prefix}calibrated_sensor", {})[row["calibrated_sensor_token"]] = None
        if "uav_ego_pose_token" in row:
            tokens.setdefault("strict_ego_pose", {})[row["uav_ego_pose_token"]] = None
            tokens.setdefault("strict_calibrated_sensor", {})[row["uav_calibrated_sensor_token"]] = None
