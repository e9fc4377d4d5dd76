"""The boxes of one sample, and the track of one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from uavsim.geometry import cuboid
from uavsim.geometry.se3 import SE3
from uavsim.typing import AnyArray, FloatArray, IntArray, JsonDict

UNKNOWN: Final = (float("nan"),) * 3
"""An unknown vector."""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """The N boxes of one sample; frame ``map``, metres.

    Attributes:
        tokens: (N,) tokens of rows of ``sample_annotation``.
        instance_tokens: (N,) tokens of the objects; an object has the same token in all samples of its scene.
        categories: (N,) names, ``vehicle.car``.
        instance_id: (N,) ids in the instance masks; 0 if unknown.
        map_SE3_box: (N,) poses; box frame: x forward, y left, z up, origin at the centre.
        size_lwh_m: (N, 3) length, width, height.
        actor_map_m: (N, 3) origins of the objects in the simulator; the centre if unknown.
        velocity_map_mps: (N, 3) velocities from the simulator, m/s; NaN if unknown.
        visible_px: (N,) pixels in all cameras of the sample; -1 if unknown.
        lidar_points: (N,) the column ``num_lidar_pts``.
        visibility: (N,) nuScenes' level 1 to 4; 0 if unknown.
        seen_by: (N,) drones that see a pixel of the object; () if none does, or unknown.
        views: (N,) the object in each camera image, entries of ``visibility_detail``; () if unknown.
    """

    tokens: tuple[str, ...]
    instance_tokens: tuple[str, ...]
    categories: tuple[str, ...]
    instance_id: IntArray
    map_SE3_box: SE3
    size_lwh_m: FloatArray
    actor_map_m: FloatArray
    velocity_map_mps: FloatArray
    visible_px: IntArray
    lidar_points: IntArray
    visibility: IntArray
    seen_by: tuple[tuple[int, ...], ...]
    views: tuple[tuple[JsonDict, ...], ...]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def corners_map_m(self) -> FloatArray:
        """(N, 8, 3) corners in the map frame, metres, in the devkit's order."""
        return cuboid.corners(self.map_SE3_box, size_lwh_m=self.size_lwh_m)

    @property
    def visible(self) -> AnyArray:
        """(N,) bool, True if a camera or lidar sees the object; the devkit's evaluation drops all others."""
        return np.where(self.visible_px >= 0, self.visible_px > 0, self.lidar_points > 0)

    def pick(self, rows: AnyArray) -> Boxes:
        """Select boxes by (N,) booleans or (K,) row numbers."""
        chosen = np.arange(len(self))[rows]
        numbers = chosen.tolist()
        return Boxes(
            tokens=tuple(self.tokens[n] for n in numbers),
            instance_tokens=tuple(self.instance_tokens[n] for n in numbers),
            categories=tuple(self.categories[n] for n in numbers),
            instance_id=self.instance_id[chosen],
            map_SE3_box=self.map_SE3_box[chosen],
            size_lwh_m=self.size_lwh_m[chosen],
            actor_map_m=self.actor_map_m[chosen],
            velocity_map_mps=self.velocity_map_mps[chosen],
            visible_px=self.visible_px[chosen],
            lidar_points=self.lidar_points[chosen],
            visibility=self.visibility[chosen],
            seen_by=tuple(self.seen_by[n] for n in numbers),
            views=tuple(self.views[n] for n in numbers),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The track of one object: T boxes in order of time.

    Attributes:
        instance_token: token of the object.
        category: class of the object.
        instance_id: id in the instance masks, 0 if unknown.
        sample_numbers: (T,) numbers of the keyframes.
        timestamps_us: (T,) times of the keyframes, microseconds.
        map_SE3_box: (T,) poses.
        size_lwh_m: (T, 3) length, width, height.
        velocity_map_mps: (T, 3) velocities, m/s; NaN if unknown.
    """

    instance_token: str
    category: str
    instance_id: int
    sample_numbers: IntArray
    timestamps_us: IntArray
    map_SE3_box: SE3
    size_lwh_m: FloatArray
    velocity_map_mps: FloatArray

    def __len__(self) -> int:
        return len(self.timestamps_us)


def boxes_of(
    rows: Sequence[JsonDict],
    *,
    instances: Mapping[str, JsonDict],
    category_names: Mapping[str, str],
    details: Mapping[str, JsonDict],
) -> Boxes:
    """Make boxes from rows of ``sample_annotation`` in the strict dialect.

    Args:
        rows: rows of one sample.
        instances: rows of ``instance`` by token.
        category_names: category names by token of ``category``.
        details: rows of ``visibility_detail`` by the token of the annotation.
    """
    ids = [row.get("uav_instance_id", instances[row["instance_token"]].get("uav_instance_id", 0)) for row in rows]
    reported = [details.get(row["token"], {}) for row in rows]
    levels = [str(row.get("visibility_token", "")) for row in rows]
    return Boxes(
        tokens=tuple(row["token"] for row in rows),
        instance_tokens=tuple(row["instance_token"] for row in rows),
        categories=tuple(category_names[instances[row["instance_token"]]["category_token"]] for row in rows),
        instance_id=np.array(ids, dtype=np.int64),
        map_SE3_box=SE3.from_quat_wxyz(_columns(rows, "rotation", 4), _columns(rows, "translation", 3)),
        size_lwh_m=cuboid.lwh_from_wlh(_columns(rows, "size", 3)),
        actor_map_m=_vectors([row.get("uav_actor_translation", row["translation"]) for row in rows]),
        velocity_map_mps=_vectors([row.get("uav_velocity", UNKNOWN) for row in rows]),
        visible_px=np.array([_visible_px(row) for row in rows], dtype=np.int64),
        lidar_points=np.array([row.get("num_lidar_pts", 0) for row in rows], dtype=np.int64),
        visibility=np.array([int(level) if level in {"1", "2", "3", "4"} else 0 for level in levels], dtype=np.int64),
        seen_by=tuple(
            tuple(row.get("uav_seen_by") or detail.get("seen_by") or ())
            for row, detail in zip(rows, reported, strict=True)
        ),
        views=tuple(tuple(detail.get("views", ())) for detail in reported),
    )


def _vectors(values: Sequence[Any]) -> FloatArray:
    return np.array(values, dtype=np.float64).reshape(-1, 3)


def _columns(rows: Sequence[JsonDict], name: str, width: int) -> FloatArray:
    return np.array([row[name] for row in rows], dtype=np.float64).reshape(-1, width)


def _visible_px(row: JsonDict) -> int:
    """Return the visible pixels: ``uav_visible_px``, or ``num_lidar_pts`` in uavsim's datasets without lidar; else -1."""
    if "uav_visible_px" in row:
        return int(row["uav_visible_px"])
    return int(row["num_lidar_pts"]) if "uav_instance_id" in row and row["num_lidar_pts"] >= 0 else -1


def mask_ids(boxes: Boxes) -> IntArray:
    """Return (N,) instance ids; unknown ids get numbers that are unique in the sample."""
    return np.where(boxes.instance_id > 0, boxes.instance_id, np.arange(1, len(boxes) + 1))
