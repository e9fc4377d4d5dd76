"""The strict dialect: labels of one scene -> rows of the nuScenes tables, as the unmodified devkit reads them.

Fields that the devkit does not know start with ``uav_``; tables that it does not know are ``camera_pose``, ``layer`` and
``visibility_detail``. It ignores both. docs/formats.md tells every field.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from uavsim.dataset import layout
from uavsim.dataset.fragment import Fragment, FragmentHead
from uavsim.dataset.strict_boxes import box_rows, detail_rows, instance_rows
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.geometry import quaternion, unreal
from uavsim.records.labels import SceneLabels
from uavsim.records.plan import CameraSpec, ScenePlan
from uavsim.records.recording import CameraShot, DroneState, RecordedFrame
from uavsim.records.vocabulary import WEATHER_PARAMETERS
from uavsim.typing import FloatArray, JsonDict

__all__ = ["EXTRA_TABLES", "WEATHER_NAMES", "bev_pose", "scene_fragment"]

EXTRA_TABLES: Final = ("camera_pose", "layer", "visibility_detail", "agent_view")
WEATHER_NAMES: Final = WEATHER_PARAMETERS


def scene_fragment(labels: SceneLabels) -> Fragment:
    """Return the scene's rows of every table, strict dialect.

    Raises:
        DatasetError: the recording lacks an image that the tables promise.
    """
    plan = labels.plan
    tables = _SceneTables(plan)
    sample_tokens = _sample_tokens(labels)
    tables.rows["sample"] = _sample_rows(labels, sample_tokens)
    for frame, sample_token in zip(labels.frames, _tokens_of_frames(labels, sample_tokens), strict=True):
        tables.add_frame(frame, sample_token=sample_token)
    tables.finish()
    tables.rows["log"] = [_log_row(labels)]
    tables.rows["scene"] = [_scene_row(plan, sample_tokens)]
    tables.rows["sample_annotation"] = box_rows(labels, sample_tokens)
    tables.rows["instance"] = instance_rows(labels, tables.rows["sample_annotation"])
    tables.rows["visibility_detail"] = detail_rows(labels, tables.rows["sample_annotation"])
    return Fragment(head=_head(plan), rows=tables.rows)


def bev_pose(drone: DroneState) -> tuple[FloatArray, FloatArray]:
    """Return (t (3,), q wxyz (4,)) of the virtual LIDAR_TOP under a drone: on z = 0, turned with it about z only."""
    x, y, _ = drone.map_t_flu_m.tolist()
    return np.array([x, y, 0.0]), quaternion.from_yaw(quaternion.yaw(drone.map_q_flu_wxyz))


class _SceneTables:
    """Rows that grow with the frames; ``prev`` and ``next`` are linked per channel."""

    def __init__(self, plan: ScenePlan) -> None:
        self._plan = plan
        self._base = (plan.dataset, plan.scene_name)
        self._last: dict[str, JsonDict] = {}
        self._bev_rows: list[JsonDict] = []
        self._bev_poses: list[JsonDict] = []
        self._mounts = {spec.name: mount_optical(spec) for spec in plan.rig}
        names = ("calibrated_sensor", "ego_pose", "sample_data", "camera_pose", "layer", "agent_view")
        self.rows: dict[str, list[JsonDict]] = {name: [] for name in names}

    def add_frame(self, frame: RecordedFrame, *, sample_token: str) -> None:
        drones = {drone.drone_id: drone for drone in frame.drones}
        for shot in frame.shots:
            self._add_shot(frame, shot, drones[shot.drone_id], sample_token=sample_token)
        if frame.sample_index is not None:
            self._add_bev(frame, drones[self._plan.swarm.drone_ids[0]], sample_token=sample_token)

    def finish(self) -> None:
        """Put what is the same in all frames in place; LIDAR_TOP's rows come after the cameras'."""
        by_camera = {spec.name: spec for spec in self._plan.rig}
        for drone_id in self._plan.swarm.drone_ids:
            for name, (mount_t_m, flu_q_optical) in self._mounts.items():
                channel = self._plan.channel(camera=name, drone_id=drone_id)
                intrinsic = self._intrinsics(channel, by_camera[name])
                self._calibrate(channel, mount_t_m.tolist(), flu_q_optical.tolist(), intrinsic)
        self._calibrate(layout.BEV_CHANNEL, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [])
        self.rows["sample_data"] += self._bev_rows
        self.rows["ego_pose"] += self._bev_poses

    def _calibrate(self, channel: str, translation: list[float], rotation: list[float], intrinsic: Any) -> None:
        self.rows["calibrated_sensor"].append(
            {
                "token": token(*self._base, "calibrated_sensor", channel),
                "sensor_token": token("sensor", channel),
                "translation": translation,
                "rotation": rotation,
                "camera_intrinsic": intrinsic,
            }
        )

    def _intrinsics(self, channel: str, spec: CameraSpec) -> list[list[float]]:
        known = self._last.get(f"intrinsic {channel}")
        if known is None:
            raise DatasetError(f"{self._plan.scene_name}: camera {spec.name} of {channel} took no image")
        matrix: list[list[float]] = known["matrix"]
        return matrix

    def _add_shot(self, frame: RecordedFrame, shot: CameraShot, drone: DroneState, *, sample_token: str) -> None:
        row = self._sample_data(frame, shot.channel, sample_token=sample_token)
        filename = layout.image_path(self._plan, frame, shot)
        row |= {
            "fileformat": filename.rpartition(".")[2],
            "height": shot.height_px,
            "width": shot.width_px,
            "filename": filename,
        }
        self._last[f"intrinsic {shot.channel}"] = {"matrix": shot.intrinsic.tolist()}
        self.rows["sample_data"].append(row)
        self.rows["ego_pose"].append(self._ego_pose(frame, shot, drone, row["ego_pose_token"]))
        self.rows["camera_pose"].append(
            {
                "token": row["token"],
                "translation": shot.map_t_optical_m.tolist(),
                "rotation": shot.map_q_optical_wxyz.tolist(),
                "euler_deg": list(shot.camera_euler_deg),
            }
        )
        if shot.degradation:
            told = {key: value for key, value in shot.degradation.items() if key != "file"}
            self.rows["agent_view"].append({"token": row["token"], "sample_data_token": row["token"], **told})
        self.rows["layer"] += [
            self._layer(frame, shot, kind=kind, recorded=recorded, owner=row["token"])
            for kind, recorded in layout.layers(shot)
        ]

    def _ego_pose(self, frame: RecordedFrame, shot: CameraShot, drone: DroneState, ego_token: str) -> JsonDict:
        """Place the drone so that the mounted camera is exactly where the image was taken from.

        Simulators take poses as float32. Each image has its own ego pose, as in nuScenes; those of one drone and tick agree
        to that rounding (1e-5 m, 1e-7 rad), and the calibration stays one constant a channel.
        """
        mount_t_m, flu_q_optical = self._mounts[shot.camera]
        map_q_flu = quaternion.multiply(shot.map_q_optical_wxyz, quaternion.conjugate(flu_q_optical))
        map_t_flu_m = shot.map_t_optical_m - quaternion.rotate(map_q_flu, mount_t_m)
        return {
            "token": ego_token,
            "timestamp": frame.timestamp_us,
            "rotation": map_q_flu.tolist(),
            "translation": map_t_flu_m.tolist(),
            "uav_drone_id": drone.drone_id,
            "uav_velocity": drone.velocity_map_mps.tolist(),
            "uav_planned_translation": drone.planned_map_t_flu_m.tolist(),
            "uav_planned_rotation": drone.planned_map_q_flu_wxyz.tolist(),
        }

    def _layer(
        self, frame: RecordedFrame, shot: CameraShot, *, kind: layout.LayerKind, recorded: str, owner: str
    ) -> JsonDict:
        filename = layout.layer_path(self._plan, frame, shot, kind=kind, recorded=recorded)
        return {
            "token": token(owner, kind),
            "sample_data_token": owner,
            "kind": kind,
            "fileformat": filename.rpartition(".")[2],
            "filename": filename,
        }

    def _add_bev(self, frame: RecordedFrame, drone: DroneState, *, sample_token: str) -> None:
        row = self._sample_data(frame, layout.BEV_CHANNEL, sample_token=sample_token)
        row |= {"fileformat": "pcd", "height": 0, "width": 0, "filename": layout.lidar_path(self._plan, frame)}
        self._bev_rows.append(row)
        map_t_bev_m, map_q_bev = bev_pose(drone)
        self._bev_poses.append(
            {
                "token": row["ego_pose_token"],
                "timestamp": frame.timestamp_us,
                "rotation": map_q_bev.tolist(),
                "translation": map_t_bev_m.tolist(),
                "uav_drone_id": drone.drone_id,
            }
        )

    def _sample_data(self, frame: RecordedFrame, channel: str, *, sample_token: str) -> JsonDict:
        own = token(*self._base, "sample_data", channel, frame.timestamp_us)
        before = self._last.get(channel)
        row: JsonDict = {
            "token": own,
            "sample_token": sample_token,
            "ego_pose_token": own,
            "calibrated_sensor_token": token(*self._base, "calibrated_sensor", channel),
            "timestamp": frame.timestamp_us,
            "is_key_frame": frame.sample_index is not None,
            "prev": before["token"] if before else "",
            "next": "",
        }
        if before:
            before["next"] = own
        self._last[channel] = row
        return row


def mount_optical(spec: CameraSpec) -> tuple[FloatArray, FloatArray]:
    """Return (t (3,), q wxyz (4,)) of a camera's optical frame in the drone's flu frame."""
    flu_q_optical = unreal.map_q_optical_from_ue_euler(np.array([spec.mount_rpy_deg], dtype=np.float64))[0]
    return np.array(spec.mount_t_m, dtype=np.float64), flu_q_optical


def _head(plan: ScenePlan) -> FragmentHead:
    cameras = tuple((channel, "camera") for channel in plan.channels)
    return FragmentHead(
        scene=plan.scene_name,
        scene_index=plan.scene_index,
        dataset=plan.dataset,
        version=plan.version,
        splits=plan.splits,
        town=plan.town.name,
        mask_origin_map_m=plan.town.mask_origin_map_m,
        log_token=token(plan.dataset, plan.scene_name, "log"),
        channels=(*cameras, (layout.BEV_CHANNEL, "lidar")),
    )


def _sample_tokens(labels: SceneLabels) -> list[str]:
    keyframes = [f.sample_index for f in labels.frames if f.sample_index is not None]
    if keyframes != list(range(len(keyframes))) or not keyframes:
        raise DatasetError(f"{labels.plan.scene_name}: keyframes are numbered {keyframes}, not 0, 1, 2, ...")
    return [token(labels.plan.dataset, labels.plan.scene_name, "sample", k) for k in keyframes]


def _tokens_of_frames(labels: SceneLabels, sample_tokens: list[str]) -> list[str]:
    """Return each frame's sample; a sweep belongs to the keyframe that follows it, as in nuScenes."""
    tokens, following = [], sample_tokens[-1]
    for frame in reversed(labels.frames):
        if frame.sample_index is not None:
            following = sample_tokens[frame.sample_index]
        tokens.append(following)
    return tokens[::-1]


