"""Mounts of range sensors, and the rays of a lidar rotation."""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from headless_simulator.airsim.ned import Quat, Vec3, quat_from_euler
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64

MAX_POINTS: Final = 2_000_000


def mount_of(options: Mapping[str, Any]) -> tuple[Vec3, Quat]:
    """Read a sensor's mount: position, metres, body FRD, and wxyz quaternion; missing values are 0."""

    def number(key: str) -> float:
        value = options.get(key, 0.0)
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0

    turn = quat_from_euler(*(math.radians(number(key)) for key in ("Roll", "Pitch", "Yaw")))
    return (number("X"), number("Y"), number("Z")), turn


def scan_directions(options: Mapping[str, Any]) -> Float64:
    """Return the (N, 3) float64 unit vectors of one rotation of a lidar in its own axes (forward, right, down).

    Measurements are uniform over the full rotation; those outside the horizontal field of view are omitted, as in AirSim:
    from ``HorizontalFOVStart`` to ``HorizontalFOVEnd``, across 0 degrees if the end is not above the start.

    Raises:
        CallRefused: more points than ``MAX_POINTS``.
    """
    channels = int(options.get("NumberOfChannels", 16))
    turns = max(float(options.get("RotationsPerSecond", 10)), 0.1)
    per_channel = int(float(options.get("PointsPerSecond", 100_000)) / turns / max(channels, 1))
    if channels < 1 or per_channel < 1 or channels * per_channel > MAX_POINTS:
        raise CallRefused(f"{channels} lidar channels of {per_channel} points a turn; give 1 to {MAX_POINTS} points")
    upper, lower = float(options.get("VerticalFOVUpper", -15)), float(options.get("VerticalFOVLower", -45))
    begin, end = float(options.get("HorizontalFOVStart", 0)), float(options.get("HorizontalFOVEnd", 359))
    elevation = np.radians(np.linspace(upper, lower, channels))
    turned = 360.0 * np.arange(per_channel) / per_channel
    start, stop = (360.0 + begin) % 360.0, (360.0 + end) % 360.0
    in_view = (start <= turned) & (turned <= stop) if start < stop else (start <= turned) | (turned <= stop)
    across, up = np.meshgrid(np.radians(turned[in_view]), elevation)
    return np.stack(
        [np.cos(up) * np.cos(across), np.cos(up) * np.sin(across), -np.sin(up)],
        axis=-1,
    ).reshape(-1, 3)
