"""Geometry of an intruder in its camera: pixels, range, bearing, side of the horizon, and AOT's rule of valid encounters."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.geometry import pinhole
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.intruders import approach
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import SensorSpec
from uavsim.typing import BoolArray, FloatArray

_LAND_M: Final = 6000.0  # extent of the headless simulator's land; the horizon of real terrain differs slightly
_WITHIN_M, _NEAREST_M, _LEAST_IMAGES, _MOST_STEP = 700.0, 330.0, 30, 3


def pixels_of(map_SE3_camera: SE3, places_m: FloatArray, spec: SensorSpec) -> FloatArray:
    """Return (K, 2) pixels of (K, 3) map points, metres, NaN behind the camera; ``map_SE3_camera`` has (K,) flu poses."""
    camera_flu_m = map_SE3_camera.inverse().apply(places_m)
    return spec.camera.project(np.stack([-camera_flu_m[:, 1], -camera_flu_m[:, 2], camera_flu_m[:, 0]], axis=1))


def in_image(map_SE3_camera: SE3, places_m: FloatArray, spec: SensorSpec) -> BoolArray:
    """Return (K,) bool, True for (K, 3) map points inside the image; occlusion is ignored."""
    pixels = pixels_of(map_SE3_camera, places_m, spec)
    return pinhole.pixel_in_image(pixels, width_px=spec.camera.width_px, height_px=spec.camera.height_px)


def is_valid(range_m: FloatArray, visible: BoolArray, *, spare: float = 1.0) -> bool:
    """Return whether AOT evaluates an encounter: 30 images within 700 m, three apart at most, one of them within 330 m.

    Args:
        range_m: (K,) ranges in the flight's images.
        visible: (K,) bool, True for images that show the intruder.
        spare: factor of the required number of images and nearness.

    Source: the starter kit's ``calculate_encounters.py``.
    """
    rows = np.flatnonzero(visible & (range_m <= _WITHIN_M))
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > _MOST_STEP) + 1)
    return any(len(run) >= _LEAST_IMAGES * spare and range_m[run].min() * spare <= _NEAREST_M for run in runs)


def horizon_deg(height_m: float) -> float:
    """Return the elevation of the horizon seen from a height above the ground, degrees, negative."""
    return -float(np.degrees(np.arctan2(height_m, _LAND_M)))


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """Geometry of an intruder in its camera at every step; occlusion is ignored.

    Args:
        time_s: (K,) times.
        range_m: (K,) distances from the camera.
        over_horizon_deg: (K,) elevation less the horizon's elevation.
        in_image: (K,) bool, True if its centre is inside the image.
        pixel: (K, 2) pixels of its centre; NaN behind the camera.
    """

    time_s: FloatArray
    range_m: FloatArray
    over_horizon_deg: FloatArray
    in_image: BoolArray
    pixel: FloatArray


def sighting(plan: ScenePlan, intruder: IntruderPlan) -> Sighting:
    """Return an intruder's position and size in the camera's image."""
    spec = next(spec for spec in plan.cameras if spec.name == intruder.camera)
    row = plan.swarm.drone_ids.index(intruder.drone_id)
    map_SE3_camera = plan.swarm.map_SE3_flu[:, row] @ spec.flu_SE3_mount
    places_m = intruder.map_SE3_flu.translation_m
    pixel = pixels_of(map_SE3_camera, places_m, spec)
    apart_m = places_m - map_SE3_camera.translation_m
    elevation = np.degrees(np.arctan2(apart_m[:, 2], np.hypot(apart_m[:, 0], apart_m[:, 1])))
    heights_m = map_SE3_camera.translation_m[:, 2] - plan.town.ground_z_m
    horizon = np.array([horizon_deg(float(height)) for height in heights_m])
    return Sighting(
        time_s=np.asarray(np.arange(len(places_m)) * (plan.step_us * 1e-6), dtype=np.float64),
        range_m=approach.range_m(map_SE3_camera.translation_m, places_m),
        over_horizon_deg=elevation - horizon,
        in_image=pinhole.pixel_in_image(pixel, width_px=spec.camera.width_px, height_px=spec.camera.height_px),
        pixel=pixel,
    )
