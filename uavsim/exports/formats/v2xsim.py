"""All agents in one nuScenes dataset with V2X-Sim's channel names: ``CAM_FRONT_id_1``, ``LIDAR_TOP_id_0``.

Agent 0 is roadside unit ``r0``, vehicles follow from 1, then further roadside units and drones, which V2X-Sim does not have.
Tokens, boxes and scenes are those of the dataset, without additional tables and the reference ``LIDAR_TOP`` of no agent.

With ``received``, the ego is vehicle ``v0``, or drone 0 without a vehicle. A sample holds all data of the ego and the newest
images that it has received from other agents, with their own times and poses, but no scans of their lidars.
Source: coperception ``utils/nuscenes_pc_util.py``, ``docs/datasets/v2x_sim.md``.
"""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from uavsim.access import Scene
from uavsim.dataset.schema import SENSOR
from uavsim.exports.formats.agents import AgentDataset, Rows, agent_of, agents_of, plain
from uavsim.exports.formats.request import ExportRequest, by_drone, exporter, receive, refuse_clockless
from uavsim.files.results import ResultPath
from uavsim.records.channels import split_channel
from uavsim.typing import JsonDict


@exporter
def export_v2xsim(request: ExportRequest) -> list[Path]:
    """Write one dataset; files are hard-linked.

    Raises:
        DatasetError: a file is missing, or the channels name no agents.
        InputError: with ``received``, an agent has no clock.
    """
    with ExitStack() as stack:
        data = request.open_labelled()
        agents = agents_of(data)
        number = _numbers(agents)
        sensors: dict[str, JsonDict] = {
            row["token"]: dict(row, channel=f"{plain(row['channel'])}_id_{number[agent]}")
            for row in data.rows(SENSOR)
            if (agent := agent_of(row["channel"]))
        }
        kind = AgentDataset if not request.received else partial(_Received, "v0" if "v0" in agents else "0")
        view = kind(sensors, data, ResultPath.open(request.out) / request.split_name, stack)
        for scene in data.scenes(request.split):
            if request.received:
                refuse_clockless(scene)
            view.add(scene, name=scene.name)
        return [view.keep(data)]


class _Received(AgentDataset):
    """A writer of the data that one agent has at each sample."""

    def __init__(self, ego: str, *rest: Any) -> None:
        """Open the tables of an ``AgentDataset`` for the receiver ``ego``."""
        self._ego = split_channel(f"SENSOR_id_{ego}")[1]
        super().__init__(*rest)

    def _complete(self, scene: Scene, calibrations: Rows, data: Rows, poses: Rows) -> None:
        del calibrations
        row_of, by_sensor = {row["token"]: row for row in data}, dict[str, Rows]()
        for sample in scene:
            images, scans = by_drone(sample), (*sample.lidars, *sample.radars)
            for number, received in receive(scene, sample, images, ego=self._ego).items():
                for keyframe, newest in zip(images[number], received, strict=True):
                    older = row_of[newest.token]
                    row = row_of[keyframe.token] | {
                        key: older[key] for key in ("timestamp", "filename", "ego_pose_token")
                    }
                    by_sensor.setdefault(row["calibrated_sensor_token"], []).append(row)
            for scan in scans:
                if scan.token in row_of and split_channel(scan.channel)[1] == self._ego:
                    row = row_of[scan.token]
                    by_sensor.setdefault(row["calibrated_sensor_token"], []).append(row)
        for rows in by_sensor.values():
            for row, before, after in zip(rows, [{"token": ""}, *rows], [*rows[1:], {"token": ""}], strict=False):
                row |= {"prev": before["token"], "next": after["token"]}
        data[:] = [row for rows in by_sensor.values() for row in rows]
        used = {row["ego_pose_token"] for row in data}
        poses[:] = {pose["token"]: pose for pose in poses if pose["token"] in used}.values()


def _numbers(agents: list[str]) -> dict[str, int]:
    """Return V2X-Sim's number of each agent, as channels name it."""
    others = sorted((agent for agent in agents if agent != "r0"), key=lambda agent: {"v": 0, "r": 1}.get(agent[0], 2))
    return {"r0": 0} | {agent: number for number, agent in enumerate(others, start=1)}
