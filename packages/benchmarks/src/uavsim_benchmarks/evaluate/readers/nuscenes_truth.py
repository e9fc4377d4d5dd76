"""Ground truth of a nuScenes-format dataset in either dialect, as arrays from streamed tables."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from uavsim.dataset.tables import iter_rows, read_rows
from uavsim.errors import DatasetError, InputError
from uavsim.records.classes import detection_class
from uavsim.registry import pick
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray, JsonDict
from uavsim_benchmarks.evaluate.boxes import ATTRIBUTES, NOTHING, Boxes, yaw_of_quat
from uavsim_benchmarks.evaluate.readers.json_stream import read_json
from uavsim_benchmarks.evaluate.readers.nuscenes_results import numbers_of

_RACK: Final = "static_object.bicycle_rack"
_RACK_LABEL: Final = -2
_ROWS_PER_BLOCK: Final = 4096
_FLOATS: Final = {"translation": slice(0, 3), "size": slice(3, 6), "rotation": slice(6, 10)}
_KEYS: Final = ("token", "prev", "next")
_SMALL: Final = ("sample", "label", "track", "attribute", "has points", "drones", "visibility")  # columns of 32 bits
_Block: TypeAlias = tuple[FloatArray, IntArray, AnyArray]
_LONGEST_STEP_S: Final = 1.5  # longer steps give NaN in the devkit's box_velocity


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Ground truth of S samples with N boxes.

    Args:
        samples: number of each evaluated sample by token, in table order.
        known: every sample token of the version.
        scene: (S,) number of each sample's scene.
        scenes: names.
        frame: (S,) position of each sample within its scene, in time order.
        time_us: (S,).
        ego_m: (S, 3) origin of ranges.
        ego_yaw_rad: (S,).
        boxes: labels are indices into the requested labels; tracks are numbers of instances.
        racks: bicycle racks.
        key: (N,) hash of each annotation's token.
        drones: (N,) number of drones that see the box; -1 where unknown.
        visibility: (N,) nuScenes' level 1 to 4, 0 for none.
    """

    samples: dict[str, int]
    known: dict[str, int]
    scene: IntArray
    scenes: list[str]
    frame: IntArray
    time_us: IntArray
    ego_m: FloatArray
    ego_yaw_rad: FloatArray
    boxes: Boxes
    racks: Boxes
    key: IntArray
    drones: IntArray
    visibility: IntArray


def read_truth(
    root: Path,
    version: str,
    *,
    labels: tuple[str, ...],
    names: Callable[[str], str | None] = detection_class,
    split: str | None = None,
    ego_channel: str = "LIDAR_TOP",
    ego_is_sensor: bool = False,
    many_attributes: str | None = None,
) -> Truth:
    """Read the boxes of a split.

    Args:
        root: the dataset's folder.
        version: its version folder.
        labels: the benchmark's classes in order.
        names: function from a category to its class; categories without a class in ``labels`` are left out.
        split: of ``splits.json``; default: all scenes.
        ego_channel: sensor with the ego pose that is the origin of ranges; a camera's origin has height 0.
        ego_is_sensor: use the calibrated sensor instead, which is in global coordinates in the uav3d dialect.
        many_attributes: attribute of boxes with several; default: such boxes are refused, as by the devkit.

    Raises:
        DatasetError: a table is missing or damaged.
        InputError: the split is unknown, or the benchmark refuses a box.
    """
    tables = root / version
    scene_rows = read_rows(tables / "scene.json")
    split_scenes = _scenes_of_split(tables, scene_rows, split)
    sample_rows = read_rows(tables / "sample.json")
    if not sample_rows:
        raise DatasetError(f"{tables}: no samples")
    numbers = {row["token"]: n for n, row in enumerate(scene_rows)}
    rows_of_split = [row for row in sample_rows if row["scene_token"] in split_scenes]
    samples = {row["token"]: n for n, row in enumerate(rows_of_split)}
    scene = np.array([numbers[row["scene_token"]] for row in rows_of_split], dtype=np.int64)
    time_us = np.array([row["timestamp"] for row in rows_of_split], dtype=np.int64)
    ego_m, ego_yaw_rad = _egos(tables, samples, ego_channel, ego_is_sensor)
    rows = _Rows(labels, names, many_attributes, tables)
    boxes, racks, key, drones, visibility = rows.read(samples, time_us)
    return Truth(
        samples=samples,
        known={row["token"]: n for n, row in enumerate(sample_rows)},
        scene=scene,
        scenes=[row["name"] for row in scene_rows],
        frame=_frames(scene, time_us),
        time_us=time_us,
        ego_m=ego_m,
        ego_yaw_rad=ego_yaw_rad,
        boxes=boxes,
        racks=racks,
        key=key,
        drones=drones,
        visibility=visibility,
    )


