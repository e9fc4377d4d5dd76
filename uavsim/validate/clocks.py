"""Checks of agents with clocks of their own: their images, and their messages to each other.

This module computes the times of the clocks itself, so that it does not repeat a mistake of the writer.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.typing import IntArray
from uavsim.validate.dataset import DataSet
from uavsim.validate.findings import Finding

_NEAR_US: Final = 1.0  # stamps are whole microseconds


def readings_by_their_clock(data: DataSet) -> Iterator[Finding]:
    """Each sweep of an agent with a clock was taken within half a step of the requested time, and has that clock's stamp."""
    if "clock_reading" not in data.tables:
        yield Finding("clock.reading", "agents have clocks, but the table clock_reading is missing")
        return
    clock, reading, images = data["clock"], data["clock_reading"], data["sample_data"]
    rows = reading["sample_data_token"]
    usable = rows >= 0
    clock_of_image = _clock_of_data(data)
    start_us = _start_of_scene(data)[data.scene_of_data]
    if len(np.unique(rows[usable])) < int(usable.sum()):
        yield Finding("clock.reading", "an image has two readings of its clock")
    unread = (clock_of_image >= 0) & ~images["is_key_frame"].astype(bool)
    unread[rows[usable]] = False
    for row in np.flatnonzero(unread).tolist():
        yield Finding("clock.reading", "a sweep of an agent with a clock has no clock reading", **data.data_place(row))
    for reading_row, row in zip(np.flatnonzero(usable).tolist(), rows[usable].tolist(), strict=True):
        wrong = "its agent has no clock"
        if clock_of_image[row] >= 0:
            since_us = float(images["timestamp"][row] - start_us[row])
            clock_row = int(clock_of_image[row])
            residual_us = since_us - float(reading["asked_us"][reading_row])
            drift_ppm, offset_us = float(clock["drift_ppm"][clock_row]), float(clock["offset_us"][clock_row])
            clock_us = since_us * (1 + drift_ppm * 1e-6) + offset_us
            stamped_us = float(reading["agent_timestamp"][reading_row] - start_us[row])
            wrong = ""
            if not abs(residual_us) <= float(clock["step_us"][clock_row]) / 2 + _NEAR_US:
                step_us = int(clock["step_us"][clock_row])
                wrong = f"taken {residual_us:.0f} us after the requested time, a step is {step_us} us"
            elif not abs(residual_us - float(reading["residual_us"][reading_row])) <= _NEAR_US:
                stated_us = float(reading["residual_us"][reading_row])
                wrong = f"taken {residual_us:.1f} us after the requested time, residual_us is {stated_us:.1f}"
            elif not abs(stamped_us - clock_us) <= _NEAR_US:
                wrong = f"its agent's clock is at {clock_us:.1f} us, agent_timestamp is {stamped_us:.1f}"
        if wrong:
            yield Finding("clock.reading", wrong, **data.data_place(row))


def messages_arrive_later(data: DataSet) -> Iterator[Finding]:
    """A message goes from an agent that takes images at its time to another agent, and arrives later or never."""
    if "message" not in data.tables:
        return
    clock, message, images = data["clock"], data["message"], data["sample_data"]
    known = set(zip(clock["scene_token"].tolist(), clock["agent"], strict=True))
    clock_of_image, scene = _clock_of_data(data), data.scene_of_data
    taken = {
        (scene[row], clock["agent"][clock_of_image[row]], images["timestamp"][row])
        for row in np.flatnonzero(clock_of_image >= 0).tolist()
    }
    sent = zip(message["scene_token"].tolist(), message["sender"], message["receiver"], strict=True)
    for row, (where, sender, receiver) in enumerate(sent):
        time_us, arrival_us = int(message["timestamp"][row]), int(message["arrival"][row])
        wrong = ""
        if (where, sender) not in known or (where, receiver) not in known or sender == receiver:
            wrong = f"from agent {sender!r} to {receiver!r}, which are not two agents with clocks"
        elif (where, sender, time_us) not in taken:
            wrong = f"agent {sender} takes no image at {time_us}"
        elif arrival_us and arrival_us < time_us:
            wrong = f"arrives at {arrival_us}, before {time_us}, when it is sent"
        if wrong:
            yield Finding("clock.message", wrong, **data.scene_place(where))


def _clock_of_data(data: DataSet) -> IntArray:
    """Return (N,) row in ``clock`` of each sample_data row; -1 for agents without a clock and for sensors without images."""
    clock = data["clock"]
    row_of = {key: row for row, key in enumerate(zip(clock["scene_token"].tolist(), clock["agent"], strict=True))}
    agents = [name.rpartition("_id_")[2] if "_id_" in name else "" for name in data.channels] + [""]
    width = data["sample_data"]["width"]
    pairs = zip(data.scene_of_data.tolist(), data.sensor_of_data.tolist(), (width > 0).tolist(), strict=True)
    return np.array(
        [row_of.get((scene, agents[sensor]), -1) if camera else -1 for scene, sensor, camera in pairs], np.int64
    )


def _start_of_scene(data: DataSet) -> IntArray:
    """Return (scenes,) time of each scene's first sample, us."""
    sample = data["sample"]
    start = np.full(len(data["scene"]), np.iinfo(np.int64).max)
    known = sample["scene_token"] >= 0
    np.minimum.at(start, sample["scene_token"][known], sample["timestamp"][known])
    return start
