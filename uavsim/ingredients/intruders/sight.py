"""Checks that an intruder is inside its camera's image, and that AOT's rule takes its encounter."""

import numpy as np

from uavsim.geometry import pinhole
from uavsim.geometry.se3 import SE3
from uavsim.records.sensors import SensorSpec
from uavsim.typing import BoolArray, FloatArray

_WITHIN_M, _NEAREST_M, _LEAST_IMAGES, _MOST_STEP = 700.0, 330.0, 30, 3


def pixels_of(map_SE3_camera: SE3, places_m: FloatArray, spec: SensorSpec) -> FloatArray:
    """Return (K, 2) pixels of (K, 3) places in the map, NaN behind the camera; ``map_SE3_camera`` is (K,), x ahead."""
    seen_m = map_SE3_camera.inverse().apply(places_m)
    return spec.camera.project(np.stack([-seen_m[:, 1], -seen_m[:, 2], seen_m[:, 0]], axis=1))


def in_image(map_SE3_camera: SE3, places_m: FloatArray, spec: SensorSpec) -> BoolArray:
    """Return (K,) which places are inside the image; the camera looks through everything."""
    pixels = pixels_of(map_SE3_camera, places_m, spec)
    return pinhole.pixel_in_image(pixels, width_px=spec.camera.width_px, height_px=spec.camera.height_px)


def is_valid(range_m: FloatArray, seen: BoolArray, *, spare: float = 1.0) -> bool:
    """Return whether AOT evaluates an encounter: 30 images within 700 m, three apart at most, one of them within 330 m.

    Args:
        range_m: (K,) of the flight's images.
        seen: (K,) which of them show the intruder.
        spare: so many times as many images are needed, and one that is nearer by that factor.

    Source: the starter kit's ``calculate_encounters.py``.
    """
    rows = np.flatnonzero(seen & (range_m <= _WITHIN_M))
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > _MOST_STEP) + 1)
    return any(len(run) >= _LEAST_IMAGES * spare and range_m[run].min() * spare <= _NEAREST_M for run in runs)
