"""All agents in one nuScenes dataset by V2X-Sim's channel names: ``CAM_FRONT_id_1``, ``LIDAR_TOP_id_0``.

Agent 0 is roadside unit ``r0``, 1 and on are the vehicles; further roadside units and drones, which V2X-Sim has not, come
after them. Tokens, boxes and scenes are the dataset's own, without our tables and without the reference ``LIDAR_TOP`` that
names no agent. As received, a sample has everything of vehicle ``v0``, or of drone 0 where no vehicle senses, and of the
others the newest images that it has then, with their own times and poses; who sent none has none, and no clock fires a lidar.
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
        DatasetError: a file is missing, the channels name no agents, or, as received, an agent has no clock.
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
    """The data that one agent has at each sample."""

    def __init__(self, ego: str, *rest: Any) -> None:
        """Open its tables; ``rest`` is of a ``AgentDataset``."""
        self._ego = split_channel(f"SENSOR_id_{ego}")[1]
        super().__init__(*rest)

    def _complete(self, scene: Scene, calibrations: Rows, data: Rows, poses: Rows) -> None:
        del calibrations
        row_of, kept = {row["token"]: row for row in data}, dict[str, Rows]()
        for sample in scene:
            images, scans = by_drone(sample), (*sample.lidars, *sample.radars)
            for number, had in receive(scene, sample, images, ego=self._ego).items():
                for shown, taken in zip(images[number], had, strict=True):
                    older = row_of[taken.token]
                    row = row_of[shown.token] | {key: older[key] for key in ("timestamp", "filename", "ego_pose_token")}
                    kept.setdefault(row["calibrated_sensor_token"], []).append(row)
            for scan in scans:
                if scan.token in row_of and split_channel(scan.channel)[1] == self._ego:
                    row = row_of[scan.token]
                    kept.setdefault(row["calibrated_sensor_token"], []).append(row)
        for rows in kept.values():
            for row, before, after in zip(rows, [{"token": ""}, *rows], [*rows[1:], {"token": ""}], strict=False):
                row |= {"prev": before["token"], "next": after["token"]}
        data[:] = [row for rows in kept.values() for row in rows]
        used = {row["ego_pose_token"] for row in data}
        poses[:] = {pose["token"]: pose for pose in poses if pose["token"] in used}.values()


def _numbers(agents: list[str]) -> dict[str, int]:
    """Return V2X-Sim's number of each agent."""
    first = [agent for agent in agents if agent == "r0"]
    vehicles = [agent for agent in agents if agent.startswith("v")]
    others = [agent for agent in agents if agent.startswith("r") and agent != "r0"]
    rest = [agent for agent in agents if agent.isdecimal()]
    return dict.fromkeys(first, 0) | {agent: 1 + n for n, agent in enumerate(vehicles + others + rest)}
