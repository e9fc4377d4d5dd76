"""Selection of images of a dataset: tables without the rows of other images, with valid links and counts."""

from collections.abc import Iterable, Iterator, Set
from typing import Any, Final, cast

import numpy as np

from uavsim.dataset.dialects import FileMove
from uavsim.dataset.reader import DatasetReader, SceneRows
from uavsim.dataset.rows import DatasetInfo
from uavsim.dataset.schema import Tables, scene_tables
from uavsim.dataset.vocabulary import VISIBILITY_EDGES
from uavsim.records.channels import split_channel
from uavsim.typing import JsonDict

Rows = list[JsonDict]
_FIRST: Final = ("scene", "sample", "sample_data", "sample_annotation", "instance", "visibility_detail")
_USED: Final = {"ego_pose": "ego_pose_token", "calibrated_sensor": "calibrated_sensor_token"}


class Selection:
    """A conversion of a strict dataset into one with chosen camera images; other files are kept."""

    def __init__(self, reader: DatasetReader, chosen: Set[str], *, written: Set[str]) -> None:
        """Prepare the conversion.

        Args:
            reader: reader of a strict dataset.
            chosen: ``sample_data`` tokens of camera images. A scene ends before the first sample that lacks a camera.
            written: names of files that the caller writes.
        """
        self._reader, self._chosen, self._written = reader, chosen, written
        shared = {table.name: reader.shared(table) for table in reader.tables if table.scope != "scene"}
        self._shared = cast("dict[str, Rows]", shared)
        self._channels = {row["token"]: str(row["channel"]) for row in self._shared["sensor"]}
        self._sensors: set[str] = set()
        self._logs: set[str] = set()
        self._towns: set[str] = set()
        self._scenes = 0

    def scene(self, scene: SceneRows) -> SceneRows:
        """Return the remaining rows of a scene."""
        rows: dict[str, Rows] = {name: [dict(row) for row in table] for name, table in scene.rows.items()}
        dropped = self._dropped(rows)
        for name, column in (("sample", "scene_token"), ("sample_data", "calibrated_sensor_token")):
            rows[name] = _linked([row for row in rows[name] if row["token"] not in dropped], column)
        for table in scene_tables(self._reader.tables):
            if table.name not in (*_FIRST, *_USED):
                rows[table.name] = [row for row in rows.get(table.name, []) if not _refers_to(row, dropped)]
        _update_labels(rows, dropped)
        for name, column in _USED.items():
            used = {row[column] for row in rows["sample_data"]}
            rows[name] = [row for row in rows[name] if row["token"] in used]
        samples = rows["sample"]
        (row,) = rows["scene"]
        row["nbr_samples"] = len(samples)
        row["first_sample_token"], row["last_sample_token"] = samples[0]["token"], samples[-1]["token"]
        self._sensors |= {row["sensor_token"] for row in rows["calibrated_sensor"]}
        self._logs |= {row["token"] for row in rows["log"]}
        self._towns |= {row["location"] for row in rows["log"]}
        self._scenes += 1
        return SceneRows(cast("Any", row), cast("Tables", rows))

    def files(self, _before: SceneRows, after: SceneRows) -> Iterator[FileMove]:
        """Yield the files of a scene that the caller does not write."""
        tables = cast("dict[str, Rows]", after.rows)
        for name in ("sample_data", "layer", "lidarseg"):
            for row in tables.get(name, ()):
                if row["filename"] not in self._written:
                    yield FileMove(row["filename"], row["filename"], may_miss=not row.get("height", 1))

    def shared(self) -> Tables:
        """Return the shared tables with the remaining sensors and maps."""
        maps = [row | {"log_tokens": [t for t in row["log_tokens"] if t in self._logs]} for row in self._shared["map"]]
        remaining = {
            "sensor": [row for row in self._shared["sensor"] if row["token"] in self._sensors],
            "map": [row for row in maps if row["log_tokens"]],
        }
        return cast("Tables", self._shared | remaining)

    def shared_files(self, shared: Tables) -> Iterable[FileMove]:
        """Return the files of the remaining maps."""
        return [FileMove(row["filename"], row["filename"]) for row in cast("dict[str, Rows]", shared)["map"]]

    def info(self, row_count: dict[str, int]) -> DatasetInfo:
        """Return the description of the dataset with new counts."""
        counts = {"rows": row_count, "scenes": self._scenes, "towns": sorted(self._towns)}
        return cast("DatasetInfo", dict(self._reader.info) | counts)

    def scenes_chosen(self) -> set[str]:
        """Return the tokens of scenes with chosen images."""
        return {
            scene.scene["token"]
            for scene in self._reader.scenes()
            if any(row["token"] in self._chosen for row in cast("dict[str, Rows]", scene.rows)["sample_data"])
        }

    def _dropped(self, rows: dict[str, Rows]) -> set[str]:
        """Return the tokens of samples and sensor data to leave out."""
        sensor_of = {row["token"]: row["sensor_token"] for row in rows["calibrated_sensor"]}
        channels_of: dict[str, set[str]] = {}
        chosen_channels: set[str] = set()
        for row in rows["sample_data"]:
            if row["token"] in self._chosen:
                channel = self._channels[sensor_of[row["calibrated_sensor_token"]]]
                chosen_channels.add(channel)
                if row["is_key_frame"]:
                    channels_of.setdefault(row["sample_token"], set()).add(channel)
        count = len(rows["sample"])
        for number, sample in enumerate(rows["sample"]):
            if channels_of.get(sample["token"], set()) != chosen_channels:
                count = number
                break
        dropped = {row["token"] for row in rows["sample"][count:]}
        for row in rows["sample_data"]:
            is_image = bool(row["height"])
            if row["sample_token"] in dropped or (is_image and row["token"] not in self._chosen):
                dropped.add(row["token"])
        return dropped


