"""Records of the visibility measurement: boxes, cameras, images and results; imports no compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.geometry import cuboid
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.records.sensors import CameraParams
from uavsim.typing import FloatArray, IntArray, UInt8Array, UInt16Array

Float32Array: TypeAlias = npt.NDArray[np.float32]
NO_LENS: Final = np.zeros((0, 0, 2), np.float32)
"""``PlacedCamera.pinhole_px`` of a camera without a lens."""


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """N boxes with values derived once for all views.

    Attributes:
        map_SE3_box: (N,) poses.
        half_m: (N, 3) half extents, metres.
        box_R_map: (N, 3, 3) rotations from the map frame to the boxes.
        corners_map_m: (N, 8, 3) corners in the order of ``cuboid.corners``.
    """

    map_SE3_box: SE3
    half_m: FloatArray
    box_R_map: FloatArray
    corners_map_m: FloatArray

    @classmethod
    def of(cls, map_SE3_box: SE3, half_m: FloatArray) -> Solids:
        """Build the records from (N,) poses and (N, 3) half extents, metres."""
        corners_m = cuboid.corners(map_SE3_box, size_lwh_m=2 * half_m)
        return cls(map_SE3_box, half_m, map_SE3_box.inverse().rotation, corners_m)

    def __len__(self) -> int:
        return len(self.half_m)

    def take(self, rows: IntArray) -> Solids:
        """Select boxes by their rows, (K,) int64."""
        return Solids(self.map_SE3_box[rows], self.half_m[rows], self.box_R_map[rows], self.corners_map_m[rows])


@dataclass(frozen=True, slots=True, eq=False)
class PlacedCamera:
    """The camera of one image.

    Attributes:
        intrinsic: (3, 3) matrix of the pinhole; with a lens, of the wider rendered pinhole, in which rays are straight.
        lens: lens of the camera; None for a pinhole.
    """

    map_SE3_optical: SE3
    intrinsic: FloatArray
    width_px: int
    height_px: int
    lens: Lens | None = None

    @classmethod
    def of(cls, map_SE3_optical: SE3, camera: CameraParams) -> PlacedCamera:
        """Build it from a pose and camera parameters."""
        return cls(map_SE3_optical, camera.rendered.intrinsic, camera.width_px, camera.height_px, camera.lens)

    @property
    def pinhole_size_px(self) -> tuple[int, int]:
        """Width and height of the pinhole's image."""
        return (self.lens.wide.width_px, self.lens.wide.height_px) if self.lens else (self.width_px, self.height_px)

    @property
    def pinhole_px(self) -> Float32Array:
        """(H, W, 2) float32 position of each pixel in the pinhole's image; (0, 0, 2) without a lens."""
        return NO_LENS if self.lens is None else _pinhole_positions(self.lens)


@lru_cache(maxsize=32)
def _pinhole_positions(lens: Lens) -> Float32Array:
    return np.asarray(lens.wide_px_of_centres - 0.5, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class CameraImages:
    """One camera's (H, W) instance ids, (H, W) semantic tags, and (H, W) depth in metres if recorded."""

    ids: UInt16Array
    tags: UInt8Array
    depth_m: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ViewMeasurements:
    """Measurements of M boxes in one image.

    Attributes:
        row: (M,) rows of the boxes among those passed to ``measure_view``.
        visible_px: (M,) pixels that show the object.
        silhouette_px: (M,) pixels with rays through the box, at least the pixels of the object.
        blockers_px: (M,) silhouette pixels that show something nearer.
        truncation: (M,) shares of the silhouettes outside the image.
        visible_box_px: (M, 4) bounds of the visible pixels.
        amodal_box_px: (M, 4) bounds of the silhouettes inside the image.
        ignored: (K, 6) regions of road users without a box, of the whole image; see ``images.regions``.
    """

    row: IntArray
    visible_px: IntArray
    silhouette_px: IntArray
    blockers_px: IntArray
    truncation: FloatArray
    visible_box_px: IntArray
    amodal_box_px: FloatArray
    ignored: IntArray
