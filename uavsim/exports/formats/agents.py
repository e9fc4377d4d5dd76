"""Each agent as a plain nuScenes dataset, with nuScenes' names of channels and scenes.

``<split>/{drone_0,vehicle_0,roadside_0,...}/{samples,sweeps,maps,can_bus,v1.0-*}`` include vector maps, where the dataset has
them, and splits of the prediction challenge. Tools for one car with ``CAM_FRONT`` and ``LIDAR_TOP`` read such a folder.
Tokens equal those of the dataset. An agent has the boxes of objects that it measures, from the first to the last measurement,
without its own box; visibility, ``num_lidar_pts`` and ``num_radar_pts`` count its own measurements. An agent
without a lidar has an empty ``LIDAR_TOP`` on the ground below it, and its visible pixels as ``num_lidar_pts``.
``docs/converters.md`` lists further assumptions of nuScenes converters.
"""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Dataset, Scene
from uavsim.access.towns import LARGEST_MAP_BYTES
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.dataset.schema import (
    AGENT,
    ATTRIBUTE,
    CALIBRATED_SENSOR,
    CATEGORY,
    EGO_POSE,
    INSTANCE,
    LOG,
    MAP,
    SAMPLE,
    SAMPLE_ANNOTATION,
    SAMPLE_DATA,
    SCENE,
    SENSOR,
    SPLITS,
    VECTOR_MAPS,
    VISIBILITY,
    VISIBILITY_DETAIL,
    Table,
)
from uavsim.dataset.tables import TableWriter, write_json, write_rows
from uavsim.dataset.tokens import token
from uavsim.dataset.vocabulary import VISIBILITY_EDGES
from uavsim.errors import DatasetError
from uavsim.exports.formats.can_bus import meta, pose_messages, vehicle_messages
from uavsim.exports.formats.prediction import SCENES_FILE, prediction_tokens
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.scene_names import name_scenes
from uavsim.files.bring import bring_file
from uavsim.files.names import DataFolder
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry import quaternion
from uavsim.images.points import decode_points, encode_points
from uavsim.ingredients.vehicles_can_bus import KIND
from uavsim.records.ingredients import AGENT_KINDS
from uavsim.typing import JsonDict

_OF_SCENES: Final = (SCENE, LOG, SAMPLE, EGO_POSE, CALIBRATED_SENSOR, SAMPLE_DATA, INSTANCE, SAMPLE_ANNOTATION)
_KINDS: Final = {kind.letter: kind.name for kind in AGENT_KINDS.values() if kind.letter}
Rows = list[JsonDict]


@exporter
def export_agents(request: ExportRequest) -> list[Path]:
    """Write one dataset for each agent; files are hard-linked.

    Raises:
        DatasetError: a file is missing, or the channels name no agents.
    """
    with ExitStack() as stack:
        data = request.open_labelled()
        folder = ResultPath.open(request.out) / request.split_name
        names = name_scenes(data.scene_names, data.splits, version=data.version)
        views: dict[tuple[str, str], _Alone] = {}
        scene_names: dict[str, str] = {}
        for scene in data.scenes(request.split):
            name, version = names[scene.name]
            scene_names[scene.name] = name
            for agent in agents_of(data):
                if (version, agent) not in views:
                    views[version, agent] = _Alone(agent, data, folder / folder_name(agent), stack, version=version)
                views[version, agent].add(scene, name=name)
        folders = [views[key].keep(data) for key in sorted(views)]  # v1.0-trainval last: its prediction splits win
        write_json(folder / "scene_names.json", scene_names)
        return [*dict.fromkeys(folders)]


def agents_of(data: Dataset) -> list[str]:
    """Return the agents with sensors, as channels name them (``0``, ``v0``, ``r0``).

    Raises:
        DatasetError: the channels name no agents.
    """
    found = dict.fromkeys(filter(None, (agent_of(row["channel"]) for row in data.rows(SENSOR))))
    if not found:
        raise DatasetError(f"{data.root}: no channel has the name of an agent, as CAMERA_FRONT_id_0")
    return list(found)


def agent_of(channel: str) -> str:
    """Return the agent of a channel, v0 of ``CAM_FRONT_id_v0``; "" if the channel names none."""
    return channel.rpartition("_id_")[2] if "_id_" in channel else ""


def plain(channel: str) -> str:
    """Return nuScenes' name of a channel, ``CAM_FRONT`` of ``CAMERA_FRONT_id_0``."""
    name = channel.rpartition("_id_")[0].replace("CAMERA_", "CAM_")
    return BEV_CHANNEL if name == "LIDAR" else name


def folder_name(agent: str) -> str:
    """Return the folder name of an agent: drone_3 of 3, vehicle_1 of v1."""
    return f"{_KINDS[agent[0]]}_{agent[1:]}" if agent[0] in _KINDS else f"drone_{agent}"


