"""RayIoU: rays from agents' places into predicted and true voxels, and whether class and distance agree.

Source: Liu et al., "Fully Sparse 3D Occupancy Prediction", ECCV 2024 (``ray_metrics.py`` of SparseOcc): a ray ends in the
first occupied voxel, at the far side of it; of rays whose truth ends in matter, those count as found that meet the same class
within 1, 2 and 4 m.
"""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from uavsim.images.compiled import kernel
from uavsim.occupancy.classes import FREE, NAMES
from uavsim.typing import AnyArray, FloatArray, UInt8Array

__all__ = ["RayCounts", "air_rays", "cast", "lidar_rays"]

THRESHOLDS_M: Final = (1, 2, 4)


def lidar_rays() -> FloatArray:
    """Return (N, 3) directions of the reference's lidar: 360 to a circle, from 45 degrees down to 12 above the horizon."""
    pitch = [-(np.pi / 2 - np.arctan(k + 1)) for k in range(10)]
    while pitch[-1] < 0.21:
        pitch.append(2 * pitch[-1] - pitch[-2])
    return _fan(np.array(pitch))


def air_rays() -> FloatArray:
    """Return (N, 3) directions from an agent in the air: 360 to a circle, every two degrees from below it to the horizon."""
    return _fan(np.radians(np.arange(-89.0, 0.0, 2.0)))


def _fan(pitch_rad: FloatArray) -> FloatArray:
    azimuth = np.radians(np.arange(360.0))
    p, a = (axis.ravel() for axis in np.meshgrid(pitch_rad, azimuth, indexing="ij"))
    directions: FloatArray = np.stack([np.cos(p) * np.cos(a), np.cos(p) * np.sin(a), np.sin(p)], axis=1)
    return directions


class RayCounts:
    """Rays by class: true ones, predicted ones, and found ones by threshold, over all samples."""

    def __init__(self) -> None:
        """Begin with none."""
        self.truth, self.predicted = np.zeros(FREE + 1), np.zeros(FREE + 1)
        self.found = np.zeros((len(THRESHOLDS_M), FREE + 1))

    def add(self, predicted: UInt8Array, truth: UInt8Array, eyes_voxels: Sequence[AnyArray], voxel_m: float) -> None:
        """Count the rays of a sample.

        Args:
            predicted: (X, Y, Z) classes; all above ``FREE`` are air.
            truth: likewise.
            eyes_voxels: (3,) places in voxels from the grid's first corner; one above the grid looks down.
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
        """Return the mean over classes by threshold and over all, and by class; NaN without any ray."""
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
    """Return (N,) the class that each ray ends in, and (N,) how far that is, in voxels; ``FREE`` where it ends in air."""
    deep: FloatArray = np.zeros(len(rays))
    kind: UInt8Array = np.full(len(rays), FREE, dtype=np.uint8)
    cast(np.ascontiguousarray(semantics), np.asarray(eye_voxels, dtype=np.float64), rays, FREE, kind, deep)
    return kind, deep


@kernel
def cast(semantics: Any, eye: Any, rays: Any, free: int, kind: Any, deep: Any) -> None:
    """Follow rays until they meet a voxel that is occupied, or leave the grid.

    Args:
        semantics: (X, Y, Z) classes; ``free`` and above are air.
        eye: (3,) in voxels, inside of the grid or not.
        rays: (N, 3) of length 1.
        free: class of air.
        kind: (N,) class of the voxel; left as it is where there is none.
        deep: (N,) voxels to the far side of it, or to where the ray leaves.
    """
    size = np.array([semantics.shape[0], semantics.shape[1], semantics.shape[2]])
    for n in range(rays.shape[0]):
        near, far = 0.0, np.inf
        for axis in range(3):
            way = rays[n, axis]
            if way == 0.0:
                if not 0.0 <= eye[axis] < size[axis]:
                    far = -1.0
                continue
            one, two = -eye[axis] / way, (size[axis] - eye[axis]) / way
            near, far = max(near, min(one, two)), min(far, max(one, two))
        if near >= far:
            continue
        at, beyond, per = np.zeros(3, np.int64), np.full(3, np.inf), np.full(3, np.inf)
        for axis in range(3):
            way = rays[n, axis]
            at[axis] = min(max(int(np.floor(eye[axis] + near * way)), 0), size[axis] - 1)
            if way != 0.0:
                beyond[axis], per[axis] = (at[axis] + (way > 0.0) - eye[axis]) / way, abs(1.0 / way)
        while True:
            axis = 0 if beyond[0] < beyond[1] else 1
            if beyond[2] <= beyond[axis]:
                axis = 2
            deep[n] = beyond[axis]
            if semantics[at[0], at[1], at[2]] < free:
                kind[n] = semantics[at[0], at[1], at[2]]
                break
            at[axis] += 1 if rays[n, axis] > 0.0 else -1
            beyond[axis] += per[axis]
            if at[axis] < 0 or at[axis] >= size[axis]:
                break
