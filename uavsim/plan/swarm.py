"""Compute every drone's pose at every step from route and formation."""

import numpy as np
from scipy.interpolate import PchipInterpolator

from uavsim.config.formation import Formation
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.plan import shapes
from uavsim.plan.path import FlightPath
from uavsim.records.plan import SwarmTrajectory
from uavsim.typing import FloatArray


def formation_offsets(formation: Formation, time_s: FloatArray) -> FloatArray:
    """Return (K, drones, 3) offsets at (K,) times, metres: smooth between keyframes, constant before and after."""
    keys = np.stack([shapes.offsets(shape, drones=formation.drones) for shape in formation.shapes])
    return _glided(formation, keys, time_s)


def formation_altitude(formation: Formation, time_s: FloatArray) -> FloatArray:
    """Return (K,) altitudes of the formation's reference point at (K,) times, metres above the ground."""
    altitudes_m = [formation.altitude_m if k.altitude_m is None else k.altitude_m for k in formation.keyframes]
    return _glided(formation, np.array(altitudes_m or [formation.altitude_m]), time_s)


def _glided(formation: Formation, keys: FloatArray, time_s: FloatArray) -> FloatArray:
    """Interpolate (keyframes, ...) values at (K,) times smoothly and without overshoot."""
    if len(keys) == 1:
        return np.repeat(keys, len(time_s), axis=0)
    at_s = np.array([keyframe.time_s for keyframe in formation.keyframes])
    still_s = np.concatenate([[at_s[0] - 1.0], at_s, [at_s[-1] + 1.0]])  # standing before and after: no jump in speed
    glide = PchipInterpolator(still_s, np.concatenate([keys[:1], keys, keys[-1:]]))
    return np.asarray(glide(np.clip(time_s, at_s[0], at_s[-1])))


def fly_swarm(
    path: FlightPath,
    formation: Formation,
    *,
    time_s: FloatArray,
    start_s: float,
    ground_z_m: float,
    extra_altitude_m: FloatArray | float,
    rng: np.random.Generator,
) -> SwarmTrajectory:
    """Fly a formation along a path.

    Args:
        path: path of the reference point; z is height above the ground.
        formation: shapes, offsets and jitter.
        time_s: (K,) times of the steps, from 0.
        start_s: start time of the scene on the path.
        ground_z_m: height of the ground in the map frame.
        extra_altitude_m: (K,) or scalar addition to every height.
        rng: generator of the jitter.
    """
    drones = formation.drones
    reference_m, heading_rad = path.at(start_s + time_s)
    if formation.align == "world":
        heading_rad = np.full(len(time_s), np.radians(formation.heading_deg))
    offsets_m = formation_offsets(formation, time_s) + rng.normal(0.0, 1.0, (drones, 3)) * formation.jitter_m
    heights_m = np.array(formation.altitude_offsets_m or np.zeros(drones))
    map_SE3_formation = SE3(quaternion.from_yaw(heading_rad), reference_m)
    places_m = map_SE3_formation[:, None].apply(offsets_m)
    places_m[..., 2] += ground_z_m + heights_m + np.broadcast_to(extra_altitude_m, len(time_s))[:, None]
    own_yaw_deg = np.array(formation.yaw_offsets_deg or np.zeros(drones))
    own_yaw_deg = own_yaw_deg + rng.normal(0.0, 1.0, drones) * formation.jitter_yaw_deg
    attitude = quaternion.from_yaw(heading_rad[:, None] + np.radians(own_yaw_deg))
    return SwarmTrajectory(tuple(range(drones)), SE3(attitude, places_m))