class AgentDataset:
    """A writer of a dataset with some of the sensors under other names."""

    def __init__(
        self, sensors: dict[str, JsonDict], data: Dataset, folder: ResultPath, stack: ExitStack, *, version: str = ""
    ) -> None:
        """Open its tables.

        Args:
            sensors: renamed rows of ``sensor`` by token; other sensors are left out.
            data: the source dataset.
            folder: folder of the written dataset.
            stack: closes the tables.
            version: folder of the tables; default: version of ``data``.
        """
        self._sensors, self._folder, self._version = sensors, folder, version or data.version
        self._files = DataFolder(data.root)
        self._names: dict[str, str] = {}
        self._prediction_tokens: dict[str, list[str]] = {}
        self._categories = {row["token"]: str(row["name"]) for row in data.rows(CATEGORY)}
        self._writers = {
            table.name: stack.enter_context(TableWriter(folder / self._version / table.file)) for table in _OF_SCENES
        }

    def add(self, scene: Scene, *, name: str) -> None:
        """Add a scene's rows and link its files."""
        self._names[scene.name] = name
        calibrations = self._calibrations(scene)
        channel_of = {row["token"]: self._sensors[row["sensor_token"]]["channel"] for row in calibrations}
        data: Rows = [dict(r) for r in scene.rows(SAMPLE_DATA) if r["calibrated_sensor_token"] in channel_of]
        poses: dict[str, JsonDict] = {row["token"]: dict(row) for row in scene.rows(EGO_POSE)}
        used_poses = [poses[row["ego_pose_token"]] for row in data]
        for row in data:
            self._bring(row, channel_of[row["calibrated_sensor_token"]], scene=scene.name)
        self._complete(scene, calibrations, data, used_poses)
        boxes = self._boxes(scene)
        self._prediction_tokens[name] = prediction_tokens(
            boxes,
            sample_us={row["token"]: row["timestamp"] for row in scene.rows(SAMPLE)},
            category_of={row["token"]: self._categories[row["category_token"]] for row in scene.rows(INSTANCE)},
        )
        tables: dict[str, Rows] = {
            SCENE.name: [_scene_row(scene, name)],
            LOG.name: [self._log(dict(row), name) for row in scene.rows(LOG)],
            SAMPLE.name: [dict(row) for row in scene.rows(SAMPLE)],
            EGO_POSE.name: used_poses,
            CALIBRATED_SENSOR.name: calibrations,
            SAMPLE_DATA.name: data,
            SAMPLE_ANNOTATION.name: boxes,
            INSTANCE.name: _instances_of(scene, boxes),
        }
        for table, writer in self._writers.items():
            for row in tables[table]:
                writer.add(row)

    def keep(self, data: Dataset) -> Path:
        """Finish the tables; returns the folder."""
        for writer in self._writers.values():
            writer.keep()
        version = self._folder / self._version
        write_rows(version / SENSOR.file, self._sensors.values())
        shared: tuple[Table[Any], ...] = (CATEGORY, ATTRIBUTE, VISIBILITY, MAP)
        for table in shared:
            write_rows(version / table.file, data.rows(table))
        for row in data.rows(MAP):
            bring_file(self._files.open(row["filename"]), self._folder / row["filename"])
        for folder in VECTOR_MAPS:
            for file in self._files.names(folder):
                name = f"{folder}/{file}"
                bring_file(self._files.open(name, most_bytes=LARGEST_MAP_BYTES), self._folder / name)
        write_json(self._folder / SCENES_FILE, self._prediction_tokens)
        splits = {name: [self._names[s] for s in scenes if s in self._names] for name, scenes in data.splits.items()}
        write_json(version / SPLITS, {name: scenes for name, scenes in splits.items() if scenes})
        return self._folder.display_path

    def _bring(self, row: JsonDict, channel: str, *, scene: str) -> None:
        """Rename a row's file as nuScenes does, and link it."""
        old = row["filename"]
        folder, suffix = old.partition("/")[0], old.rpartition("/")[2].partition(".")[2]
        row["filename"] = f"{folder}/{channel}/{scene}__{channel}__{row['timestamp']}.{suffix}"
        self._put(old, row)

    def _put(self, old: str, row: JsonDict) -> None:
        bring_file(self._files.open(old), self._folder / row["filename"])

    def _calibrations(self, scene: Scene) -> Rows:
        return [dict(r) for r in scene.rows(CALIBRATED_SENSOR) if r["sensor_token"] in self._sensors]

    def _log(self, row: JsonDict, name: str) -> JsonDict:
        del name
        return row

    def _boxes(self, scene: Scene) -> Rows:
        return [dict(row) for row in scene.rows(SAMPLE_ANNOTATION)]

    def _complete(self, scene: Scene, calibrations: Rows, data: Rows, poses: Rows) -> None:
        """Add rows and files that readers of this view need; subclasses override it."""


