"""Lens distortion with OpenCV's and Kalibr's coefficients; pixel (0, 0) is the image's top left corner.

A lens maps the plane z = 1 (x right, y down) onto itself; focal lengths and centre then give pixels, as for a pinhole. No
simulator renders distortion: each pixel is looked up in the image of a wider pinhole camera, ``Lens.wide``, that covers the
field of view of the lens. ``Lens.edge`` bounds the visible part of the plane. Beyond it, polynomials may fold back into the
image; a straight continuation replaces them there, for boxes that reach out of the image.

Sources: OpenCV docs, "Camera Calibration and 3D Reconstruction" and "Fisheye camera model"; Kalibr wiki, "Supported models".
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from uavsim.errors import FrameError
from uavsim.geometry.pinhole import intrinsic
from uavsim.typing import FloatArray

_STEEPEST_DEG: Final = 85.0  # maximum angle off the axis: a pinhole image twice as wide shows 2.5 degrees more
_MOST_SIDE_PX: Final = 8192  # of the wide image
_MOST_AREA: Final = 16  # of the wide image, in images of the lens at fineness 1
_SPARE_PX: Final = 2  # margin of the wide image: bilinear neighbours, and a field of view rounded down
_FOV_STEP: Final = 1024.0  # parts of a degree: exact in float32, which simulators take
_TABLE: Final = 4096
_NEWTON_STEPS: Final = 8
_PART: Final = 1 << 13  # pixels inverted at once: the working set stays in the processor's cache
_CACHED_LENSES: Final = 32


@dataclass(frozen=True, slots=True)
class LensModel:
    """A family of lenses.

    Attributes:
        counts: allowed numbers of coefficients.
        factor: radial distortion: (...) radii in the plane, coefficients -> (...) factors of the radii.
        shift: tangential distortion: (..., 2) points of the plane, coefficients -> (..., 2) offsets.
    """

    counts: tuple[int, ...]
    factor: Callable[[FloatArray, Sequence[float]], FloatArray]
    shift: Callable[[FloatArray, Sequence[float]], FloatArray] | None = None

    def bend(self, plane: FloatArray, coefficients: Sequence[float]) -> FloatArray:
        """Distort (..., 2) points of the plane; returns (..., 2)."""
        radius = np.hypot(plane[..., 0], plane[..., 1])
        bent: FloatArray = plane * self.factor(radius, coefficients)[..., None]
        return bent if self.shift is None else np.asarray(bent + self.shift(plane, coefficients))


def _brown_factor(radius: FloatArray, k: Sequence[float]) -> FloatArray:
    square = radius**2
    return 1.0 + square * (k[0] + square * (k[1] + square * (k[4] if len(k) > 4 else 0.0)))


def _brown_shift(plane: FloatArray, k: Sequence[float]) -> FloatArray:
    x, y = plane[..., 0], plane[..., 1]
    square, twice = x * x + y * y, 2.0 * x * y
    return np.stack(
        [k[2] * twice + k[3] * (square + 2.0 * x * x), k[2] * (square + 2.0 * y * y) + k[3] * twice], axis=-1
    )


def _equidistant_factor(radius: FloatArray, k: Sequence[float]) -> FloatArray:
    angle = np.arctan(radius)
    square = angle**2
    bent = angle * (1.0 + square * (k[0] + square * (k[1] + square * (k[2] + square * k[3]))))
    return np.where(radius > 1e-9, bent / np.maximum(radius, 1e-9), 1.0)


LENS_MODELS: Final = {
    "brown_conrady": LensModel((4, 5), _brown_factor, _brown_shift),
    "equidistant": LensModel((4,), _equidistant_factor),
}
"""``brown_conrady``: k1, k2, p1, p2[, k3] (OpenCV, Kalibr's radtan); ``equidistant``: k1..k4 (OpenCV's fisheye, Kalibr)."""


@dataclass(frozen=True, slots=True)
class Wide:
    """The pinhole camera that covers the field of view of a lens: square pixels, principal point in the middle."""

    width_px: int
    height_px: int
    fov_deg: float


@dataclass(frozen=True, slots=True)
class Lens:
    """A lens and its image.

    Attributes:
        model: key of ``LENS_MODELS``.
        coefficients: coefficients of the model.
        focal_px: focal lengths along x and y.
        centre_px: principal point x, y.
        size_px: width, height.
        fineness: minimum number of rendered pixels along each side of a pixel.
    """

    model: str
    coefficients: tuple[float, ...]
    focal_px: tuple[float, float]
    centre_px: tuple[float, float]
    size_px: tuple[int, int]
    fineness: int = 1

    @property
    def intrinsic(self) -> FloatArray:
        """The (3, 3) matrix from distorted points of the plane to pixels."""
        (fx, fy), (cx, cy) = self.focal_px, self.centre_px
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])

    @property
    def edge(self) -> float:
        """Radius of the visible part of the plane: that of the image's farthest corner.

        Raises:
            FrameError: no ray reaches a corner.
        """
        return _edge(self)

    @property
    def wide(self) -> Wide:
        """The pinhole camera that holds the image at ``fineness`` or finer.

        Raises:
            FrameError: the wide image would be too large.
        """
        return _wide(self)

    def project(self, points_optical_m: FloatArray, *, beyond: bool = False) -> FloatArray:
        """Project points into the image.

        Args:
            points_optical_m: (..., 3) points in the optical frame, metres.
            beyond: continue straight beyond ``edge`` instead of returning NaN.

        Returns:
                (..., 2) pixels; NaN for points behind the lens or beyond ``edge``.
        """
        points = np.asarray(points_optical_m, dtype=np.float64)
        plane = points[..., :2] / np.where(points[..., 2:] > 0.0, points[..., 2:], np.nan)
        pixels = _bent(self, plane, self.edge) * self.focal_px + self.centre_px
        if not beyond:
            pixels[np.hypot(plane[..., 0], plane[..., 1]) > self.edge * (1.0 + 1e-9)] = np.nan
        return pixels

    def rays(self, pixels: FloatArray) -> FloatArray:
        """Back-project (..., 2) pixels to (..., 3) points at depth 1 m; the inverse of ``project(..., beyond=True)``."""
        bent = (np.asarray(pixels, dtype=np.float64) - self.centre_px) / self.focal_px
        flat = bent.reshape(-1, 2)
        parts = [_unbent(self, flat[at : at + _PART], self.edge) for at in range(0, max(len(flat), 1), _PART)]
        plane = np.concatenate(parts).reshape(bent.shape)
        return np.concatenate([plane, np.ones((*plane.shape[:-1], 1))], axis=-1)

    def wide_px(self, pixels: FloatArray) -> FloatArray:
        """Map (..., 2) pixels of this lens to (..., 2) pixels of the wide image."""
        wide = self.wide
        matrix = intrinsic(width_px=wide.width_px, height_px=wide.height_px, fov_deg=wide.fov_deg)
        return np.asarray(self.rays(pixels)[..., :2] * matrix[0, 0] + matrix[:2, 2])

    @property
    def wide_px_of_centres(self) -> FloatArray:
        """(H, W, 2) positions of the pixel centres in the wide image."""
        return _wide_px_of_centres(self)


def _bent(lens: Lens, plane: FloatArray, edge: float) -> FloatArray:
    """Distort (..., 2) points of the plane; beyond the edge continue straight with the slope at the edge."""
    model, k = LENS_MODELS[lens.model], lens.coefficients
    radius = np.hypot(plane[..., 0], plane[..., 1])
    over = np.maximum(radius - edge, 0.0)
    if not over.any():
        return model.bend(plane, k)
    onto = plane * (np.minimum(radius, edge) / np.maximum(radius, 1e-12))[..., None]
    bent = model.bend(onto, k)
    step = 1e-5
    slope = (bent - model.bend(onto * (1.0 - step), k)) / (step * edge)
    return np.asarray(bent + slope * over[..., None])


def _unbent(lens: Lens, bent: FloatArray, edge: float) -> FloatArray:
    """Invert ``_bent``: start from the radial distortion alone, then apply Newton's method."""
    radius, far = _radii(lens, edge)
    goal = np.hypot(bent[..., 0], bent[..., 1])
    slope = (far[-1] - far[-2]) / (radius[-1] - radius[-2])
    near = np.interp(goal, far, radius) + np.maximum(goal - far[-1], 0.0) / slope
    plane = bent * (near / np.maximum(goal, 1e-12))[..., None]
    for _ in range(_NEWTON_STEPS):
        here = _bent(lens, plane, edge)
        step = 1e-7 * (1.0 + np.hypot(plane[..., 0], plane[..., 1]))[..., None]
        across = (_bent(lens, plane + step * [1.0, 0.0], edge) - here) / step
        down = (_bent(lens, plane + step * [0.0, 1.0], edge) - here) / step
        area = across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0]
        miss = here - bent
        x = (miss[..., 0] * down[..., 1] - miss[..., 1] * down[..., 0]) / area
        y = (miss[..., 1] * across[..., 0] - miss[..., 0] * across[..., 1]) / area
        plane = np.asarray(plane - np.stack([x, y], axis=-1))
        if np.abs(miss).max(initial=0.0) < 1e-9:  # the error before this step; a step squares it
            break
    return np.asarray(plane)


