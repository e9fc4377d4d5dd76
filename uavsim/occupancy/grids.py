"""Grids of voxels: how large, and in whose frame; each frame and the place of the first corner in it are named.

``swarm``: axes of the map; its origin is on the ground below the middle of all drones, moved to whole voxels of the map, so
that what stands stays in its voxel from sample to sample. ``agent``: x ahead, y left, z up; its origin is on the ground below
a drone or a car. ``camera``: right, down, forward of a camera's optical frame. ``lidar``: a lidar's own axes and place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import numpy as np

from uavsim.access import Image, LidarScan, Sample
from uavsim.errors import DatasetError, InputError
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.channels import agent_id
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict

__all__ = ["GRIDS", "MOST_VOXELS", "Frame", "Grid", "GridShape", "grid_of_values", "on_ground", "place_grid"]

Frame = Literal["swarm", "agent", "camera", "lidar"]
MOST_VOXELS: Final = 10_000_000
"""Of one grid; what declares more is refused."""


@dataclass(frozen=True, slots=True)
class GridShape:
    """A grid before it has a place.

    Attributes:
        frame: ``swarm``, ``agent``, ``camera`` or ``lidar``.
        size: voxels along the frame's three axes.
        voxel_m: edge of a voxel.
        low_m: the grid's first corner in the frame.
    """

    frame: Frame
    size: tuple[int, int, int]
    voxel_m: float
    low_m: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Refuse what is no grid.

        Raises:
            InputError: no voxels, or far too many.
        """
        if self.frame not in get_args(Frame):
            raise InputError(f"no frame {self.frame!r} of a grid; there are {', '.join(get_args(Frame))}")
        if not (min(self.size) >= 1 and np.isfinite([self.voxel_m, *self.low_m]).all() and self.voxel_m > 0):
            raise InputError(f"no grid of {self.size} voxels of {self.voxel_m} m")
        if np.prod(self.size, dtype=float) > MOST_VOXELS:
            raise InputError(f"a grid of {self.size} has more than {MOST_VOXELS:,} voxels")


GRIDS: Final[Mapping[str, GridShape]] = MappingProxyType(
    {
        "swarm": GridShape("swarm", (256, 256, 52), 0.8, (-102.4, -102.4, -2.0)),
        "occ3d": GridShape("agent", (200, 200, 16), 0.4, (-40.0, -40.0, -1.0)),
        "surroundocc": GridShape("lidar", (200, 200, 16), 0.5, (-50.0, -50.0, -5.0)),
        "occufly": GridShape("camera", (192, 128, 128), 0.5, (-48.0, -32.0, 0.0)),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A grid at its place; frame ``grid``: its origin is the first voxel's first corner, metres.

    Attributes:
        map_SE3_grid: where it is.
        shape: which it is.
    """

    map_SE3_grid: SE3
    shape: GridShape

    @property
    def size(self) -> tuple[int, int, int]:
        """Voxels along its axes."""
        return self.shape.size

    @property
    def voxel_m(self) -> float:
        """Edge of a voxel."""
        return self.shape.voxel_m

    @property
    def place(self) -> JsonDict:
        """Its description in files: its shape, and the pose of its first corner in the map."""
        return {
            "frame": self.shape.frame,
            "size": list(self.size),
            "voxel_m": self.voxel_m,
            "low_m": list(self.shape.low_m),
            "map_quat_wxyz_grid": self.map_SE3_grid.quat_wxyz.tolist(),
            "map_from_grid_m": self.map_SE3_grid.translation_m.tolist(),
        }

    @property
    def map_SE3_frame(self) -> SE3:
        """The frame in which the grid's shape says where it begins."""
        return self.map_SE3_grid @ SE3(np.array([1.0, 0.0, 0.0, 0.0]), -np.array(self.shape.low_m))

    def voxels_of(self, points_map_m: FloatArray) -> IntArray:
        """Return (N, 3) voxels of (N, 3) points; those outside have numbers outside of the grid."""
        return np.floor(self.map_SE3_grid.apply_inverse(points_map_m) / self.voxel_m).astype(np.int64)

    def centres_map_m(self, voxels: IntArray) -> FloatArray:
        """Return (N, 3) map points of the middles of (N, 3) voxels."""
        return self.map_SE3_grid.apply(np.asarray((voxels + 0.5) * self.voxel_m))

    def holds(self, voxels: IntArray) -> BoolArray:
        """Return (N,) whether voxels are in the grid."""
        return np.asarray(((voxels >= 0) & (voxels < np.array(self.size))).all(axis=1))


def place_grid(shape: GridShape, sample: Sample, *, ground_map_m: FloatArray, of: str | None = None) -> Grid:
    """Return a grid at its place in a sample.

    Args:
        shape: of the grid.
        sample: for which it is.
        ground_map_m: (N, 3) points of the ground near the sample's agents: the nearest one below an agent is its ground.
        of: agent as channels name it (``0``, ``v0``), or a camera's or lidar's channel; default: the first.

    Raises:
        DatasetError: the sample has no such agent, camera or lidar.
    """
    low = SE3(np.array([1.0, 0.0, 0.0, 0.0]), np.array(shape.low_m))
    if shape.frame == "camera":
        return Grid(_image_of(sample, of).map_SE3_optical @ low, shape)
    if shape.frame == "lidar":
        return Grid(_scan_of(sample, of).map_SE3_sensor @ low, shape)
    if shape.frame == "agent":
        pose = _image_of(sample, of).map_SE3_flu
        yaw = float(quaternion.yaw(pose.quat_wxyz))
        upright = np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])
        return Grid(SE3(upright, on_ground(pose.translation_m, ground_map_m)) @ low, shape)
    places = {image.drone_id: image.map_SE3_flu.translation_m for image in sample.images}
    if not places:
        raise DatasetError(f"{sample.scene_name}: sample {sample.number} has no camera")
    middle = on_ground(np.mean(list(places.values()), axis=0), ground_map_m)
    corner = (
        np.round(middle / shape.voxel_m) * shape.voxel_m + shape.low_m
    )  # a road is not on a border, but inside of a voxel
    return Grid(SE3(np.array([1.0, 0.0, 0.0, 0.0]), corner), shape)


