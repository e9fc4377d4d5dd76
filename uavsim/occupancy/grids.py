"""Grids of voxels in one of four frames.

``swarm``: axes of the map; the origin is on the ground below the centre of all drones, rounded to whole voxels of the map, so
static objects keep their voxels from sample to sample. ``agent``: x ahead, y left, z up; the origin is on the ground below a
drone or a car. ``camera``: right, down, forward of a camera's optical frame. ``lidar``: the frame of a lidar.
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

Frame = Literal["swarm", "agent", "camera", "lidar"]
MOST_VOXELS: Final = 10_000_000
"""Largest number of voxels of a grid."""


@dataclass(frozen=True, slots=True)
class GridShape:
    """The shape of a grid in its frame.

    Attributes:
        frame: ``swarm``, ``agent``, ``camera`` or ``lidar``.
        size: number of voxels along the frame's axes.
        voxel_m: edge of a voxel.
        low_m: first corner of the grid in the frame.
    """

    frame: Frame
    size: tuple[int, int, int]
    voxel_m: float
    low_m: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Refuse an invalid shape.

        Raises:
            InputError: the frame is unknown, a value is not positive or finite, or the grid is too large.
        """
        if self.frame not in get_args(Frame):
            raise InputError(f"unknown grid frame {self.frame!r}; choose one of {', '.join(get_args(Frame))}")
        if not (min(self.size) >= 1 and np.isfinite([self.voxel_m, *self.low_m]).all() and self.voxel_m > 0):
            raise InputError(f"invalid grid: size {self.size}, voxel_m {self.voxel_m}, low_m {self.low_m}")
        if np.prod(self.size, dtype=float) > MOST_VOXELS:
            raise InputError(f"a grid of {self.size} has more than {MOST_VOXELS:,} voxels; reduce its size")


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
    """A grid with a pose; the origin of the frame ``grid`` is the first corner of the first voxel, metres.

    Attributes:
        map_SE3_grid: pose in the map.
        shape: the shape.
    """

    map_SE3_grid: SE3
    shape: GridShape

    @property
    def size(self) -> tuple[int, int, int]:
        """Number of voxels along the axes."""
        return self.shape.size

    @property
    def voxel_m(self) -> float:
        """Edge of a voxel."""
        return self.shape.voxel_m

    @property
    def metadata(self) -> JsonDict:
        """The grid's description in files: shape, and pose of the first corner in the map."""
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
        """Pose of the frame in which ``low_m`` is the grid's first corner."""
        return self.map_SE3_grid @ SE3(np.array([1.0, 0.0, 0.0, 0.0]), -np.array(self.shape.low_m))

    def voxels_of(self, points_map_m: FloatArray) -> IntArray:
        """Return (N, 3) int64 voxel indices of (N, 3) map points, metres; points outside have indices outside the grid."""
        return np.floor(self.map_SE3_grid.apply_inverse(points_map_m) / self.voxel_m).astype(np.int64)

    def centres_map_m(self, voxels: IntArray) -> FloatArray:
        """Return (N, 3) centres of (N, 3) voxels in the map frame, metres."""
        return self.map_SE3_grid.apply(np.asarray((voxels + 0.5) * self.voxel_m))

    def holds(self, voxels: IntArray) -> BoolArray:
        """Return (N,) whether (N, 3) voxel indices are inside the grid."""
        return np.asarray(((voxels >= 0) & (voxels < np.array(self.size))).all(axis=1))


def place_grid(shape: GridShape, sample: Sample, *, ground_map_m: FloatArray, of: str | None = None) -> Grid:
    """Return a grid in a sample.

    Args:
        shape: shape of the grid.
        sample: the sample.
        ground_map_m: (N, 3) points of the ground; the nearest one, seen from above, is an agent's ground.
        of: agent as channels name it (``0``, ``v0``), or channel of a camera or lidar; default: the first.

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
    positions_m = {image.drone_id: image.map_SE3_flu.translation_m for image in sample.images}
    if not positions_m:
        raise DatasetError(f"{sample.scene_name}: sample {sample.number} has no camera")
    middle = on_ground(np.mean(list(positions_m.values()), axis=0), ground_map_m)
    corner = np.round(middle / shape.voxel_m) * shape.voxel_m + shape.low_m  # keeps roads off voxel borders
    return Grid(SE3(np.array([1.0, 0.0, 0.0, 0.0]), corner), shape)


def grid_of_values(values: Mapping[str, Any], *, name: str) -> GridShape:
    """Return a custom grid from the values of a file: ``frame``, ``size``, ``voxel_m``, ``low_m``.

    Raises:
        InputError: a key is missing or unknown, or a value is invalid.
    """
    keys = [field.name for field in fields(GridShape)]
    if set(values) != set(keys):
        raise InputError(f"{name}: a grid needs the keys {', '.join(keys)}, got {', '.join(map(str, values))}")
    try:
        size, low_m = tuple(map(int, values["size"])), tuple(map(float, values["low_m"]))
        if len(size) != 3 or len(low_m) != 3:
            raise ValueError("size and low_m need three numbers")
        return GridShape(values["frame"], size, float(values["voxel_m"]), low_m)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: invalid grid: {error}") from error


def _image_of(sample: Sample, of: str | None) -> Image:
    for image in sample.images:
        if of is None or of in {image.channel, agent_id(image.channel)}:
            return image
    agents = sorted({agent_id(image.channel) for image in sample.images})
    raise DatasetError(
        f"{sample.scene_name}: sample {sample.number} has no agent or camera {of}; its agents are {', '.join(agents)}"
    )


def _scan_of(sample: Sample, of: str | None) -> LidarScan:
    for scan in sample.lidars:
        if of is None or of in {scan.channel, agent_id(scan.channel)}:
            return scan
    raise DatasetError(f"{sample.scene_name}: sample {sample.number} has no lidar" + (f" of {of}" if of else ""))


def on_ground(position_map_m: FloatArray, ground_map_m: FloatArray) -> FloatArray:
    """Return a (3,) position at the height of the nearest of (N, 3) points, seen from above; 0 without points."""
    if not len(ground_map_m):
        return np.array([position_map_m[0], position_map_m[1], 0.0])
    nearest = np.argmin(np.sum((ground_map_m[:, :2] - position_map_m[:2]) ** 2, axis=1))
    return np.array([position_map_m[0], position_map_m[1], ground_map_m[nearest, 2]])
