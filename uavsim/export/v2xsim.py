"""All agents in one nuScenes dataset by V2X-Sim's channel names: ``CAM_FRONT_id_1``, ``LIDAR_TOP_id_0``.

Agent 0 is roadside unit ``r0``, 1 and on are the vehicles; further roadside units and drones, which V2X-Sim has not, come
after them. Tokens, boxes and scenes are the dataset's own, without our tables and without the reference ``LIDAR_TOP`` that
names no agent.
Source: coperception ``utils/nuscenes_pc_util.py``, ``docs/datasets/v2x_sim.md``.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from uavsim.dataset.schema import SENSOR
from uavsim.export.agents import View, agent_of, agents_of, plain
from uavsim.export.request import ExportRequest
from uavsim.files.parse import reading
from uavsim.files.results import ResultPath
from uavsim.typing import JsonDict

__all__ = ["export_v2xsim"]


def export_v2xsim(request: ExportRequest) -> list[Path]:
    """Write one dataset; files are hard-linked.

    Raises:
        DatasetError: a file is missing, or the channels name no agents.
    """
    with reading(request.root), ExitStack() as stack:
        data = request.open_labelled()
        number = _numbers(agents_of(data))
        sensors: dict[str, JsonDict] = {
            row["token"]: dict(row, channel=f"{plain(row['channel'])}_id_{number[agent]}")
            for row in data.rows(SENSOR)
            if (agent := agent_of(row["channel"]))
        }
        view = View(sensors, data, ResultPath.open(request.out) / request.split_name, stack)
        for scene in data.scenes(request.split):
            view.add(scene, name=scene.name)
        return [view.keep(data)]


def _numbers(agents: list[str]) -> dict[str, int]:
    """Return V2X-Sim's number of each agent."""
    first = [agent for agent in agents if agent == "r0"]
    vehicles = [agent for agent in agents if agent.startswith("v")]
    others = [agent for agent in agents if agent.startswith("r") and agent != "r0"]
    rest = [agent for agent in agents if agent.isdecimal()]
    return dict.fromkeys(first, 0) | {agent: 1 + n for n, agent in enumerate(vehicles + others + rest)}