def _radii(lens: Lens, edge: float) -> tuple[FloatArray, FloatArray]:
    """Return (K,) radii of the plane up to ``edge`` and (K,) distorted radii, as long as these increase."""
    radius = np.tan(np.linspace(0.0, math.atan(edge), _TABLE))
    far = radius * LENS_MODELS[lens.model].factor(radius, lens.coefficients)
    falls = np.flatnonzero(np.diff(far) <= 0.0)
    end = int(falls[0]) + 1 if len(falls) else _TABLE
    return radius[:end], far[:end]


@lru_cache(maxsize=_CACHED_LENSES)
def _edge(lens: Lens) -> float:
    bent = _border(lens)
    radius, far = _radii(lens, math.tan(math.radians(_STEEPEST_DEG)))
    unreachable = FrameError(
        f"it sees nothing at the image's corners: they are more than {_STEEPEST_DEG:g} degrees off its axis, "
        "or it folds back before them"
    )
    if len(radius) < 3 or np.hypot(bent[:, 0], bent[:, 1]).max() >= far[-1]:
        raise unreachable
    plane = _unbent(lens, bent, float(radius[-1]))
    miss = np.abs(_bent(lens, plane, float(radius[-1])) - bent)
    edge = float(np.hypot(plane[:, 0], plane[:, 1]).max())
    if not (miss < 1e-9).all() or edge >= radius[-1] or not _keeps_order(lens, edge):
        raise unreachable
    return edge


