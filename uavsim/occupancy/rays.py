"""RayIoU: agreement of class and distance of rays from agents in predicted and true voxels.

A ray ends at the far side of the first occupied voxel. A ray of an occupied true voxel is found if its
prediction ends in the same class within 1, 2 or 4 m. Source: Liu et al., "Fully Sparse 3D Occupancy Prediction", ECCV 2024
(``ray_metrics.py`` of SparseOcc).
"""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from uavsim.images.compiled import kernel
from uavsim.occupancy.classes import FREE, NAMES
from uavsim.typing import AnyArray, FloatArray, UInt8Array

THRESHOLDS_M: Final = (1, 2, 4)


def lidar_rays() -> FloatArray:
    """Return (N, 3) unit directions of the reference's lidar: 360 azimuths, from 45 degrees below to 12 above the horizon."""
    pitch = [-(np.pi / 2 - np.arctan(k + 1)) for k in range(10)]
    while pitch[-1] < 0.21:
        pitch.append(2 * pitch[-1] - pitch[-2])
    return _fan(np.array(pitch))


def air_rays() -> FloatArray:
    """Return (N, 3) unit directions of an aerial agent: 360 azimuths, every two degrees from the nadir to the horizon."""
    return _fan(np.radians(np.arange(-89.0, 0.0, 2.0)))


def _fan(pitch_rad: FloatArray) -> FloatArray:
    azimuth = np.radians(np.arange(360.0))
    p, a = (axis.ravel() for axis in np.meshgrid(pitch_rad, azimuth, indexing="ij"))
    directions: FloatArray = np.stack([np.cos(p) * np.cos(a), np.cos(p) * np.sin(a), np.sin(p)], axis=1)
    return directions


class RayCounts:
    """Counts of rays by class: true, predicted, and found by threshold."""

    def __init__(self) -> None:
        """Start with zero counts."""
        self.truth, self.predicted = np.zeros(FREE + 1), np.zeros(FREE + 1)
        self.found = np.zeros((len(THRESHOLDS_M), FREE + 1))

    def add(self, predicted: UInt8Array, truth: UInt8Array, eyes_voxels: Sequence[AnyArray], voxel_m: float) -> None:
        """Count the rays of a sample.

        Args:
            predicted: (X, Y, Z) classes; ``FREE`` and above are free.
            truth: (X, Y, Z) classes.
            eyes_voxels: (3,) positions in voxels from the grid's first corner; positions above the grid use ``air_rays``.
            voxel_m: edge of a voxel.
        """
        for eye in eyes_voxels:
            rays = air_rays() if eye[2] >= truth.shape[2] else lidar_rays()
            (kind, deep), (kind_true, deep_true) = (_cast(grid, eye, rays) for grid in (predicted, truth))
            valid = kind_true < FREE
            same = (kind == kind_true)[valid]
            self.truth += np.bincount(kind_true[valid], minlength=FREE + 1)
            self.predicted += np.bincount(kind[valid], minlength=FREE + 1)
            for found, limit in zip(self.found, THRESHOLDS_M, strict=True):
                near = np.abs(deep - deep_true)[valid] * voxel_m < limit
                found += np.bincount(kind_true[valid][same & near], minlength=FREE + 1)

    def scores(self) -> dict[str, Any]:
        """Return mean IoU, by threshold and by class; NaN without rays."""
        with np.errstate(invalid="ignore"):
            iou = (self.found / (self.truth + self.predicted - self.found))[:, :FREE]
        met = ~np.isnan(iou).all(axis=0)
        means = [float(np.nanmean(row)) if met.any() else float("nan") for row in iou]
        by_class = {
            NAMES[n]: dict(zip(map(str, THRESHOLDS_M), iou[:, n].tolist(), strict=True)) for n in np.flatnonzero(met)
        }
        return {
            "mean": float(np.mean(means)), **dict(zip(map(str, THRESHOLDS_M), means, strict=True)), "of_class": by_class,
            "rays": int(self.truth.sum()),
        }  # fmt: skip


def _cast(semantics: UInt8Array, eye_voxels: AnyArray, rays: FloatArray) -> tuple[UInt8Array, FloatArray]:
    """Return (N,) the class in which each ray ends, ``FREE`` without one, and (N,) the distance in voxels."""
    deep: FloatArray = np.zeros(len(rays))
    kind: UInt8Array = np.full(len(rays), FREE, dtype=np.uint8)
    cast(np.ascontiguousarray(semantics), np.asarray(eye_voxels, dtype=np.float64), rays, FREE, kind, deep)
    return kind, deep


@kernel
def cast(semantics: Any, eye: Any, rays: Any, free: int, kind: Any, deep: Any) -> None:
    """Follow rays until they meet an occupied voxel or leave the grid.

    Args:
        semantics: (X, Y, Z) classes; ``free`` and above are free.
        eye: (3,) position in voxels, inside or outside the grid.
        rays: (N, 3) unit directions.
        free: class of free space.
        kind: (N,) class of the voxel; unchanged without one.
        deep: (N,) distance in voxels to the far side of the voxel, or to the end of the grid.
    """
    size = np.array([semantics.shape[0], semantics.shape[1], semantics.shape[2]])
    for n in range(rays.shape[0]):
        near, far = 0.0, np.inf
        for axis in range(3):
            direction = rays[n, axis]
            if direction == 0.0:
                if not 0.0 <= eye[axis] < size[axis]:
                    far = -1.0
                continue
            one, two = -eye[axis] / direction, (size[axis] - eye[axis]) / direction
            near, far = max(near, min(one, two)), min(far, max(one, two))
        if near >= far:
            continue
        cell, beyond, per = np.zeros(3, np.int64), np.full(3, np.inf), np.full(3, np.inf)
        for axis in range(3):
            direction = rays[n, axis]
            cell[axis] = min(max(int(np.floor(eye[axis] + near * direction)), 0), size[axis] - 1)
            if direction != 0.0:
                beyond[axis], per[axis] = (cell[axis] + (direction > 0.0) - eye[axis]) / direction, abs(1.0 / direction)
        while True:
            axis = 0 if beyond[0] < beyond[1] else 1
            if beyond[2] <= beyond[axis]:
                axis = 2
            deep[n] = beyond[axis]
            if semantics[cell[0], cell[1], cell[2]] < free:
                kind[n] = semantics[cell[0], cell[1], cell[2]]
                break
            cell[axis] += 1 if rays[n, axis] > 0.0 else -1
            beyond[axis] += per[axis]
            if cell[axis] < 0 or cell[axis] >= size[axis]:
                break