def grid_of_values(values: Mapping[str, Any], *, name: str) -> GridShape:
    """Return a grid of one's own from what a file says: ``frame``, ``size``, ``voxel_m``, ``low_m``.

    Raises:
        InputError: a key is missing or not known, or a value is none.
    """
    wanted = [field.name for field in fields(GridShape)]
    if set(values) != set(wanted):
        raise InputError(f"{name}: a grid has the keys {', '.join(wanted)}; this one has {', '.join(map(str, values))}")
    try:
        size, low_m = tuple(map(int, values["size"])), tuple(map(float, values["low_m"]))
        if len(size) != 3 or len(low_m) != 3:
            raise ValueError("size and low_m have three numbers")
        return GridShape(values["frame"], size, float(values["voxel_m"]), low_m)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: no grid: {error}") from error


def _image_of(sample: Sample, of: str | None) -> Image:
    for image in sample.images:
        if of is None or of in {image.channel, agent_id(image.channel)}:
            return image
    known = sorted({agent_id(image.channel) for image in sample.images})
    raise DatasetError(
        f"{sample.scene_name}: sample {sample.number} has no agent or camera {of}; its agents are {', '.join(known)}"
    )


def _scan_of(sample: Sample, of: str | None) -> LidarScan:
    for scan in sample.lidars:
        if of is None or of in {scan.channel, agent_id(scan.channel)}:
            return scan
    raise DatasetError(f"{sample.scene_name}: sample {sample.number} has no lidar" + (f" of {of}" if of else ""))


def on_ground(place_map_m: FloatArray, ground_map_m: FloatArray) -> FloatArray:
    """Return a place, (3,), moved down to the nearest of (N, 3) points of the ground, seen from above; to 0 without any."""
    if not len(ground_map_m):
        return np.array([place_map_m[0], place_map_m[1], 0.0])
    nearest = np.argmin(np.sum((ground_map_m[:, :2] - place_map_m[:2]) ** 2, axis=1))
    return np.array([place_map_m[0], place_map_m[1], ground_map_m[nearest, 2]])
