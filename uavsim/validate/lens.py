"""The validator's own lens models: projection, and its inverse from pixels to rays.

Sources: OpenCV docs, "Camera Calibration and 3D Reconstruction" (k1, k2, p1, p2, k3) and "Fisheye camera model" (k1..k4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from uavsim.typing import FloatArray

_COUNTS: Final = {"brown_conrady": (4, 5), "equidistant": (4,)}
_STEPS, _REPEATS = 8, 5  # from the centre of the image outward, and of Newton's method at each step
_CLOSE_PX: Final = 1e-3
_LINES: Final = 16  # of an image at once: their arrays fit into the processor's cache


@dataclass(frozen=True, slots=True)
class Lens:
    """A lens: ``uav_lens``, ``uav_distortion`` and the intrinsics of ``calibrated_sensor``."""

    model: str
    k: tuple[float, ...]
    focal_px: tuple[float, float]
    centre_px: tuple[float, float]

    @classmethod
    def of(cls, model: str, k: FloatArray, intrinsic: FloatArray) -> Lens:
        """Make a lens from a row's (K,) coefficients, NaN for missing ones, and (3, 3) intrinsics."""
        fx, cx, fy, cy = intrinsic[[0, 0, 1, 1], [0, 2, 1, 2]].tolist()
        return cls(model, tuple(k[np.isfinite(k)].tolist()), (fx, fy), (cx, cy))

    @property
    def is_known(self) -> bool:
        """Whether the validator has a formula with this number of coefficients."""
        return len(self.k) in _COUNTS.get(self.model, ())

    def pixels(self, optical_m: FloatArray) -> FloatArray:
        """Project (..., 3) points in front of the camera to (..., 2) pixels; the top left corner of the image is (0, 0)."""
        x, y = optical_m[..., 0] / optical_m[..., 2], optical_m[..., 1] / optical_m[..., 2]
        return np.stack(self._bend(x, y)[:2], axis=-1) * self.focal_px + self.centre_px

    def rays(self, width: int, height: int) -> FloatArray:
        """Return (H, W, 2) x / z and y / z of each pixel's ray; NaN for pixels without a ray."""
        return _rays(self, width, height)

    def _bend(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return distorted x and y, and the symmetric Jacobian (dx/dx, dx/dy, dy/dy) of the distortion."""
        square = x * x + y * y
        if self.model == "equidistant":
            radius = np.sqrt(np.maximum(square, 1e-24))
            angle = np.arctan(radius)
            powers = [angle ** (2 * n) for n in range(5)]
            k = (1.0, *self.k)
            bent = angle * sum(c * p for c, p in zip(k, powers, strict=True))
            slope = sum((2 * n + 1) * c * p for n, (c, p) in enumerate(zip(k, powers, strict=True))) / (1.0 + square)
            scale = bent / radius
            more = (slope - scale) / np.maximum(square, 1e-24)
            return x * scale, y * scale, scale + more * x * x, more * x * y, scale + more * y * y
        k1, k2, p1, p2, k3 = (*self.k, 0.0)[:5]
        scale = 1.0 + k1 * square + k2 * square**2 + k3 * square**3
        more = 2.0 * (k1 + 2.0 * k2 * square + 3.0 * k3 * square**2)
        return (
            x * scale + 2.0 * p1 * x * y + p2 * (square + 2.0 * x * x),
            y * scale + p1 * (square + 2.0 * y * y) + 2.0 * p2 * x * y,
            scale + more * x * x + 2.0 * p1 * y + 6.0 * p2 * x,
            more * x * y + 2.0 * p1 * x + 2.0 * p2 * y,
            scale + more * y * y + 6.0 * p1 * y + 2.0 * p2 * x,
        )


@lru_cache(maxsize=16)
def _rays(lens: Lens, width: int, height: int) -> FloatArray:
    return np.concatenate([_rays_of_lines(lens, width, y, min(y + _LINES, height)) for y in range(0, height, _LINES)])


def _rays_of_lines(lens: Lens, width: int, first: int, end: int) -> FloatArray:
    """Follow each ray from the image's centre outward, so that Newton's method does not end beyond a fold of the lens."""
    row, column = np.meshgrid(np.arange(first, end) + 0.5, np.arange(width) + 0.5, indexing="ij")
    goal_x, goal_y = (column - lens.centre_px[0]) / lens.focal_px[0], (row - lens.centre_px[1]) / lens.focal_px[1]
    x, y = np.zeros_like(goal_x), np.zeros_like(goal_y)
    valid = np.ones(x.shape, bool)
    with np.errstate(all="ignore"):
        for step in range(1, _STEPS + 1):
            share = step / _STEPS
            for _ in range(_REPEATS):
                bent_x, bent_y, a, b, c = lens._bend(x, y)
                miss_x, miss_y = bent_x - share * goal_x, bent_y - share * goal_y
                area = a * c - b * b
                valid &= area > 0.0
                x, y = x - (c * miss_x - b * miss_y) / area, y - (a * miss_y - b * miss_x) / area
        bent_x, bent_y, *_ = lens._bend(x, y)
        off_px = np.hypot((bent_x - goal_x) * lens.focal_px[0], (bent_y - goal_y) * lens.focal_px[1])
        valid &= off_px < _CLOSE_PX
    return np.where(valid[..., None], np.stack([x, y], axis=-1), np.nan)


def lens_faults(lens: Lens, width: int, height: int) -> Iterator[str]:
    """Yield the faults of a lens."""
    if lens.model not in _COUNTS:
        yield f"lens {lens.model!r} is none of {', '.join(_COUNTS)}"
    elif not lens.is_known:
        yield f"{lens.model} with {len(lens.k)} coefficients"
    elif np.isnan(lens.rays(width, height)).any():
        share = float(np.isnan(lens.rays(width, height)[..., 0]).mean())
        yield f"the lens shows nothing in {share:.1%} of its image: it folds back there"
