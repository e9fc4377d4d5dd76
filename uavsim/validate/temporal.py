"""Checks of timestamps: one unit, one tick per sample, even steps."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.typing import IntArray
from uavsim.validate.dataset import DataSet, follow
from uavsim.validate.findings import Finding

_NANOSECONDS_FROM: Final = 10**17  # 1973 in ns, the year 5138 in us
_UNIT_FACTOR: Final = 300.0  # units differ by a thousand
_CLOCK_FROM: Final = 10**12  # smaller stamps count from the start of the dataset, in any unit
_UNEVEN_SHARE: Final = 0.5  # of the steps; above, the dataset has no fixed interval, like those of real vehicles
_DEVKIT_GAP_US: Final = 1_500_000  # above, the devkit's box_velocity is NaN


def time_unit_us(data: DataSet) -> float:
    """Return the unit of the timestamps in microseconds: 1, or 0.001 for nanoseconds."""
    stamps = data["sample"]["timestamp"]
    return 1e-3 if len(stamps) and np.median(stamps) > _NANOSECONDS_FROM else 1.0


def clock_in_microseconds(data: DataSet) -> Iterator[Finding]:
    """Timestamps are microseconds; those of uav3d may be nanoseconds, in all tables."""
    nanoseconds = time_unit_us(data) < 1
    if nanoseconds and data.dialect == "strict":
        message = "timestamps are nanoseconds: the devkit takes them for microseconds and every velocity is nan"
        yield Finding("temporal.unit", message, numbers={"timestamp": int(np.median(data["sample"]["timestamp"]))})
        return
    for name in ("sample", "sample_data", "ego_pose"):
        stamps = data[name]["timestamp"]
        usual = float(np.median(stamps)) if len(stamps) else 0.0
        strange = (
            (stamps > _UNIT_FACTOR * usual) | (stamps * _UNIT_FACTOR < usual) if usual > _CLOCK_FROM else stamps < 0
        )
        for row in np.flatnonzero(strange).tolist():
            message = f"{name} {data[name].tokens[row]}: timestamp {int(stamps[row])} has another unit than the others"
            yield Finding("temporal.unit", message, **data.locate(name, row))


def cameras_share_the_tick(data: DataSet) -> Iterator[Finding]:
    """Keyframes have the timestamp of their sample, and sweeps lie between the samples."""
    images, stamps = data["sample_data"], data["sample"]["timestamp"]
    of_sample = follow(images["sample_token"], stamps)
    before_row = follow(images["sample_token"], data["sample"]["prev"])
    known = images["sample_token"] >= 0
    off = known & images["is_key_frame"] & (images["timestamp"] != of_sample)
    earliest = of_sample
    if len(stamps):
        earliest = np.where(before_row >= 0, stamps[np.maximum(before_row, 0)], np.iinfo(np.int64).min)
    outside = known & ~images["is_key_frame"] & ((images["timestamp"] >= of_sample) | (images["timestamp"] <= earliest))
    for bad, word in ((off, "keyframe not at its sample's time"), (outside, "sweep not between its samples")):
        for row in np.flatnonzero(bad).tolist():
            late = int(images["timestamp"][row] - of_sample[row])
            yield Finding(
                "temporal.tick", f"{word}: {late:+d} away", numbers={"difference": late}, **data.data_place(row)
            )


def poses_of_the_tick(data: DataSet) -> Iterator[Finding]:
    """The ego pose of an image has the timestamp of the image."""
    images = data["sample_data"]
    pose_time = follow(images["ego_pose_token"], data["ego_pose"]["timestamp"])
    stale = (images["ego_pose_token"] >= 0) & (pose_time != images["timestamp"])
    for row in np.flatnonzero(stale).tolist():
        late = int(pose_time[row] - images["timestamp"][row])
        message = f"ego pose is {late:+d} away from its image"
        yield Finding("temporal.ego_pose", message, numbers={"difference": late}, **data.data_place(row))


def keyframes_even(data: DataSet) -> Iterator[Finding]:
    """Samples of a scene and images of a channel have one interval; no keyframe is missing.

    The checks of clocks cover the sweeps of agents with clocks of their own.
    """
    sample = data["sample"]
    yield from _even(data, "sample", sample["scene_token"], sample["timestamp"])
    images = data["sample_data"]
    scene, sensor = data.scene_of_data.copy(), data.sensor_of_data
    if "clock" in data.tables:
        scene[np.isin(scene, data["clock"]["scene_token"]) & ~images["is_key_frame"].astype(bool)] = -1
    for channel in range(len(data.channels)):
        yield from _even(data, "sample_data", np.where(sensor == channel, scene, -1), images["timestamp"])


def near_enough_for_devkit(data: DataSet) -> Iterator[Finding]:
    """Samples are at most 1.5 s apart; beyond, the devkit reports no velocity."""
    sample = data["sample"]
    after = sample["next"]
    linked = np.flatnonzero(after >= 0)
    if not len(linked):
        return
    gap_us = float(np.median(sample["timestamp"][after[linked]] - sample["timestamp"][linked]))
    if gap_us > _DEVKIT_GAP_US:
        message = f"samples are {gap_us / 1e6:g} s apart: the devkit's box_velocity is nan beyond 1.5 s"
        yield Finding("temporal.devkit_gap", message, severity="warning", numbers={"seconds": gap_us / 1e6})


def _even(data: DataSet, name: str, group: IntArray, time: IntArray) -> Iterator[Finding]:
    """Yield steps of (N,) times, within (N,) groups, that differ from the usual one; negative groups do not count."""
    usable = np.flatnonzero(group >= 0)
    order = usable[np.lexsort((time[usable], group[usable]))]
    same = group[order][1:] == group[order][:-1]
    step = np.diff(time[order])
    if not same.any():
        return
    values, counts = np.unique(step[same], return_counts=True)
    usual = int(values[np.argmax(counts)])
    bad = np.flatnonzero(same & (step != usual))
    if len(bad) > _UNEVEN_SHARE * same.sum():
        low, high = int(step[same].min()), int(step[same].max())
        message = f"{name}: steps vary from {low} to {high}, the dataset has no fixed interval"
        yield Finding("temporal.interval", message, severity="warning", numbers={"low": low, "high": high})
        return
    for step_number in bad.tolist():
        row = int(order[step_number + 1])
        message = f"{name}: {int(step[step_number])} after the previous one, the usual step is {usual}"
        yield Finding(
            "temporal.interval",
            message,
            numbers={"step": int(step[step_number]), "usual": usual},
            **data.locate(name, row),
        )
