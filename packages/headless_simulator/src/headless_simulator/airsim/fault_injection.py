"""Fault injection at AirSim's port: cut connections, stalls, stale or swapped images and poses."""

import fnmatch
import math
from collections.abc import Sequence
from typing import Any

from headless_simulator.faults import Faults

_POSE_KEYS = ("camera_position", "camera_orientation")
_PIXEL_KEYS = ("image_data_uint8", "image_data_float")
_Answer = list[dict[str, Any]]


class AirSimFaults:
    """Applies the entries of a faults file that target AirSim's port."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._last_images: dict[str, list[dict[str, Any]]] = {}
        self._last_pose: dict[tuple[str, str], Any] = {}
        self._previous_pose_images: dict[str, _Answer] = {}  # by vehicle: its last images from another pose

    def before_call(self, method: str, vehicle: str) -> None:
        """Wait, or raise ``ConnectionAbortedError`` to cut the connection."""
        self._faults.before_call(method, server="airsim", vehicle=vehicle)

    def turn(self, method: str, vehicle: str) -> tuple[int, int]:
        """Return the frames that delay a call and the ticks that leak through a pause before it."""
        late_frames = leaked_ticks = 0
        for armed in self._faults.of_server("airsim", "late_answer", "pause_leak"):
            fault = armed.fault
            if self._selects(fault.call, fault.vehicle, method, vehicle) and self._faults.fires(armed, key=vehicle):
                late_frames += fault.ticks * (fault.fault == "late_answer")
                leaked_ticks += fault.ticks * (fault.fault == "pause_leak")
        return late_frames, leaked_ticks

    def _swap_pixels(self, vehicle: str, now: _Answer) -> _Answer:
        """Swap pixels when the faults file says so; keep everything else."""
        out, last = now, self._last_images.get(vehicle, now)
        if [r.get("camera_position") for r in last] != [r.get("camera_position") for r in now]:
            self._previous_pose_images[vehicle] = last
        others = [a for name, a in self._last_images.items() if name != vehicle and len(a) == len(now)]
        for armed in self._faults.of_server("airsim", "stale_pixels", "other_vehicle"):
            source = (
                self._previous_pose_images.get(vehicle, [])
                if armed.fault.fault == "stale_pixels"
                else (others or [[]])[0]
            )
            fits = _shape(source) == _shape(now) and self._selects(
                armed.fault.call, armed.fault.vehicle, "simGetImages", vehicle
            )
            if fits and self._faults.fires(armed, key=vehicle):
                out = [{**a, **{key: b[key] for key in _PIXEL_KEYS}} for a, b in zip(now, source, strict=True)]
        return out

    def image_result(self, vehicle: str, responses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the responses of ``simGetImages`` with the faults applied."""
        out = self._swap_pixels(vehicle, list(responses))
        last = self._last_images.get(vehicle, out)
        self._last_images[vehicle] = list(responses)
        for armed in self._faults.of_server(
            "airsim", "drop_frame", "duplicate_frame", "reorder_frames", "stale_pose", "nan_pose"
        ):
            kind = armed.fault.fault
            if not self._selects(armed.fault.call, armed.fault.vehicle, "simGetImages", vehicle):
                continue
            if self._faults.fires(armed, key=vehicle):
                out = _with_fault(kind, out, last)
        return out

    def pose_result(self, method: str, vehicle: str, result: Any) -> Any:
        """Return an answer that carries a pose, with the faults applied."""
        last = self._last_pose.get((method, vehicle), result)
        self._last_pose[method, vehicle] = result
        for armed in self._faults.of_server("airsim", "stale_pose", "nan_pose"):
            if self._selects(armed.fault.call, armed.fault.vehicle, method, vehicle) and self._faults.fires(
                armed, key=method
            ):
                result = last if armed.fault.fault == "stale_pose" else _with_nan(result)
        return result

    @staticmethod
    def _selects(call: str, pattern: str, method: str, vehicle: str) -> bool:
        return fnmatch.fnmatchcase(method, call) and fnmatch.fnmatchcase(vehicle, pattern)


def _shape(answer: _Answer) -> list[tuple[Any, ...]]:
    return [(r.get("image_type"), r.get("width"), r.get("height"), r.get("camera_name")) for r in answer]


def _with_fault(kind: str, now: list[dict[str, Any]], last: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if kind == "drop_frame":
        return now[:-1]
    if kind == "duplicate_frame":
        return list(last)
    if kind == "reorder_frames":
        return now[::-1]
    if kind == "nan_pose":
        return [{**r, **{key: _with_nan(r[key]) for key in _POSE_KEYS if key in r}} for r in now]
    old = {n: response for n, response in enumerate(last)}
    return [
        {**response, **{key: old[n][key] for key in _POSE_KEYS if n in old and key in old[n]}}
        for n, response in enumerate(now)
    ]


def _with_nan(value: Any) -> Any:
    if isinstance(value, float):
        return math.nan
    if isinstance(value, dict):
        return {key: _with_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_nan(item) for item in value]
    return value
