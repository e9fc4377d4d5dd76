"""Voxels of a sample."""

from dataclasses import dataclass

from uavsim.typing import FloatArray, UInt8Array


@dataclass(frozen=True, slots=True, eq=False)
class Voxels:
    """Occupied voxels of one grid in a sample.

    Attributes:
        grid: name of the grid: ``swarm``, an agent, or a channel.
        centres_map_m: (N, 3) centres in the map frame, metres.
        quat_wxyz: (4,) rotation of the grid in the map frame.
        voxel_m: edge of a voxel.
        classes: (N,) class numbers.
        names: names of all classes.
    """

    grid: str
    centres_map_m: FloatArray
    quat_wxyz: FloatArray
    voxel_m: float
    classes: UInt8Array
    names: tuple[str, ...]
