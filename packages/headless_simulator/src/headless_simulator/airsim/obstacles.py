"""Obstacle boxes near each drone: buildings, poles, trees, parked and moving vehicles."""

from typing import Final

import numpy as np
import numpy.typing as npt

from headless_simulator.airsim.host import AirSimHost
from headless_simulator.airsim.trees import trunks_and_crowns
from headless_simulator.scene import TAG, Float64

REACH_M: Final = 6.0  # farther than a vehicle gets between two look-ups
TALLEST_M: Final = 6.0  # of what moves
SOLID: Final = frozenset(
    TAG[name]
    for name in (
        "building", "wall", "fence", "pole", "traffic_light", "traffic_sign", "vegetation", "static", "dynamic",
        "other", "bridge", "guard_rail", "car", "truck", "bus", "train", "motorcycle", "bicycle", "unlabeled",
    )
)  # fmt: skip


class Obstacles:
    """The obstacle boxes of the world; the static ones are collected once."""

    def __init__(self, host: AirSimHost) -> None:
        self._host = host
        objects = [item for item in host.town.objects if item.tag in SOLID]
        trees, parts = trunks_and_crowns([item for item in objects if item.tag == TAG["vegetation"]], host.town.mesh)
        solid = [item for item in objects if item.tag != TAG["vegetation"]]
        boxes = np.array([[*item.box_centre_m, *item.box_half_m] for item in solid], dtype=np.float64).reshape(-1, 6)
        solid += trees
        self._names = [item.name for item in solid]
        yaw = np.radians(np.array([item.pose[4] for item in solid], dtype=np.float64))
        self._boxes = np.column_stack([np.concatenate([boxes, parts]), np.cos(yaw), np.sin(yaw)])
        self._last_names: list[str] = []

    def near(self, spawn_m: Float64, state: Float64) -> tuple[Float64, npt.NDArray[np.int64]]:
        """Return (B, 8) boxes, Unreal's axes, metres, and the (N, 2) first and past-last row of each of N vehicles."""
        lowest_m = float((spawn_m[:, 2] - state[:, 2]).min()) if len(state) else np.inf
        moving, moving_names = self._moving(lowest_m)
        boxes = np.concatenate([self._boxes, moving]) if len(moving) else self._boxes
        reach = np.hypot(boxes[:, 3], boxes[:, 4]) + REACH_M
        found, ranges, names = [], np.zeros((len(state), 2), dtype=np.int64), []
        begin = 0
        for row in range(len(state)):
            x, y = spawn_m[row, 0] + state[row, 0], spawn_m[row, 1] + state[row, 1]
            z = spawn_m[row, 2] - state[row, 2]
            close = np.hypot(boxes[:, 0] - x, boxes[:, 1] - y) < reach
            close &= np.abs(boxes[:, 2] - z) < boxes[:, 5] + REACH_M
            numbers = np.flatnonzero(close)
            found.append(boxes[numbers])
            ranges[row] = begin, begin + len(numbers)
            begin += len(numbers)
            names += [self._names[n] if n < len(self._names) else moving_names[n - len(self._names)] for n in numbers]
        self._last_names = names
        return (np.concatenate(found) if found else np.zeros((0, 8))), ranges

    def name(self, row: int) -> str:
        """Return the name of the obstacle in a row of the last ``near``; -1 is the ground."""
        if row < 0:
            return "Ground"
        return self._last_names[row] if row < len(self._last_names) else "(null)"

    def _moving(self, lowest_m: float) -> tuple[Float64, list[str]]:
        movers = self._host.movers()
        if not len(movers.actor_id) or lowest_m > float(movers.pose[:, 2].max()) + TALLEST_M + REACH_M:
            return np.zeros((0, 8)), []
        types = self._host.actor_types()
        rows = [i for i, number in enumerate(movers.actor_id) if int(number) in types]
        boxes, names = np.zeros((len(rows), 8)), []
        for out, row in enumerate(rows):
            number = int(movers.actor_id[row])
            blueprint = types[number]
            x, y, z, _, yaw_deg, _ = movers.pose[row]
            c, s = np.cos(np.radians(yaw_deg)), np.sin(np.radians(yaw_deg))
            ox, oy, oz = self._host.models.box_offset(blueprint)
            boxes[out, 0:3] = x + c * ox - s * oy, y + s * ox + c * oy, z + oz
            boxes[out, 3:6] = self._host.models.half_extent(blueprint)
            boxes[out, 6:8] = c, s
            names.append(actor_name(blueprint, number))
        return boxes, names


def actor_name(blueprint: str, actor_id: int) -> str:
    """Return the scene object name of a CARLA actor: ``vehicle_tesla_model3_142``."""
    return f"{blueprint.replace('.', '_')}_{actor_id}"
