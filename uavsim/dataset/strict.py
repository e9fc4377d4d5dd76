"""The strict dialect: rows of the nuScenes tables from the labels of one scene, as the unmodified devkit reads them.

The devkit ignores the additional fields ``uav_*`` and the additional tables, for example ``camera_pose`` and ``layer``.
docs/formats-tables.md describes every field.
"""

from datetime import UTC, datetime

import numpy as np

from uavsim.dataset import layout
from uavsim.dataset.fragment import Fragment, FragmentHead
from uavsim.dataset.lens_columns import columns_of, shutter_ticks
from uavsim.dataset.rows import (
    AgentRow,
    CalibratedSensorRow,
    CameraPoseRow,
    EgoPoseRow,
    LayerRow,
    LidarsegRow,
    LogRow,
    SampleDataRow,
    SampleRow,
    SceneRow,
)
from uavsim.dataset.schema import AGENT, LIDARSEG, SHUTTER_TICK, Tables
from uavsim.dataset.strict_boxes import (
    box_rows,
    detail_rows,
    has_agent_table,
    ignore_rows,
    instance_rows,
    size_wlh,
    sweep_rows,
)
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.ingredients import has_drones, has_props, ingredients_of
from uavsim.records.labels import SceneLabels
from uavsim.records.modalities import LIDAR, LIDAR_INSTANCE, modality
from uavsim.records.plan import WEATHER_PARAMETERS, ScenePlan
from uavsim.records.recording import (
    AgentState,
    DroneState,
    RecordedFrame,
    SensorReading,
    instances_of_agents,
    moved_share,
)
from uavsim.records.sensors import Agent, CameraParams


def scene_fragment(labels: SceneLabels) -> Fragment:
    """Return the scene's rows of every table in the strict dialect.

    Raises:
        DatasetError: an image is missing in the recording.
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
    tables.rows["ignore_region"] = ignore_rows(labels)
    tables.rows["sweep_annotation"] = sweep_rows(labels, sample_tokens)
    if has_agent_table(plan):
        instance_of_agent = instances_of_agents(plan, (one.info for one in labels.actors), labels.frames[0].states)
        tables.rows[AGENT.name] = [_agent_row(labels, agent, instance_of_agent.get(agent, 0)) for agent in plan.agents]
    for used in ingredients_of(plan.ingredients):
        if used.ingredient.rows is not None:
            tables.rows |= used.ingredient.rows.load()(labels, used.record, tables.rows)
    return Fragment(head=_head(plan), rows=tables.rows)


def map_SE3_bev(drone: DroneState) -> SE3:
    """Return the pose of the virtual LIDAR_TOP below a drone: at z = 0, with the drone's yaw."""
    x, y, _ = drone.map_SE3_flu.translation_m.tolist()
    return SE3(quaternion.from_yaw(quaternion.yaw(drone.map_SE3_flu.quat_wxyz)), np.array([x, y, 0.0]))