def _scenes_of_split(tables: Path, scenes: list[JsonDict], split: str | None) -> set[str]:
    if split is None:
        return {row["token"] for row in scenes}
    names = set(pick(read_json(tables / "splits.json"), split, what="split"))
    return {row["token"] for row in scenes if row["name"] in names}


def _frames(scene: IntArray, time_us: IntArray) -> IntArray:
    order = np.lexsort((time_us, scene))
    frame = np.zeros(len(scene), np.int64)
    begins = np.searchsorted(scene[order], scene[order])
    frame[order] = np.arange(len(scene)) - begins
    return frame


def _egos(tables: Path, samples: dict[str, int], channel: str, is_sensor: bool) -> tuple[FloatArray, FloatArray]:
    """Return (samples, 3) origins of ranges and (samples,) headings of the ego."""
    sensors = {row["token"] for row in iter_rows(tables / "sensor.json") if row["channel"] == channel}
    if not sensors:
        raise DatasetError(f"{tables}: no sensor {channel}, the origin of ranges")
    calibrated = {
        row["token"]: row for row in iter_rows(tables / "calibrated_sensor.json") if row["sensor_token"] in sensors
    }
    shots = {
        row["ego_pose_token"]: row
        for row in iter_rows(tables / "sample_data.json")
        if row["calibrated_sensor_token"] in calibrated and row["is_key_frame"] and row["sample_token"] in samples
    }
    ego_m, yaw_rad = np.full((len(samples), 3), np.nan), np.zeros(len(samples))
    for pose in iter_rows(tables / "ego_pose.json"):
        shot = shots.get(pose["token"])
        if shot is None:
            continue
        number = samples[shot["sample_token"]]
        ego_m[number] = (calibrated[shot["calibrated_sensor_token"]] if is_sensor else pose)["translation"]
        yaw_rad[number] = yaw_of_quat(np.array(pose["rotation"], dtype=np.float64))
    if channel != "LIDAR_TOP":
        ego_m[:, 2] = 0.0
    missing = np.flatnonzero(np.isnan(ego_m[:, 0]))
    if len(missing):
        token = list(samples)[int(missing[0])]
        raise DatasetError(f"{tables}: sample {token} has no keyframe of {channel} with an ego pose")
    return ego_m, yaw_rad


class _Rows:
    """Streams the annotations into columns."""

    def __init__(
        self,
        labels: tuple[str, ...],
        names: Callable[[str], str | None],
        many_attributes: str | None,
        tables: Path,
    ) -> None:
        categories = {row["token"]: row["name"] for row in iter_rows(tables / "category.json")}
        codes = {token: _code(labels, names(name)) for token, name in categories.items()}
        racks = {token for token, name in categories.items() if name == _RACK}
        self._label: dict[str, tuple[int, int]] = {}
        for number, row in enumerate(iter_rows(tables / "instance.json")):
            label = _RACK_LABEL if row["category_token"] in racks else codes[row["category_token"]]
            self._label[row["token"]] = (label, number)
        self._attributes = {row["token"]: row["name"] for row in iter_rows(tables / "attribute.json")}
        self._many = many_attributes
        self._path = tables / "sample_annotation.json"

    def read(self, samples: dict[str, int], time_us: IntArray) -> tuple[Boxes, Boxes, IntArray, IntArray, IntArray]:
        rows: list[JsonDict] = []
        numbers: list[tuple[int, int, int]] = []
        blocks: list[_Block] = []
        for row in iter_rows(self._path):
            number = samples.get(row["sample_token"])
            if number is None:
                continue
            label, track = self._label[row["instance_token"]]
            if label == NOTHING:
                continue
            rows.append(row)
            numbers.append((number, label, track))
            if len(rows) == _ROWS_PER_BLOCK:
                blocks.append(self._block(rows, numbers))
                rows, numbers = [], []
        blocks.append(self._block(rows, numbers))
        return _boxes(*_joined(blocks), time_us)

    def _block(self, rows: list[JsonDict], numbers: list[tuple[int, int, int]]) -> _Block:
        floats = np.empty((len(rows), 10))
        for key, columns in _FLOATS.items():
            length = columns.stop - columns.start
            try:
                floats[:, columns] = numbers_of([row[key] for row in rows], length)
            except (TypeError, ValueError, OverflowError) as error:
                raise DatasetError(f"{self._path}: a box's {key} is not {length} numbers") from error
        keys = np.array([[hash(row[key]) if row[key] else 0 for row in rows] for key in _KEYS], np.int64)
        small = np.empty((len(rows), len(_SMALL)), np.int32)
        small[:, :3] = np.array(numbers, np.int32).reshape(-1, 3)
        for column, of_row in enumerate((self._attribute, _has_points, _drones, _visibility), start=3):
            small[:, column] = np.fromiter(map(of_row, rows), np.int32, len(rows))
        return floats, keys.T.copy(), small

    def _attribute(self, row: JsonDict) -> int:
        tokens = row["attribute_tokens"]
        if not tokens:
            return NOTHING
        if len(tokens) > 1 and self._many is None:
            raise InputError(
                f"{self._path}: box {row['token']} has {len(tokens)} attributes; the devkit accepts at most one"
            )
        name = self._many if len(tokens) > 1 and self._many else self._attributes[tokens[0]]
        if name not in ATTRIBUTES:
            raise InputError(f"{self._path}: box {row['token']}: {name!r} is not a nuScenes attribute")
        return ATTRIBUTES.index(name)


