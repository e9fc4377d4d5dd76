"""The state of a sensing vehicle at every tick, as a stream: the source of nuScenes' CAN bus messages."""

from typing import Final

import numpy as np

from uavsim.dataset.rows import StreamRow
from uavsim.dataset.schema import STREAM, Tables
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.files.parquet import to_parquet
from uavsim.files.whole import storage_errors
from uavsim.geometry import unreal
from uavsim.ingredients.vehicles import VehiclesPlan
from uavsim.records.labels import SceneLabels
from uavsim.records.motion import SceneMotion
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import Recording
from uavsim.records.sensors import Agent
from uavsim.typing import AnyArray

KIND: Final = "vehicle"
STATE: Final = np.dtype(
    [
        ("timestamp_us", "<i8"),
        ("position_map_m", "<f8", (3,)),
        ("quat_wxyz", "<f8", (4,)),
        ("throttle", "<f4"),
        ("steer", "<f4"),
        ("brake", "<f4"),
        ("hand_brake", "<f4"),
        ("gear", "<f4"),
        ("lights", "<u4"),
    ]
)
"""A row of the stream: the pose of the vehicle's flu frame, its controls (0 to 1; steer -1 to 1 is right) and lights."""


def write_streams(recording: Recording, record: VehiclesPlan) -> dict[str, str]:
    """Write the state of every sensing vehicle into the recording's folder, if the dataset has ``can_bus``.

    Returns:
        Path in the recording's folder -> path in the dataset.

    Raises:
        DatasetError: the recording has no motion of the vehicle.
        StorageError: the folder cannot be written.
        InputError: pyarrow is not installed.
    """
    if not record.can_bus:
        return {}
    plan = recording.plan
    if recording.motion is None:
        raise DatasetError(f"{plan.scene_name}: can_bus needs motion, but the recording has none")
    motion = recording.motion.open()
    instances = {state.agent: state.instance_id for state in recording.frames[0].others}
    moves: dict[str, str] = {}
    for agent in record.agents:
        name, about = _path(plan, agent), {"kind": KIND, "channel": _channel(agent), "motion": "reported"}
        data = to_parquet(_states(plan, motion, instances[agent]), about)
        path = recording.folder / name
        with storage_errors(f"write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        moves[name] = name
    return moves


def _states(plan: ScenePlan, motion: SceneMotion, instance_id: int) -> AnyArray:
    row = int(np.searchsorted(motion.instance_id, instance_id))
    in_scene = motion.step >= 0
    ue_pose = motion.ue_pose[in_scene, row].astype(np.float64)
    if not len(ue_pose) or not np.isfinite(ue_pose).all():
        raise DatasetError(
            f"{plan.scene_name}: can_bus needs every step of actor {instance_id}, and its motion has gaps"
        )
    found = np.zeros(len(ue_pose), STATE)
    pose = unreal.map_SE3_flu_from_ue(ue_pose[:, :3], ue_euler_deg=ue_pose[:, 3:])
    found["timestamp_us"] = plan.start_timestamp_us + motion.step[in_scene] * plan.step_us
    found["position_map_m"], found["quat_wxyz"] = pose.translation_m, pose.quat_wxyz
    for column, name in enumerate(("throttle", "steer", "brake", "hand_brake", "gear")):
        found[name] = motion.control[in_scene, row, column]
    found["lights"] = motion.lights[in_scene, row]
    return found


def rows(labels: SceneLabels, record: VehiclesPlan, tables: Tables) -> Tables:
    """Return the table ``stream`` with a row for each vehicle."""
    plan = labels.plan
    made: list[StreamRow] = [
        {
            "token": token(plan.dataset, plan.scene_name, STREAM.name, _channel(agent)),
            "scene_token": token(plan.dataset, plan.scene_name, "scene"),
            "channel": _channel(agent),
            "kind": KIND,
            "motion": "reported",
            "rate_hz": 1e6 / plan.step_us,
            "count": plan.capture_steps[-1] + 1,
            "filename": _path(plan, agent),
        }
        for agent in (record.agents if record.can_bus else ())
    ]
    return {STREAM.name: [*tables.get(STREAM.name, ()), *made]} if made else {}


def _channel(agent: Agent) -> str:
    return f"CAN_id_{agent.id}"


def _path(plan: ScenePlan, agent: Agent) -> str:
    return f"streams/{_channel(agent)}/{plan.scene_name}__{_channel(agent)}.parquet"