class _SceneTables:
    """Accumulates the rows of the frames; ``prev`` and ``next`` link the rows of a channel."""

    def __init__(self, plan: ScenePlan) -> None:
        self._plan = plan
        self._base = (plan.dataset, plan.scene_name)
        self._last: dict[str, SampleDataRow] = {}
        self._sensors = plan.sensors
        self._mounts = {spec: spec.flu_SE3_sensor for spec in {sensor.spec: None for sensor in plan.sensors}}
        self._bev_rows: list[SampleDataRow] = []
        self._bev_poses: list[EgoPoseRow] = []
        names = ("calibrated_sensor", "ego_pose", "sample_data", "camera_pose", "layer", "agent_view", LIDARSEG.name)
        self.rows: Tables = {name: [] for name in (*names, SHUTTER_TICK.name)}
        self._later: Tables = {
            name: [] for name in ("sample_data", "ego_pose", "layer")
        }  # rows of other sensors than cameras

    def add_frame(self, frame: RecordedFrame, *, sample_token: str) -> None:
        if (found := len(frame.readings)) != (planned := len(self._plan.sensors_at(frame.step))):
            sensors = f"{found} of {planned} sensors"
            raise DatasetError(f"{self._plan.scene_name}: {sensors} have a reading at step {frame.step}")
        states = {state.agent: state for state in frame.states}
        map_SE3_sensor = SE3.stack([reading.map_SE3_sensor for reading in frame.readings])
        map_SE3_flu = map_SE3_sensor.right_divide(SE3.stack([self._mounts[r.sensor.spec] for r in frame.readings]))
        for reading, pose in zip(frame.readings, map_SE3_flu, strict=True):
            state = states[reading.sensor.agent]
            self._add_reading(frame, reading, state, sample_token=sample_token, map_SE3_flu=pose)
        self.rows["shutter_tick"] += shutter_ticks(self._plan, frame)
        if frame.sample_index is not None:
            drone = next(d for d in frame.drones if d.drone_id == self._plan.swarm.drone_ids[0])
            self._add_bev(frame, drone, sample_token=sample_token)

    def finish(self) -> None:
        """Add the calibrations, then the rows of other sensors than cameras, then those of LIDAR_TOP."""
        for sensor in self._sensors:
            params = sensor.spec.params
            self._calibrate(
                sensor.channel, self._mounts[sensor.spec], params if isinstance(params, CameraParams) else None
            )
        self._calibrate(layout.BEV_CHANNEL, SE3.identity(), None)
        for name, rows in self._later.items():
            self.rows[name] += rows
        self.rows["sample_data"] += self._bev_rows
        self.rows["ego_pose"] += self._bev_poses

    def _calibrate(self, channel: str, flu_SE3_sensor: SE3, camera: CameraParams | None) -> None:
        row: CalibratedSensorRow = {
            "token": token(*self._base, "calibrated_sensor", channel),
            "sensor_token": token("sensor", channel),
            "translation": flu_SE3_sensor.translation_m.tolist(),
            "rotation": flu_SE3_sensor.quat_wxyz.tolist(),
            "camera_intrinsic": camera.intrinsic.tolist() if camera else [],
            **columns_of(camera),
        }
        self.rows["calibrated_sensor"].append(row)

    def _add_reading(
        self,
        frame: RecordedFrame,
        reading: SensorReading,
        state: DroneState | AgentState,
        *,
        sample_token: str,
        map_SE3_flu: SE3,
    ) -> None:
        params, main_modality = reading.sensor.spec.params, modality(reading.sensor.spec.modalities[0])
        size_px = (params.width_px, params.height_px) if isinstance(params, CameraParams) else None
        row = self._sample_data(
            frame,
            reading.channel,
            layout.main_file_path(self._plan, frame, reading),
            main_modality.file_suffix(self._plan.images).split(".")[1],
            sample_token=sample_token,
            size_px=size_px or (0, 0),
        )
        tables = self.rows if size_px else self._later
        tables["sample_data"].append(row)
        tables["ego_pose"].append(_ego_pose(frame, state, row["ego_pose_token"], map_SE3_flu=map_SE3_flu))
        tables["layer"] += [
            _layer_row(row["token"], kind=kind, filename=path)
            for kind, path in layout.layers(self._plan, frame, reading)
        ]
        if size_px:
            self.rows["camera_pose"].append(_camera_pose(row["token"], reading))
        if reading.degradation:
            reported = {key: value for key, value in reading.degradation.items() if key != "file"}
            self.rows["agent_view"].append({"token": row["token"], "sample_data_token": row["token"], **reported})
        if frame.sample_index is not None and LIDAR_INSTANCE in reading.files:
            self._add_lidarseg(frame, reading.channel, row["token"])

    def _add_lidarseg(self, frame: RecordedFrame, channel: str, owner: str) -> None:
        filename = layout.lidarseg_path(self._plan, frame, channel=channel, version=self._plan.version)
        row: LidarsegRow = {"token": owner, "sample_data_token": owner, "filename": filename}
        self.rows[LIDARSEG.name].append(row)

    def _add_bev(self, frame: RecordedFrame, drone: DroneState, *, sample_token: str) -> None:
        filename = layout.lidar_path(self._plan, frame)
        row = self._sample_data(frame, layout.BEV_CHANNEL, filename, "pcd", sample_token=sample_token, size_px=(0, 0))
        self._bev_rows.append(row)
        if frame.with_modality(LIDAR_INSTANCE):
            self._add_lidarseg(frame, layout.BEV_CHANNEL, row["token"])
        pose = map_SE3_bev(drone)
        self._bev_poses.append(
            {
                "token": row["ego_pose_token"],
                "timestamp": frame.timestamp_us,
                "rotation": pose.quat_wxyz.tolist(),
                "translation": pose.translation_m.tolist(),
                "uav_drone_id": drone.drone_id,
            }
        )

    def _sample_data(
        self,
        frame: RecordedFrame,
        channel: str,
        filename: str,
        fileformat: str,
        *,
        sample_token: str,
        size_px: tuple[int, int],
    ) -> SampleDataRow:
        width, height = size_px
        data_token = token(*self._base, "sample_data", channel, frame.timestamp_us)
        before = self._last.get(channel)
        row: SampleDataRow = {
            "token": data_token,
            "sample_token": sample_token,
            "ego_pose_token": data_token,
            "calibrated_sensor_token": token(*self._base, "calibrated_sensor", channel),
            "timestamp": frame.timestamp_us,
            "is_key_frame": frame.sample_index is not None,
            "prev": before["token"] if before else "",
            "next": "",
            "fileformat": fileformat,
            "height": height,
            "width": width,
            "filename": filename,
        }
        if before:
            before["next"] = data_token
        self._last[channel] = row
        return row