class _Alone(AgentDataset):
    """The dataset of one agent."""

    def __init__(self, agent: str, data: Dataset, folder: ResultPath, stack: ExitStack, *, version: str) -> None:
        """Open its tables."""
        sensors: dict[str, JsonDict] = {
            row["token"]: dict(row, channel=plain(row["channel"]))
            for row in data.rows(SENSOR)
            if agent_of(row["channel"]) == agent
        }
        self._agent, self._has_lidar = agent, any(row["channel"] == BEV_CHANNEL for row in sensors.values())
        if not self._has_lidar:
            lidar = token("sensor", BEV_CHANNEL, agent)
            sensors[lidar] = {"token": lidar, "channel": BEV_CHANNEL, "modality": "lidar"}
        self._quarter_turns: dict[str, int] = {}
        super().__init__(sensors, data, folder, stack, version=version)

    def _calibrations(self, scene: Scene) -> Rows:
        """Return the calibrations; LIDAR_TOP's x axis is rotated to the right, as converters assume."""
        rows = super()._calibrations(scene)
        for row in rows:
            if self._sensors[row["sensor_token"]]["channel"] == BEV_CHANNEL:
                rotation = np.array(row["rotation"])
                quarters = round((-np.pi / 2 - float(quaternion.yaw(rotation))) / (np.pi / 2)) % 4
                self._quarter_turns[row["token"]] = quarters
                if quarters:
                    turn = quaternion.from_yaw(quarters * np.pi / 2)
                    row["rotation"] = quaternion.multiply(rotation, turn).tolist()
        return rows

    def _put(self, old: str, row: JsonDict) -> None:
        if not (quarters := self._quarter_turns.get(row["calibrated_sensor_token"], 0)):
            super()._put(old, row)
            return
        points = decode_points(self._files.read(old))
        for _ in range(4 - quarters):
            points[:, :2] = points[:, 1::-1] * [-1.0, 1.0]
        write_whole(self._folder / row["filename"], encode_points(points))

    def _log(self, row: JsonDict, name: str) -> JsonDict:
        """Return the log with a log file per scene, because the devkit's ``export_kitti`` splits by logs."""
        return {**row, "logfile": f"{row['logfile']}_{name}"}

    def _boxes(self, scene: Scene) -> Rows:
        return _boxes_of(scene, self._agent, points=self._has_lidar)

    def _complete(self, scene: Scene, calibrations: Rows, data: Rows, poses: Rows) -> None:
        if not self._has_lidar:
            self._add_empty_lidar(scene, calibrations, data, poses)
        channel_of = {row["token"]: self._sensors[row["sensor_token"]]["channel"] for row in calibrations}
        self._write_can_bus(scene, channel_of, data, {pose["token"]: pose for pose in poses})

    def _write_can_bus(self, scene: Scene, channel_of: dict[str, str], data: Rows, poses: dict[str, JsonDict]) -> None:
        """Write a car's CAN bus messages; for other agents, pose messages at the times of LIDAR_TOP."""
        messages: dict[str, Rows] = {}
        state = next((s for s in scene.streams if s.kind == KIND and agent_of(s.channel) == self._agent), None)
        scans = [row for row in data if channel_of.get(row["calibrated_sensor_token"], BEV_CHANNEL) == BEV_CHANNEL]
        scan_poses = [poses[row["ego_pose_token"]] for row in sorted(scans, key=lambda row: int(row["timestamp"]))]
        if state is not None:
            messages = vehicle_messages(state.readings())
        elif all("uav_velocity" in pose for pose in scan_poses):  # foreign datasets have none
            messages = {"pose": pose_messages(scan_poses)}
        for name, rows in [*messages.items(), ("meta", meta(messages))] if messages else ():
            path = self._folder / "can_bus" / f"{self._names[scene.name]}_{name}.json"
            write_whole(path, json.dumps(rows).encode("ascii"))

    def _add_empty_lidar(self, scene: Scene, calibrations: Rows, data: Rows, poses: Rows) -> None:
        """Add LIDAR_TOP without points on the ground below the agent; evaluations measure ranges from its pose."""
        calibration = token(scene.token, self._agent, BEV_CHANNEL)
        sensor = token("sensor", BEV_CHANNEL, self._agent)
        right = quaternion.from_yaw(-np.pi / 2).tolist()
        still: JsonDict = {"translation": [0.0, 0.0, 0.0], "rotation": right, "camera_intrinsic": []}
        calibrations.append({"token": calibration, "sensor_token": sensor, **still})
        pose_of, before = {pose["token"]: pose for pose in poses}, ""
        lidar: Rows = []
        for sample in scene.rows(SAMPLE):
            image = next(row for row in data if row["sample_token"] == sample["token"] and row["is_key_frame"])
            pose, row_token = pose_of[image["ego_pose_token"]], token(sample["token"], self._agent, BEV_CHANNEL)
            name = f"samples/{BEV_CHANNEL}/{scene.name}__{BEV_CHANNEL}__{sample['timestamp']}.pcd.bin"
            write_whole(self._folder / name, b"")
            turn = quaternion.from_yaw(quaternion.yaw(np.array(pose["rotation"])))
            ground = [*pose["translation"][:2], 0.0]
            below = {"token": row_token, "translation": ground, "rotation": turn.tolist()}
            if "uav_velocity" in pose:
                below["uav_velocity"] = [*pose["uav_velocity"][:2], 0.0]
            poses.append(pose | below)
            row = {
                **image,
                "token": row_token,
                "ego_pose_token": row_token,
                "calibrated_sensor_token": calibration,
            }
            lidar.append({**row, "fileformat": "pcd", "width": 0, "height": 0, "filename": name, "prev": before})
            before = row_token
        for row, following in zip(lidar, [*lidar[1:], {"token": ""}], strict=True):
            row["next"] = following["token"]
        data += lidar