def _refers_to(row: JsonDict, dropped: Set[str]) -> bool:
    return any(row[key] in dropped for key in row if key == "token" or key.endswith("_token"))


def _linked(rows: Rows, column: str) -> Rows:
    """Link rows of equal ``column`` with ``prev`` and ``next``, ascending in time."""
    last: dict[str, JsonDict] = {}
    for row in sorted(rows, key=lambda row: int(row.get("timestamp", 0))):
        before = last.get(row[column])
        row["prev"], row["next"] = (before["token"], "") if before else ("", "")
        if before:
            before["next"] = row["token"]
        last[row[column]] = row
    return rows


def _update_labels(rows: dict[str, Rows], dropped: Set[str]) -> None:
    """Remove boxes and views of dropped samples and images, and update counts of tracks and pixels."""
    boxes = [row for row in rows["sample_annotation"] if row["sample_token"] not in dropped]
    _linked(boxes, "instance_token")  # the table ascends in time
    rows["sample_annotation"] = boxes
    tracks: dict[str, list[str]] = {}
    for box in boxes:
        tracks.setdefault(box["instance_token"], []).append(box["token"])
    rows["instance"] = [row for row in rows["instance"] if row["token"] in tracks]
    for row in rows["instance"]:
        track = tracks[row["token"]]
        row |= {
            "nbr_annotations": len(track),
            "first_annotation_token": track[0],
            "last_annotation_token": track[-1],
        }
    stamps = {row["timestamp"] for row in rows["sample_data"]}
    rows["sweep_annotation"] = [
        row
        for row in rows.get("sweep_annotation", [])
        if row["instance_token"] in tracks and row["timestamp"] in stamps
    ]
    by_token = {box["token"]: box for box in boxes}
    rows["visibility_detail"] = [
        row for row in rows.get("visibility_detail", []) if row["sample_annotation_token"] in by_token
    ]
    for row in rows["visibility_detail"]:
        views = [view for view in row["views"] if view["sample_data_token"] not in dropped]
        if len(views) != len(row["views"]):
            _update_visibility(by_token[row["sample_annotation_token"]], row, views)


def _update_visibility(box: JsonDict, detail: JsonDict, views: Rows) -> None:
    """Set the visibility of a box by its remaining views."""
    visible, amodal = (sum(view[key] for view in views) for key in ("visible_px", "amodal_px"))
    agents = {split_channel(view["channel"])[1] for view in views if view["visible_px"]}
    seen_by = [agent for agent in detail["seen_by"] if agent in agents]
    detail |= {"views": views, "seen_by": seen_by}
    level = int(np.searchsorted(VISIBILITY_EDGES, visible / max(amodal, 1), side="right")) + 1
    box |= {"visibility_token": str(level), "uav_amodal_px": amodal, "uav_seen_by": seen_by}
    box["uav_visible_px" if "uav_visible_px" in box else "num_lidar_pts"] = visible
