"""Boxes, cameras, images, and what the images show of the boxes: what is measured, without the compiled code that does it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray, IntArray, UInt8Array, UInt16Array

__all__ = ["Camera", "Images", "SeenInView", "Solids"]


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """N boxes: (N,) poses, (N, 3) half extents in metres, and (N, 3, 3) rotations into the boxes, made once for all views."""

    map_SE3_box: SE3
    half_m: FloatArray
    box_R_map: FloatArray

    @classmethod
    def of(cls, map_SE3_box: SE3, half_m: FloatArray) -> Solids:
        """Make them of poses and half extents."""
        return cls(map_SE3_box, half_m, map_SE3_box.inverse().rotation)

    def __len__(self) -> int:
        return len(self.half_m)

    def take(self, rows: IntArray) -> Solids:
        """Return some of the boxes."""
        return Solids(self.map_SE3_box[rows], self.half_m[rows], self.box_R_map[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """One image: pose, (3, 3) intrinsics, size."""

    map_SE3_optical: SE3
    intrinsic: FloatArray
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """One camera's (H, W) instance ids and semantic tags, and (H, W) depth in metres where recorded."""

    ids: UInt16Array
    tags: UInt8Array
    depth_m: npt.NDArray[np.float32] | None = None


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