def _sample_rows(labels: SceneLabels, tokens: list[str]) -> list[JsonDict]:
    scene_token = token(labels.plan.dataset, labels.plan.scene_name, "scene")
    keyframes = [f for f in labels.frames if f.sample_index is not None]
    around = zip(tokens, ["", *tokens[:-1]], [*tokens[1:], ""], keyframes, strict=True)
    return [
        {
            "token": own,
            "timestamp": frame.timestamp_us,
            "prev": before,
            "next": after,
            "scene_token": scene_token,
            "uav_weather": dict(zip(WEATHER_NAMES, map(float, frame.weather), strict=True)),
        }
        for own, before, after, frame in around
    ]


def _scene_row(plan: ScenePlan, sample_tokens: list[str]) -> JsonDict:
    return {
        "token": token(plan.dataset, plan.scene_name, "scene"),
        "log_token": token(plan.dataset, plan.scene_name, "log"),
        "nbr_samples": len(sample_tokens),
        "first_sample_token": sample_tokens[0],
        "last_sample_token": sample_tokens[-1],
        "name": plan.scene_name,
        "description": plan.description,
    }


def _log_row(labels: SceneLabels) -> JsonDict:
    """Return the log with everything that made the scene; wall clocks and this run's own numbers stay out."""
    plan, facts = labels.plan, labels.facts
    day = datetime.fromtimestamp(plan.start_timestamp_us / 1e6, tz=UTC).date()
    return {
        "token": token(plan.dataset, plan.scene_name, "log"),
        "logfile": f"{plan.town.name.lower()}_{plan.route_name}",
        "vehicle": f"{len(plan.swarm.drone_ids)} drones, {plan.formation_name}",
        "date_captured": day.isoformat(),
        "location": plan.town.name,
        "uav_scene_index": plan.scene_index,
        "uav_dataset": plan.dataset,
        "uav_route": plan.route_name,
        "uav_formation": plan.formation_name,
        "uav_rig": plan.rig_name,
        "uav_weather": plan.weather.name,
        "uav_topology": plan.topology,
        "uav_seed": plan.seed,
        "uav_simulator": facts.simulator,
        "uav_client_version": facts.client_version,
        "uav_server_version": facts.server_version,
        "uav_carla_map": plan.town.carla_map,
        "uav_vehicles_asked": facts.vehicles_asked,
        "uav_vehicles_spawned": facts.vehicles_spawned,
        "uav_walkers_asked": facts.walkers_asked,
        "uav_walkers_spawned": facts.walkers_spawned,
        "uav_notes": list(_plain(labels.notes)),
    }


def _plain(notes: Iterable[str]) -> Iterable[str]:
    return (note for note in notes if note)