def _scene_row(scene: Scene, name: str) -> JsonDict:
    return {
        "token": scene.token,
        "name": name,
        "description": scene.description,
        "log_token": scene.log["token"],
        "nbr_samples": len(scene),
        "first_sample_token": scene.samples[0].token,
        "last_sample_token": scene.samples[-1].token,
    }


def _boxes_of(scene: Scene, agent: str, *, points: bool) -> Rows:
    """Return boxes of the objects that an agent measures, each from its first to its last measurement.

    Args:
        scene: the scene.
        agent: name of the agent in channels.
        points: count lidar points, not visible pixels, as ``num_lidar_pts``.
    """
    agent_instances = {row["instance_token"] for row in scene.rows(AGENT) if row["id"] == agent} - {""}
    counts = {r["sample_annotation_token"]: _measured(dict(r), agent) for r in scene.rows(VISIBILITY_DETAIL)}
    is_measured = {token: visible_px + lidar + radar > 0 for token, (visible_px, _, lidar, radar) in counts.items()}
    tracks: dict[str, Rows] = {}
    for row in scene.rows(SAMPLE_ANNOTATION):
        if row["instance_token"] not in agent_instances:
            tracks.setdefault(row["instance_token"], []).append(dict(row))
    measured_boxes: dict[str, JsonDict] = {}
    for track in tracks.values():
        numbers = [number for number, row in enumerate(track) if is_measured[row["token"]]]
        if numbers:
            part = track[numbers[0] : numbers[-1] + 1]
            part[0]["prev"] = part[-1]["next"] = ""
            measured_boxes |= {row["token"]: row for row in part}
    for box in measured_boxes.values():
        visible_px, amodal_px, lidar, radar = counts[box["token"]]
        level = int(np.searchsorted(VISIBILITY_EDGES, visible_px / max(amodal_px, 1), side="right")) + 1
        box |= {
            "visibility_token": str(level),
            "num_lidar_pts": lidar if points else visible_px,
            "num_radar_pts": radar,
        }
        box |= {"uav_visible_px": visible_px, "uav_amodal_px": amodal_px}
    return [measured_boxes[row["token"]] for row in scene.rows(SAMPLE_ANNOTATION) if row["token"] in measured_boxes]


def _measured(detail: JsonDict, agent: str) -> tuple[int, int, int, int]:
    """Return visible pixels, amodal pixels, lidar points and radar points of one agent on a box."""
    views = [view for view in detail["views"] if agent_of(view["channel"]) == agent]
    entry: JsonDict = next((one for one in detail.get("agents", ()) if one["agent"] == agent), {})
    visible_px, amodal_px = (sum(view[key] for view in views) for key in ("visible_px", "amodal_px"))
    return visible_px, amodal_px, entry.get("num_lidar_pts", 0), entry.get("num_radar_pts", 0)


def _instances_of(scene: Scene, boxes: Rows) -> Rows:
    tracks: dict[str, list[str]] = {}
    for box in boxes:
        tracks.setdefault(box["instance_token"], []).append(box["token"])
    return [
        {
            **row,
            "nbr_annotations": len(box_tokens),
            "first_annotation_token": box_tokens[0],
            "last_annotation_token": box_tokens[-1],
        }
        for row in scene.rows(INSTANCE)
        if (box_tokens := tracks.get(row["token"], []))
    ]