def _ego_pose(frame: RecordedFrame, state: DroneState | AgentState, ego_token: str, *, map_SE3_flu: SE3) -> EgoPoseRow:
    """Return the ego pose that gives the sensor's exact pose with the constant calibration of its channel.

    Simulators round poses to float32. Each measurement has its own ego pose, as in nuScenes; the ego poses of one agent and
    tick differ by this rounding (1e-5 m, 1e-7 rad).

    Args:
        frame: frame of the tick.
        state: state of the agent that carries the sensor.
        ego_token: token of the row.
        map_SE3_flu: the agent's pose, from the sensor's pose and mount.
    """
    row: EgoPoseRow = {
        "token": ego_token,
        "timestamp": frame.timestamp_us,
        "rotation": map_SE3_flu.quat_wxyz.tolist(),
        "translation": map_SE3_flu.translation_m.tolist(),
    }
    velocity = state.velocity_map_mps.tolist()
    if isinstance(state, AgentState):
        return {**row, "uav_velocity": velocity, "uav_agent": state.agent.id}
    return {
        **row,
        "uav_drone_id": state.drone_id,
        "uav_velocity": velocity,
        "uav_planned_translation": state.planned_map_SE3_flu.translation_m.tolist(),
        "uav_planned_rotation": state.planned_map_SE3_flu.quat_wxyz.tolist(),
    }


def _agent_row(labels: SceneLabels, agent: Agent, instance: int) -> AgentRow:
    """Return the row of an agent, with size and instance of its body or carrying actor."""
    base = (labels.plan.dataset, labels.plan.scene_name)
    actor = next((one for one in labels.actors if instance and one.info.instance_id == instance), None)
    return {
        "token": token(*base, "agent", agent.id),
        "scene_token": token(*base, "scene"),
        "id": agent.id,
        "kind": agent.kind,
        "rig": _rig_name(labels.plan, agent),
        "size": size_wlh(actor) if actor else None,
        "instance_token": token(*base, "instance", instance) if actor else "",
    }


def _rig_name(plan: ScenePlan, agent: Agent) -> str:
    return next((group.rig_name for group in plan.ground if agent in group.agents), plan.rig_name)


def _camera_pose(owner: str, reading: SensorReading) -> CameraPoseRow:
    return {
        "token": owner,
        "translation": reading.map_SE3_sensor.translation_m.tolist(),
        "rotation": reading.map_SE3_sensor.quat_wxyz.tolist(),
        "euler_deg": list(reading.ue_euler_deg),
    }


