"""The lens of a camera in a rig: ``lens: {model: equidistant, coefficients: [...]}``."""

import math
from collections.abc import Callable
from typing import Annotated, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from uavsim.config.base import Model
from uavsim.errors import FrameError
from uavsim.geometry.lens import LENS_MODELS, Lens

_Focal = Annotated[float, Field(gt=0, le=100_000)]
_SMALLEST_FOV_DEG: Final = 5.0
_NARROWER: Final = 64.0  # times the focal length, beyond which no nearest one is looked for
_STEPS: Final = 16


class CameraLens(Model):
    """Distortion as a calibration gives it, by OpenCV's and Kalibr's formulas."""

    model: Literal["brown_conrady", "equidistant"]
    """OpenCV's own model (Kalibr's radtan), or OpenCV's fisheye (Kalibr's equidistant)."""
    coefficients: Annotated[tuple[Annotated[float, Field(ge=-1e60, le=1e60)], ...], Field(min_length=4, max_length=5)]
    """k1, k2, p1, p2 and k3 of ``brown_conrady``, where k3 may be left out; k1, k2, k3, k4 of ``equidistant``."""
    focal_px: tuple[_Focal, _Focal] | None = None
    """Focal length of a calibration; by default that of an image ``fov_deg`` wide."""
    fineness: Annotated[int, Field(ge=1, le=4)] = 1
    """Least number of rendered pixels along each side of an image's pixel: finer edges, at the square of the cost."""
    centre_px: tuple[float, float] | None = None
    """Optical centre from the image's top left corner, not the first pixel's middle; by default the image's middle."""

    @model_validator(mode="after")
    def _check_coefficient_count(self) -> Self:
        counts = LENS_MODELS[self.model].counts
        if len(self.coefficients) not in counts:
            allowed = " or ".join(map(str, counts))
            raise ValueError(f"{self.model} has {allowed} coefficients, not {len(self.coefficients)}")
        return self

    def lens(self, *, width_px: int, height_px: int, fov_deg: float) -> Lens:
        """Return the lens of an image of this size.

        Raises:
            FrameError: it shows no such field of view.
        """
        half = math.tan(math.radians(fov_deg) / 2.0)
        if self.focal_px is None:
            bent = half * float(LENS_MODELS[self.model].factor(np.array(half), self.coefficients))
            if bent <= 0.0:
                raise FrameError(f"it folds back before {fov_deg / 2:g} degrees off its axis")
        focal = self.focal_px or (round(width_px / 2 / bent, 9),) * 2
        centre = self.centre_px or (width_px / 2, height_px / 2)
        return Lens(self.model, self.coefficients, focal, centre, (width_px, height_px), self.fineness)

    def fault(self, *, width_px: int, height_px: int, fov_deg: float) -> tuple[str, str] | None:
        """Return the wrong key and why no pinhole image covers the lens' view, with the nearest possible value."""
        if self.centre_px is not None:
            cx, cy = (min(max(c, 1.0), s - 1.0) for c, s in zip(self.centre_px, (width_px, height_px), strict=True))
            if (cx, cy) != self.centre_px:
                what = f"is outside of the image of {width_px}x{height_px}; the nearest is [{cx:g}, {cy:g}]"
                return "centre_px", what

        def wrong(lens: Callable[[], Lens]) -> str:
            try:
                _ = lens().wide
            except FrameError as error:
                return str(error)
            return ""

        def through(share: float) -> CameraLens:
            fx, fy = self.focal_px or (1.0, 1.0)
            return self.model_copy(update={"focal_px": (share * fx, share * fy)})

        size = {"width_px": width_px, "height_px": height_px}
        why = wrong(lambda: self.lens(**size, fov_deg=fov_deg))
        if not why:
            return None
        if self.focal_px is None:
            best = _last_good(lambda fov: not wrong(lambda: self.lens(**size, fov_deg=fov)), _SMALLEST_FOV_DEG, fov_deg)
            if best is None:
                return "coefficients", f"this lens supports no fov_deg: {why}"
            nearest = f"; the nearest fov_deg is {math.floor(best * 10) / 10:g}"
            return "fov_deg", f"{fov_deg:g} degrees are not supported by this lens: {why}{nearest}"
        best = _last_good(lambda share: not wrong(lambda: through(share).lens(**size, fov_deg=fov_deg)), _NARROWER, 1.0)
        if best is None:
            return "coefficients", f"this lens cannot be rendered with any focal_px: {why}"
        fx, fy = (math.ceil(focal * best * 10) / 10 for focal in self.focal_px)
        return "focal_px", f"this lens cannot be rendered: {why}; the nearest is [{fx:g}, {fy:g}]"


def _last_good(is_good: Callable[[float], bool], good: float, bad: float) -> float | None:
    """Return the good value nearest to ``bad``, by bisection."""
    if not is_good(good):
        return None
    for _ in range(_STEPS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if is_good(middle) else (good, middle)
    return good
