"""AirV2X's bird's-eye images: 512 x 512 pixels of 0.25 m, the agent in the middle and heading up.

Roads come from the dataset's map mask, lane lines from ``maps/expansion/<town>.json``.
Source: SkyLink-V2X ``mapping/map_manager.py``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.access import Boxes, Dataset
from uavsim.files.names import DataFolder
from uavsim.geometry import cuboid, quaternion
from uavsim.geometry.se3 import SE3
from uavsim.images.draw import draw_polygons, draw_polyline
from uavsim.typing import BoolArray, FloatArray, UInt8Array

LAYERS: Final = 7
"""Number of classes with a layer."""
_SIDE_PX: Final = 512
_METRES_PER_PX: Final = 0.25
_LINE_PX: Final = 2
_WHITE: Final = (255, 255, 255)
_REACH_M: Final = _SIDE_PX * _METRES_PER_PX  # shapes farther away are not drawn


@dataclass(frozen=True, slots=True, eq=False)
class BevGround:
    """A town's map.

    Attributes:
        drivable: (H, W) drivable area, the northernmost row first; None without a mask.
        origin_map_m: (2,) lower left corner of the mask.
        metres_per_px: pixel size of the mask.
        lines_map_m: lane lines, (N, 2) each.
    """

    drivable: BoolArray | None
    origin_map_m: FloatArray
    metres_per_px: float
    lines_map_m: tuple[FloatArray, ...]

    @classmethod
    def of(cls, data: Dataset, town: str) -> BevGround:
        """Read the map mask and the lane lines of a town.

        Raises:
            DatasetError: a map is damaged.
        """
        lines = _lines(DataFolder(data.root), f"maps/expansion/{town}.json")
        mask = data.maps.get(town)
        if mask is None or not mask.exists:
            return cls(None, np.zeros(2), 1.0, lines)
        return cls(mask.drivable(), mask.origin_map_m, mask.metres_per_px, lines)

    def is_drivable(self, points_map_m: FloatArray) -> BoolArray:
        """Return (...) bool, True where (..., 2) points in the map frame, metres, are drivable."""
        if self.drivable is None:
            return np.zeros(points_map_m.shape[:-1], dtype=np.bool_)
        height, width = self.drivable.shape
        column, up = np.moveaxis(
            np.floor((points_map_m - self.origin_map_m) / self.metres_per_px).astype(np.int64), -1, 0
        )
        row = height - 1 - up
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        drivable: BoolArray = inside & self.drivable[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
        return drivable


class BirdsEye:
    """The bird's-eye raster around an agent."""

    def __init__(self, map_SE3_flu: SE3) -> None:
        """Place the raster at an agent's position and heading, level."""
        self._position_map_m = map_SE3_flu.translation_m[:2]
        yaw = float(quaternion.yaw(map_SE3_flu.quat_wxyz))
        self._map_R_agent = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])

    def static(self, ground: BevGround) -> dict[str, UInt8Array]:
        """Return (512, 512) uint8 layers background, lane and road, which do not overlap."""
        lane = _canvas()
        for line_map_m in ground.lines_map_m:
            if np.abs(line_map_m - self._position_map_m).max(axis=1).min() < _REACH_M:
                draw_polyline(lane, self._px(line_map_m), colour=_WHITE, width_px=_LINE_PX)
        is_lane, is_road = lane > 127, ground.is_drivable(self._pixel_centres_map_m())
        layers = {"background": ~is_road & ~is_lane, "lane": is_lane, "road": is_road & ~is_lane}
        return {name: layer.astype(np.uint8) * 255 for name, layer in layers.items()}

    def boxes(self, boxes: Boxes) -> UInt8Array:
        """Return (512, 512) uint8 footprints of boxes."""
        canvas = _canvas()
        near = np.abs(boxes.map_SE3_box.translation_m[:, :2] - self._position_map_m).max(axis=1, initial=0.0) < _REACH_M
        near_boxes = boxes.pick(near)
        outlines_map_m = cuboid.footprints(near_boxes.map_SE3_box, size_lwh_m=near_boxes.size_lwh_m)
        draw_polygons(canvas, list(self._px(outlines_map_m)), colour=_WHITE)
        return canvas

    def _px(self, points_map_m: FloatArray) -> FloatArray:
        """Return (..., 2) column and row of (..., 2) map points, metres."""
        ahead_left: FloatArray = (points_map_m - self._position_map_m) @ self._map_R_agent
        return _SIDE_PX / 2 - ahead_left[..., ::-1] / _METRES_PER_PX - 0.5

    def _pixel_centres_map_m(self) -> FloatArray:
        """Return (512, 512, 2) pixel centres in the map frame, metres."""
        row, column = np.indices((_SIDE_PX, _SIDE_PX))
        ahead_left = (_SIDE_PX / 2 - np.stack([row, column], axis=-1) - 0.5) * _METRES_PER_PX
        centres: FloatArray = ahead_left @ self._map_R_agent.T + self._position_map_m
        return centres


def _canvas() -> UInt8Array:
    return np.zeros((_SIDE_PX, _SIDE_PX), dtype=np.uint8)


def _lines(files: DataFolder, name: str) -> tuple[FloatArray, ...]:
    if files.fault(name) is not None:
        return ()
    tables = json.loads(files.read(name))
    xy = {node["token"]: (node["x"], node["y"]) for node in tables["node"]}
    nodes = {line["token"]: line["node_tokens"] for line in tables["line"]}
    dividers = [*tables["lane_divider"], *tables["road_divider"]]
    return tuple(np.array([xy[token] for token in nodes[row["line_token"]]]) for row in dividers)
