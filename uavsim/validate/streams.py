"""Checks of streams: sensors with a rate of their own."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.files.parquet import Records, from_parquet
from uavsim.typing import BoolArray, IntArray
from uavsim.validate.dataset import DataSet
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

_ASIDE_M: Final = 2e-3  # poses are float32 in the simulator
_PLACE: Final = "position_map_m"


def readings_in_order(evidence: Evidence) -> Iterator[Finding]:
    """A stream has the number of readings and the rate of its row, and an IMU's true places agree with its carrier's poses."""
    data = evidence.data
    table = data["stream"]
    scene_of_data, sensor = data.scene_of_data, data.sensor_of_data
    is_strict = data.dialect == "strict"  # UAV3D's ego poses have another frame than the streams
    for row, (name, channel) in enumerate(zip(table["filename"], table["channel"], strict=True)):
        if data.files.fault(name) is not None:
            continue  # the file checks report unreadable files
        location = data.scene_place(int(table["scene_token"][row])) | {"channel": channel}
        try:
            found, _ = from_parquet(data.read(name), name=name)
        except DatasetError as error:
            yield Finding("streams.file", str(error), **location)
            continue
        wrong = _wrong(found, count=int(table["count"][row]), rate_hz=float(table["rate_hz"][row]))
        if wrong:
            yield Finding("streams.readings", f"{name}: {wrong}", **location)
        elif is_strict and len(found) and _PLACE in (found.dtype.names or ()) and found[_PLACE].shape[1:] == (3,):
            rows = np.flatnonzero((scene_of_data == table["scene_token"][row]) & _carried(data, sensor, channel))
            aside_m = _aside_m(data, found, rows)
            if aside_m > _ASIDE_M:
                yield Finding(
                    "streams.place",
                    f"{name}: up to {aside_m:.3f} m from the poses at its time",
                    **location,
                )


def _wrong(found: Records, *, count: int, rate_hz: float) -> str:
    if "timestamp_us" not in (found.dtype.names or ()):
        return "no column timestamp_us"
    if len(found) != count:
        return f"{len(found)} readings, count is {count}"
    if not rate_hz > 0:
        return f"rate_hz is {rate_hz:g}"
    apart_us = np.diff(found["timestamp_us"])
    if len(apart_us) and (apart_us != round(1e6 / rate_hz)).any():
        return f"readings are {apart_us.min()} to {apart_us.max()} us apart, rate_hz is {rate_hz:g}"
    bad = [name for name in found.dtype.names or () if not np.isfinite(found[name]).all()]
    return f"{bad[0]} is not finite" if bad else ""


def _carried(data: DataSet, sensor: IntArray, channel: str) -> BoolArray:
    """Return (N,) bool, rows of sample_data with a sensor on the carrier of a channel."""
    agent = channel.rpartition("_id_")[2]
    is_of_agent = np.array([name.rpartition("_id_")[2] == agent for name in data.channels] + [False])
    return np.asarray(is_of_agent[np.where(sensor >= 0, sensor, -1)])


def _aside_m(data: DataSet, found: Records, rows: IntArray) -> float:
    """Return the largest distance between readings and ego poses of the same time, metres."""
    images = data["sample_data"]
    times_us, pose = images["timestamp"][rows], images["ego_pose_token"][rows]
    reading = np.minimum(np.searchsorted(found["timestamp_us"], times_us), len(found) - 1)
    same = (found["timestamp_us"][reading] == times_us) & (pose >= 0)
    off_m = data["ego_pose"]["translation"][pose[same]] - found[_PLACE][reading[same]]
    return float(np.abs(off_m).max(initial=0.0))