def _layer_row(owner: str, *, kind: str, filename: str) -> LayerRow:
    return {
        "token": token(owner, kind),
        "sample_data_token": owner,
        "kind": kind,
        "fileformat": filename.rpartition(".")[2],
        "filename": filename,
    }


def _head(plan: ScenePlan) -> FragmentHead:
    channels = tuple((sensor.channel, modality(sensor.spec.modalities[0]).nuscenes) for sensor in plan.sensors)
    return FragmentHead(
        scene=plan.scene_name,
        scene_index=plan.scene_index,
        dataset=plan.dataset,
        version=plan.version,
        splits=plan.splits,
        town=plan.town.name,
        mask_origin_map_m=plan.town.mask_origin_map_m,
        log_token=token(plan.dataset, plan.scene_name, "log"),
        has_props=has_props(plan.ingredients),
        has_drones=has_drones(plan.ingredients),
        channels=(*channels, (layout.BEV_CHANNEL, modality(LIDAR).nuscenes)),
    )


def _sample_tokens(labels: SceneLabels) -> list[str]:
    keyframes = [f.sample_index for f in labels.frames if f.sample_index is not None]
    if keyframes != list(range(len(keyframes))) or not keyframes:
        raise DatasetError(f"{labels.plan.scene_name}: keyframes are numbered {keyframes}, not 0, 1, 2, ...")
    return [token(labels.plan.dataset, labels.plan.scene_name, "sample", k) for k in keyframes]


def _tokens_of_frames(labels: SceneLabels, sample_tokens: list[str]) -> list[str]:
    """Return each frame's sample token; a sweep belongs to the next keyframe, as in nuScenes."""
    tokens, following = [], sample_tokens[-1]
    for frame in reversed(labels.frames):
        if frame.sample_index is not None:
            following = sample_tokens[frame.sample_index]
        tokens.append(following)
    return tokens[::-1]


def _sample_rows(labels: SceneLabels, tokens: list[str]) -> list[SampleRow]:
    scene_token = token(labels.plan.dataset, labels.plan.scene_name, "scene")
    keyframes = [f for f in labels.frames if f.sample_index is not None]
    around = zip(tokens, ["", *tokens[:-1]], [*tokens[1:], ""], keyframes, strict=True)
    return [
        {
            "token": sample_token,
            "timestamp": frame.timestamp_us,
            "prev": before,
            "next": after,
            "scene_token": scene_token,
            "uav_weather": dict(zip(WEATHER_PARAMETERS, map(float, frame.weather), strict=True)),
        }
        for sample_token, before, after, frame in around
    ]


def _scene_row(plan: ScenePlan, sample_tokens: list[str]) -> SceneRow:
    return {
        "token": token(plan.dataset, plan.scene_name, "scene"),
        "log_token": token(plan.dataset, plan.scene_name, "log"),
        "nbr_samples": len(sample_tokens),
        "first_sample_token": sample_tokens[0],
        "last_sample_token": sample_tokens[-1],
        "name": plan.scene_name,
        "description": plan.description,
    }


def _log_row(labels: SceneLabels) -> LogRow:
    """Return the log with all inputs of the scene, without wall clock times and values of this run."""
    plan, facts = labels.plan, labels.facts
    day = datetime.fromtimestamp(plan.start_timestamp_us / 1e6, tz=UTC).date()
    row: LogRow = {
        "token": token(plan.dataset, plan.scene_name, "log"),
        "logfile": f"{plan.town.name.lower()}_{plan.route_name}",
        "vehicle": ", ".join(
            (
                f"{len(plan.swarm.drone_ids)} drones",
                *(f"{len(group.agents)} {group.agents[0].kind}" for group in plan.ground),
                plan.formation_name,
            )
        ),
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
        "uav_traffic_retry": plan.traffic_retry,
        "uav_notes": [note for note in labels.notes if note],
    }
    if plan.notes.drawn:
        row["uav_drawn"] = dict(plan.notes.drawn)
    if (share := moved_share(facts.moved_in_warmup)) is not None:
        row["uav_moved_in_warmup"] = share
    if (share := moved_share(facts.moved_in_scene)) is not None:
        row["uav_moved_in_scene"] = share
    return row
