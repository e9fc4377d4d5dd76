"""Shapes of moving objects: boxes without the cells that any image sees through; equal boxes of a class share a shape.

Shapes follow from depth images, not from meshes. Cells that no image looks into stay solid, so that a shape that is seen from
few sides is too large, never hollow.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np

from uavsim.access import Boxes, Image, Sample
from uavsim.occupancy import kernels
from uavsim.typing import AnyArray, BoolArray, FloatArray

ShapeKey: TypeAlias = tuple[str, int, int, int]
"""Category, and length, width, height in centimetres."""
_FINEST_M: Final = 0.1
_MOST_CELLS: Final = 64  # along an axis
_REACH_M: Final = 120.0


def keys_of(boxes: Boxes) -> list[ShapeKey]:
    """Return the shape key of each box."""
    sizes = np.round(boxes.size_lwh_m * 100).astype(np.int64).tolist()
    return [(name, *size) for name, size in zip(boxes.categories, sizes, strict=True)]


class Shapes:
    """Counts of images for the cells of each shape."""

    def __init__(self) -> None:
        """Start without shapes."""
        self._through: dict[ShapeKey, AnyArray] = {}
        self._surface: dict[ShapeKey, AnyArray] = {}

    def counts(self, key: ShapeKey, size_lwh_m: FloatArray) -> tuple[AnyArray, AnyArray]:
        """Return (A, B, C) counts of images that see through a cell, and of those with a surface in it; sizes are (3,)."""
        if key not in self._through:
            edge_m = max(_FINEST_M, float(size_lwh_m.max()) / _MOST_CELLS)
            cells = np.maximum(np.ceil(size_lwh_m / edge_m), 1).astype(np.int64)
            self._through[key], self._surface[key] = np.zeros(cells, np.uint32), np.zeros(cells, np.uint32)
        return self._through[key], self._surface[key]

    def solid(self, key: ShapeKey, size_lwh_m: FloatArray) -> BoolArray:
        """Return (A, B, C) bool, solid cells of a shape with a (3,) size in metres; all cells if none is solid."""
        through, surface_counts = self.counts(key, size_lwh_m)
        solid = (through == 0) | (surface_counts > through)
        return np.asarray(solid) if solid.any() else np.ones(through.shape, dtype=np.bool_)


def fit_shapes(samples: Iterable[Sample]) -> Shapes:
    """Return the shapes of all boxes of samples, from their images without a lens."""
    shapes = Shapes()
    for sample in samples:
        boxes = sample.boxes
        keys = keys_of(boxes)
        for image in sample.images:
            if len(boxes) and image.lens is None:
                _carve_visible(shapes, image, boxes, keys)
    return shapes


def _carve_visible(shapes: Shapes, image: Image, boxes: Boxes, keys: list[ShapeKey]) -> None:
    optical_SE3_box = image.map_SE3_optical.inverse() @ boxes.map_SE3_box
    centres, reach = optical_SE3_box.translation_m, np.linalg.norm(boxes.size_lwh_m, axis=1) / 2
    pixels = image.project(boxes.map_SE3_box.translation_m)
    focal_px = image.intrinsic[0, 0]
    spare_px = focal_px * reach / np.maximum(centres[:, 2], 0.1)
    near = (centres[:, 2] > reach) & (centres[:, 2] < _REACH_M)
    with np.errstate(invalid="ignore"):
        near &= ((pixels > -spare_px[:, None]) & (pixels < image.size_px + spare_px[:, None])).all(axis=1)
    if not near.any():
        return
    depth_m, (ids, _) = image.depth_m(), image.mask()
    pinhole = np.array([image.intrinsic[0, 0], image.intrinsic[1, 1], image.intrinsic[0, 2], image.intrinsic[1, 2]])
    turns = optical_SE3_box.rotation
    for n in np.flatnonzero(near).tolist():
        size = boxes.size_lwh_m[n]
        through, surface_counts = shapes.counts(keys[n], size)
        own_id = int(boxes.instance_id[n])
        kernels.carve(depth_m, ids, own_id, turns[n], centres[n], pinhole, size / 2, through, surface_counts)
