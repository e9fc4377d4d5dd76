"""The newest images that an agent has at a time: its own images, and received images of other agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uavsim.access.images import Image
from uavsim.errors import InputError
from uavsim.records.channels import agent_id


@dataclass(frozen=True, slots=True, eq=False)
class KnownImages:
    """The images that an agent took at one time, and their arrival at a receiver.

    Attributes:
        agent: the sender.
        images: images of all cameras of the sender.
        timestamp_us: true time of the images.
        agent_timestamp_us: time of the sender's clock, which the receiver knows.
        arrival_us: true time of the arrival; of own images, ``timestamp_us``.
        age_us: age of the images by the receiver's clock: its present time less ``agent_timestamp_us``.
    """

    agent: str
    images: tuple[Image, ...]
    timestamp_us: int
    agent_timestamp_us: int
    arrival_us: int
    age_us: int


def newest_known(
    images: Sequence[Image], rows: Mapping[str, Sequence[Mapping[str, Any]]], *, agent: str, timestamp_us: int
) -> dict[str, KnownImages]:
    """Return the newest images of every agent that a receiver has at a time.

    Args:
        images: all images of a scene.
        rows: the scene's tables ``clock``, ``clock_reading`` and ``message``.
        agent: the receiver.
        timestamp_us: true time.

    Raises:
        InputError: no agent of this name has a clock.
    """
    agents = [str(row["agent"]) for row in rows.get("clock", ())]
    if agent not in agents:
        known = ", ".join(agents)
        raise InputError(f"agent {agent!r} has no clock" + (f"; agents with clocks: {known}" if known else ""))
    agent_stamp_us = {row["sample_data_token"]: int(row["agent_timestamp"]) for row in rows.get("clock_reading", ())}
    sent_images: dict[tuple[str, int], list[Image]] = {}
    for image in images:
        if image.token in agent_stamp_us:
            sent_images.setdefault((agent_id(image.channel), image.timestamp_us), []).append(image)
    arrivals = {key: key[1] for key in sent_images if key[0] == agent}
    for row in rows.get("message", ()):
        if row["receiver"] == agent and row["arrival"]:
            arrivals[str(row["sender"]), int(row["timestamp"])] = int(row["arrival"])
    clock = next(row for row in rows["clock"] if row["agent"] == agent)
    since_us = timestamp_us - min(image.timestamp_us for image in images)
    agent_now_us = timestamp_us + since_us * float(clock["drift_ppm"]) * 1e-6 + float(clock["offset_us"])
    found: dict[str, KnownImages] = {}
    for key in sorted(arrivals):  # by agent, then by time: later images replace earlier ones
        if arrivals[key] <= timestamp_us and key in sent_images:
            newest = tuple(sent_images[key])
            stamp_us = agent_stamp_us[newest[0].token]
            found[key[0]] = KnownImages(key[0], newest, key[1], stamp_us, arrivals[key], round(agent_now_us - stamp_us))
    return found