def _has_points(row: JsonDict) -> int:
    return int(row["num_lidar_pts"] + row["num_radar_pts"] != 0)


def _drones(row: JsonDict) -> int:
    seen_by = row.get("uav_seen_by")
    return -1 if seen_by is None else len(seen_by)


def _visibility(row: JsonDict) -> int:
    level = row.get("visibility_token") or "0"
    return int(level) if str(level).isdigit() else 0


def _joined(blocks: list[_Block]) -> _Block:
    """Return the rows of all blocks sorted by sample; each block is given up when it is copied, so nothing is held twice."""
    count = sum(len(block[0]) for block in blocks)
    floats = np.empty((count, 10))
    keys = np.empty((count, 3), dtype=np.int64)
    small = np.empty((count, len(_SMALL)), dtype=np.int32)
    columns: tuple[AnyArray, ...] = (floats, keys, small)
    end = count
    while blocks:
        parts = blocks.pop()
        for column, part in zip(columns, parts, strict=True):
            column[end - len(part) : end] = part
        end -= len(parts[0])
    if np.any(np.diff(small[:, 0]) < 0):
        order = np.argsort(small[:, 0], kind="stable")
        floats, keys, small = floats[order], keys[order], small[order]
    return floats, keys, small


def _boxes(
    floats: FloatArray, keys: IntArray, small: AnyArray, time_us: IntArray
) -> tuple[Boxes, Boxes, IntArray, IntArray, IntArray]:
    velocity_mps = _velocities(small[:, 0], keys, floats[:, :3], time_us)
    rack = small[:, 1] == _RACK_LABEL
    rest = slice(None) if not rack.any() else ~rack
    boxes = _take(floats, small, velocity_mps, rest)
    racks = _take(floats, small, velocity_mps, rack)
    return boxes, racks, keys[rest, 0].copy(), small[rest, 5].astype(np.int64), small[rest, 6].astype(np.int64)


def _take(floats: FloatArray, small: AnyArray, velocity_mps: FloatArray, rows: BoolArray | slice) -> Boxes:
    numbers, values = small[rows], floats[rows]
    return Boxes(
        sample=numbers[:, 0].astype(np.int64),
        label=numbers[:, 1].astype(np.int64),
        centre_m=values[:, :3].copy(),
        size_m=values[:, 3:6].copy(),
        yaw_rad=yaw_of_quat(values[:, 6:]),
        velocity_mps=velocity_mps[rows],
        score=np.full(len(values), -1.0),
        attribute=numbers[:, 3].astype(np.int64),
        track=numbers[:, 2].astype(np.int64),
        counted=numbers[:, 4] != 0,
    )


def _code(labels: tuple[str, ...], name: str | None) -> int:
    return labels.index(name) if name in labels else NOTHING


def _velocities(sample: AnyArray, keys: IntArray, centre_m: FloatArray, time_us: IntArray) -> FloatArray:
    """Return each box's velocity from its neighbours in the chain; NaN where they are missing or too far in time.

    Source: nuscenes-devkit 1.2.0, ``nuscenes.py``, ``box_velocity``.
    """
    key, before, after = keys.T
    order = np.argsort(key)
    has_before, has_after = before != 0, after != 0
    rows = np.arange(len(key))
    first = np.where(has_before, _lookup(key, order, before, rows), rows)
    last = np.where(has_after, _lookup(key, order, after, rows), rows)
    seconds = 1e-6 * time_us[sample]
    step = seconds[last] - seconds[first]
    longest = np.where(has_before & has_after, 2 * _LONGEST_STEP_S, _LONGEST_STEP_S)
    with np.errstate(divide="ignore", invalid="ignore"):
        velocity: FloatArray = (centre_m[last, :2] - centre_m[first, :2]) / step[:, None]
    velocity[~(has_before | has_after) | (step > longest)] = np.nan
    return velocity


def _lookup(key: IntArray, order: IntArray, targets: IntArray, fallback: IntArray) -> IntArray:
    if not len(key):
        return fallback
    ascending, by_size = key[order], np.argsort(targets)  # neighbours look up neighbours, in the cache
    index = np.empty(len(targets), np.int64)
    index[by_size] = np.searchsorted(ascending, targets[by_size])
    index = np.minimum(index, len(key) - 1)
    return np.where(ascending[index] == targets, order[index], fallback)
