"""The same faults file at AirSim's port."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from typing import Any

from headless_simulator.faults import Faults

_POSE_KEYS = ("camera_position", "camera_orientation")


class AirSimFaults:
    """What AirSim's server asks at its three places (``airsim.host.FaultsLike``).

    Args:
        faults: the file.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._last_images: dict[str, list[dict[str, Any]]] = {}
        self._last_pose: dict[tuple[str, str], Any] = {}

    def before_call(self, method: str, vehicle: str) -> None:
        """Wait, or raise ``ConnectionAbortedError`` to cut the connection."""
        self._faults.before_call(method, server="airsim", vehicle=vehicle)

    def image_result(self, vehicle: str, responses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Give the responses of ``simGetImages`` that are to be sent."""
        out = list(responses)
        last = self._last_images.get(vehicle, out)
        self._last_images[vehicle] = list(responses)
        for armed in self._faults.of_server(
            "airsim", "drop_frame", "duplicate_frame", "reorder_frames", "stale_pose", "nan_pose"
        ):
            kind = armed.fault.fault
            if not self._takes(armed.fault.call, armed.fault.vehicle, "simGetImages", vehicle):
                continue
            if self._faults.fires(armed, key=vehicle):
                out = _bent(kind, out, last)
        return out

    def pose_result(self, method: str, vehicle: str, result: Any) -> Any:
        """Give the answer with a pose that is to be sent."""
        last = self._last_pose.get((method, vehicle), result)
        self._last_pose[method, vehicle] = result
        for armed in self._faults.of_server("airsim", "stale_pose", "nan_pose"):
            if self._takes(armed.fault.call, armed.fault.vehicle, method, vehicle) and self._faults.fires(
                armed, key=method
            ):
                result = last if armed.fault.fault == "stale_pose" else _without_numbers(result)
        return result

    @staticmethod
    def _takes(call: str, pattern: str, method: str, vehicle: str) -> bool:
        return fnmatch.fnmatchcase(method, call) and fnmatch.fnmatchcase(vehicle, pattern)


def _bent(kind: str, now: list[dict[str, Any]], last: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if kind == "drop_frame":
        return now[:-1]
    if kind == "duplicate_frame":
        return list(last)
    if kind == "reorder_frames":
        return now[::-1]
    if kind == "nan_pose":
        return [{**r, **{key: _without_numbers(r[key]) for key in _POSE_KEYS if key in r}} for r in now]
    old = {n: response for n, response in enumerate(last)}
    return [
        {**response, **{key: old[n][key] for key in _POSE_KEYS if n in old and key in old[n]}}
        for n, response in enumerate(now)
    ]


def _without_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return math.nan
    if isinstance(value, dict):
        return {key: _without_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_numbers(item) for item in value]
    return value
