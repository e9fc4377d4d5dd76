"""nuScenes' CAN bus extension of one agent: the message ``pose``, ``can_bus/<scene>_pose.json``.

Place and velocity are the simulator's. Acceleration (without gravity) and rate of turn are differences between the poses that
are written, at whose times the messages are. The vehicle's own messages (pedals, wheels) are not there.
Source: nuScenes, CAN bus expansion; BEVFormer, MapTR and py123d read ``pose`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uavsim.geometry import quaternion
from uavsim.typing import FloatArray, JsonDict

__all__ = ["pose_messages"]


def pose_messages(poses: Sequence[JsonDict]) -> list[JsonDict]:
    """Return the messages of rows of ``ego_pose`` in the order of time; vectors but ``pos`` are in the agent's frame."""
    time_s = np.array([row["timestamp"] for row in poses], dtype=np.int64)
    map_m, map_mps, turn = (
        np.array([row[name] for row in poses], dtype=np.float64) for name in ("translation", "uav_velocity", "rotation")
    )
    back = quaternion.conjugate(turn)
    seconds = (time_s - time_s[0]) / 1e6
    columns = {
        "pos": map_m,
        "orientation": turn,
        "vel": quaternion.rotate(back, map_mps),
        "accel": quaternion.rotate(back, _rate(map_mps, seconds)),
        "rotation_rate": _turn_rate(turn, seconds),
    }
    return [
        {"utime": int(utime), **{name: values[row].tolist() for name, values in columns.items()}}
        for row, utime in enumerate(time_s)
    ]


def _rate(values: FloatArray, seconds: FloatArray) -> FloatArray:
    """Return (N, 3) changes a second; nothing changes where there is one value alone."""
    return np.gradient(values, seconds, axis=0) if len(values) > 1 else np.zeros_like(values)


def _turn_rate(turn: FloatArray, seconds: FloatArray) -> FloatArray:
    """Return (N, 3) rates of turn in the body's frame, radians a second, between the neighbours of each pose."""
    before, after = np.maximum(np.arange(len(turn)) - 1, 0), np.minimum(np.arange(len(turn)) + 1, len(turn) - 1)
    between = quaternion.multiply(quaternion.conjugate(turn[before]), turn[after])
    sine = np.linalg.norm(between[:, 1:], axis=1)
    angle = 2 * np.arctan2(sine, between[:, 0])
    per_sine = np.divide(angle, sine, out=np.zeros_like(sine), where=sine > 0)
    span_s = np.maximum(seconds[after] - seconds[before], 1e-6)
    return np.asarray(between[:, 1:] * (per_sine / span_s)[:, None])