def _border(lens: Lens) -> FloatArray:
    """Return (N, 2) distorted points of the image's border, a pixel apart."""
    width, height = lens.size_px
    u, v = np.arange(width + 1.0), np.arange(height + 1.0)
    sides = [np.stack([u, np.full_like(u, y)], axis=1) for y in (0.0, height)]
    sides += [np.stack([np.full_like(v, x), v], axis=1) for x in (0.0, width)]
    return np.asarray((np.concatenate(sides) - lens.centre_px) / lens.focal_px)


def _keeps_order(lens: Lens, edge: float) -> bool:
    """Return whether the lens maps its visible disc without a fold: the Jacobian is positive everywhere."""
    radius, angle = np.meshgrid(np.linspace(0.0, edge, 65), np.linspace(0.0, 2.0 * np.pi, 65))
    plane = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    bend, k, step = LENS_MODELS[lens.model].bend, lens.coefficients, 1e-6
    across = bend(plane + [step, 0.0], k) - bend(plane - [step, 0.0], k)
    down = bend(plane + [0.0, step], k) - bend(plane - [0.0, step], k)
    return bool((across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0] > 0.0).all())


@lru_cache(maxsize=_CACHED_LENSES)
def _wide(lens: Lens) -> Wide:
    width, height = lens.size_px
    reach = np.abs(_unbent(lens, _border(lens), lens.edge)).max(axis=0)
    radius, far = _radii(lens, lens.edge)
    magnified = max(1.0, float((np.diff(far) / np.diff(radius)).max()), float((far[1:] / radius[1:]).max()))
    focal_px = lens.fineness * max(lens.focal_px) * magnified
    half_px = math.ceil(focal_px * float(reach[0])) + _SPARE_PX
    fov_deg = math.floor(2.0 * math.degrees(math.atan(half_px / focal_px)) * _FOV_STEP) / _FOV_STEP
    focal_px = half_px / math.tan(math.radians(fov_deg) / 2.0)
    wide = Wide(2 * half_px, 2 * (math.ceil(focal_px * float(reach[1])) + _SPARE_PX), fov_deg)
    most_px = _MOST_AREA * lens.fineness**2 * width * height
    if max(wide.width_px, wide.height_px) > _MOST_SIDE_PX or wide.width_px * wide.height_px > most_px:
        raise FrameError(
            f"the lens needs a rendered image of {wide.width_px}x{wide.height_px} px; the limits are "
            f"{most_px // (width * height)} times the camera's pixels, and {_MOST_SIDE_PX} px per side"
        )
    return wide


@lru_cache(maxsize=_CACHED_LENSES)
def _wide_px_of_centres(lens: Lens) -> FloatArray:
    width, height = lens.size_px
    v, u = np.indices((height, width)) + 0.5
    return lens.wide_px(np.stack([u, v], axis=-1))
