"""Boxes, cameras, images, and what the images show of the boxes: what is measured, without the compiled code that does it."""

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
STRAIGHT: Final = np.zeros((0, 0, 2), np.float32)
"""``PlacedCamera.place_px`` of a pinhole."""


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """N boxes: (N,) poses and (N, 3) half extents in metres; made once for all views, rotations into them and their corners.

    Attributes:
        box_R_map: (N, 3, 3).
        corners_map_m: (N, 8, 3) in the order of ``cuboid.corners``.
    """

    map_SE3_box: SE3
    half_m: FloatArray
    box_R_map: FloatArray
    corners_map_m: FloatArray

    @classmethod
    def of(cls, map_SE3_box: SE3, half_m: FloatArray) -> Solids:
        """Make them of poses and half extents."""
        corners_m = cuboid.corners(map_SE3_box, size_lwh_m=2 * half_m)
        return cls(map_SE3_box, half_m, map_SE3_box.inverse().rotation, corners_m)

    def __len__(self) -> int:
        return len(self.half_m)

    def take(self, rows: IntArray) -> Solids:
        """Return some of the boxes."""
        return Solids(self.map_SE3_box[rows], self.half_m[rows], self.box_R_map[rows], self.corners_map_m[rows])


@dataclass(frozen=True, slots=True, eq=False)
class PlacedCamera:
    """One image: pose, (3, 3) intrinsics of the pinhole, size.

    Attributes:
        lens: through which the image is seen. The pinhole is then the wider one that was rendered: rays are straight there.
    """

    map_SE3_optical: SE3
    intrinsic: FloatArray
    width_px: int
    height_px: int
    lens: Lens | None = None

    @classmethod
    def of(cls, map_SE3_optical: SE3, camera: CameraParams) -> PlacedCamera:
        """Make it of a pose and parameters."""
        return cls(map_SE3_optical, camera.rendered.intrinsic, camera.width_px, camera.height_px, camera.lens)

    @property
    def pinhole_size_px(self) -> tuple[int, int]:
        """Width and height of the pinhole's image."""
        return (self.lens.wide.width_px, self.lens.wide.height_px) if self.lens else (self.width_px, self.height_px)

    @property
    def place_px(self) -> Float32Array:
        """(H, W, 2) each pixel's column and line in the pinhole's image; (0, 0, 2) where they are its own."""
        return STRAIGHT if self.lens is None else _places(self.lens)


@lru_cache(maxsize=32)
def _places(lens: Lens) -> Float32Array:
    return np.asarray(lens.wide_px_of_centres - 0.5, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class CameraImages:
    """One camera's (H, W) instance ids and semantic tags, (H, W) depth in metres where recorded, the mask's runs if known."""

    ids: UInt16Array
    tags: UInt8Array
    depth_m: npt.NDArray[np.float32] | None = None
    runs: IntArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SeenInView:
    """Rows of ``ViewLabels`` for one image; ``row`` numbers the boxes given to ``see``.

    Attributes:
        silhouette_px: (M,) pixels of the image whose rays meet the box: never below the object's own.
        blockers_px: (M,) of them, those that show something nearer.
        ignored: (K, 6) regions of road users without a box, see ``images.regions``.
    """

    row: IntArray
    visible_px: IntArray
    silhouette_px: IntArray
    blockers_px: IntArray
    truncation: FloatArray
    visible_box_px: IntArray
    amodal_box_px: FloatArray
    ignored: IntArray
