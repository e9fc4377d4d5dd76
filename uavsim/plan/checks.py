"""Checks of a flight at every step: the town's ends, its obstacles, and distance between drones."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.config.town import TownConfig
from uavsim.records.plan import SwarmTrajectory
from uavsim.records.sensors import CameraParams, SensorSpec
from uavsim.typing import FloatArray

_CAR_M: Final = 4.5
_SMALLEST_PX: Final = 3.0


def outside(swarm: SwarmTrajectory, town: TownConfig, *, step_s: float) -> str | None:
    """Describe the first drone that leaves the town minus its margin, with time and position; None if all stay inside."""
    low = np.array([town.x_m[0], town.y_m[0]]) + town.margin_m
    high = np.array([town.x_m[1], town.y_m[1]]) - town.margin_m
    xy = swarm.map_SE3_flu.translation_m[..., :2]
    out = ((xy < low - 1e-6) | (xy > high + 1e-6)).any(axis=2)
    if not out.any():
        return None
    step, drone = np.unravel_index(int(out.argmax()), out.shape)
    x, y = xy[step, drone]
    return (
        f"drone {swarm.drone_ids[drone]} reaches x={x:.1f} y={y:.1f} at {step * step_s:.2f} s, outside {town.name} "
        f"(x {low[0]:g}..{high[0]:g}, y {low[1]:g}..{high[1]:g} with its margin of {town.margin_m:g} m)"
    )


def beyond_streaming(swarm: SwarmTrajectory, town: TownConfig, rig: Sequence[SensorSpec]) -> str | None:
    """Describe the drone with a sensor range beyond the streamed part of a large map; None if there is none.

    A camera's range is the distance at which a car is 3 pixels long.
    """
    if town.streaming is None:
        return None
    xy = swarm.map_SE3_flu.translation_m[..., :2]
    away_m = np.linalg.norm(xy - xy.mean(axis=1, keepdims=True), axis=2).max(axis=0)
    drone = int(away_m.argmax())
    reach_m, name = max(((_reach_m(spec), spec.name) for spec in rig), default=(0.0, ""))
    if away_m[drone] + reach_m <= town.streaming.actor_active_distance_m:
        return None
    return (
        f"drone {swarm.drone_ids[drone]} flies {away_m[drone]:.0f} m from the swarm's middle and {name or 'its sensor'} "
        f"sees {reach_m:.0f} m: more than actor_active_distance_m ({town.streaming.actor_active_distance_m:g}) of {town.name}"
    )


def _reach_m(spec: SensorSpec) -> float:
    if isinstance(spec.params, CameraParams):
        focal_px = spec.params.width_px / 2 / np.tan(np.radians(spec.params.fov_deg) / 2)
        return float(focal_px * _CAR_M / _SMALLEST_PX)
    return float(getattr(spec.params, "range_m", 0.0))


def nearest_pair(swarm: SwarmTrajectory) -> tuple[float, int, int, int]:
    """Return the smallest distance between two drones during the flight, metres, both ids and the step."""
    positions_m = swarm.map_SE3_flu.translation_m
    count = positions_m.shape[1]
    if count < 2:
        return float("inf"), 0, 0, 0
    best = (float("inf"), 0, 0, 0)
    for a in range(count - 1):  # one drone against those after it: (K, D) at a time, never (K, D, D)
        distance_m = np.linalg.norm(positions_m[:, a + 1 :] - positions_m[:, a, None], axis=2)
        step, b = divmod(int(distance_m.argmin()), count - 1 - a)
        if distance_m[step, b] < best[0]:
            best = (float(distance_m[step, b]), swarm.drone_ids[a], swarm.drone_ids[a + 1 + b], step)
    return best


def collision(swarm: SwarmTrajectory, town: TownConfig, *, clearance_m: float, step_s: float) -> str | None:
    """Describe the closest approach to an obstacle or the ground if it is below ``clearance_m``; else None."""
    positions_m = swarm.map_SE3_flu.translation_m
    ends_m = positions_m.min(axis=(0, 1)), positions_m.max(axis=(0, 1))
    for obstacle in town.obstacles:
        low = np.array([obstacle.x_m[0], obstacle.y_m[0], -np.inf])
        high = np.array([obstacle.x_m[1], obstacle.y_m[1], town.ground_z_m + obstacle.top_m])
        gap_m = np.maximum(np.maximum(low - ends_m[1], ends_m[0] - high), 0.0)
        if gap_m.max() >= clearance_m:  # no drone of the whole flight is nearer than that along one axis
            continue
        distance_m = box_distance(positions_m, low, high)
        if distance_m.min() < clearance_m:
            return _near(swarm, distance_m, repr(obstacle.name), clearance_m=clearance_m, step_s=step_s)
    height_m = positions_m[..., 2] - town.ground_z_m
    if height_m.min() < clearance_m:
        return _near(swarm, height_m, "the ground", clearance_m=clearance_m, step_s=step_s)
    return None


def _near(swarm: SwarmTrajectory, distance_m: FloatArray, what: str, *, clearance_m: float, step_s: float) -> str:
    step, drone = divmod(int(distance_m.argmin()), distance_m.shape[1])
    return (
        f"drone {swarm.drone_ids[drone]} comes within {distance_m.min():.1f} m of {what} at {step * step_s:.2f} s "
        f"(clearance_m is {clearance_m:g})"
    )


def box_distance(points_m: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return (...) distances of (..., 3) points from an upright box, metres; 0 inside."""
    return np.asarray(np.linalg.norm(np.maximum(np.maximum(low - points_m, points_m - high), 0.0), axis=-1))
