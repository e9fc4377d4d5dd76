"""Verify that images which arrive during ticks of a paused world show that world.

AirSim's answers carry a timestamp and a pose, but no frame number of CARLA's. Timestamps and poses are compared with the
requested ones, but cannot prove the pixels: a lagging renderer answers with a right pose and old pixels. The world is paused
at the captured tick, so its pixels do not change: images are requested until two successive answers are equal. An old image,
or one of another drone, would have to arrive twice, and is recognised by the digests of the previous capture.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.errors import MissedTick
from uavsim.records.modalities import RGB
from uavsim.simulate.ports import Reading, SensorPose
from uavsim.typing import AnyArray

_MOST_TAKES: Final = 5
_BLOCK_PX: Final = 8
_NOISE: Final = 6.0  # maximum difference of a block's mean grey value between two renderings of one moment
_MOVED_M: Final = 0.05  # a camera that moved farther cannot show equal pixels
_MOVED_DEG: Final = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class TimedReading:
    """A measurement and AirSim's timestamp, ns.

    The timestamp is None for a lidar scan, which differs between two answers of one moment.
    """

    reading: Reading
    time_ns: int | None


def agreed(take: Callable[[], list[TimedReading]], *, frame: int) -> list[TimedReading]:
    """Request images until two successive answers are equal.

    Args:
        take: requests all images.
        frame: for messages.

    Raises:
        MissedTick: they keep changing in a paused world.
    """
    last = take()
    differing = ""
    for _ in range(_MOST_TAKES - 1):
        now = take()
        differing = _first_difference(last, now)
        if not differing:
            return now
        last = now
    raise MissedTick(f"tick {frame}: {differing} changes although nothing moves: its pixels are of several ticks")


def _first_difference(before: Sequence[TimedReading], after: Sequence[TimedReading]) -> str:
    for a, b in zip(before, after, strict=True):
        if a.time_ns is not None and not same_pixels(a.reading.data, b.reading.data, a.reading.modality):
            return f"{b.reading.channel} {b.reading.modality}"
    return ""


def same_pixels(a: AnyArray, b: AnyArray, modality: str) -> bool:
    """Return whether two (H, W, ...) images are of one moment: masks and depth exactly, colours up to a renderer's noise."""
    if a.shape != b.shape or np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        return a.shape == b.shape
    if modality != RGB:
        return False
    off = np.abs(a.astype(np.int16) - b.astype(np.int16)).mean(axis=-1)
    rows, columns = (size // _BLOCK_PX * _BLOCK_PX for size in off.shape)
    blocks = (
        off[:rows, :columns].reshape(rows // _BLOCK_PX, _BLOCK_PX, columns // _BLOCK_PX, _BLOCK_PX).mean(axis=(1, 3))
    )
    return bool((blocks <= _NOISE).all())


def refuse_other_times(taken: Sequence[TimedReading], began_ns: int, ended_ns: int, *, frame: int) -> None:
    """Raise ``MissedTick`` unless all timestamps are between two of AirSim's times while the world was paused."""
    for one in taken:
        if one.time_ns is not None and not began_ns <= one.time_ns <= ended_ns:
            off_s = ((one.time_ns - began_ns) if one.time_ns < began_ns else (one.time_ns - ended_ns)) / 1e9
            what = f"{one.reading.channel} {one.reading.modality}"
            raise MissedTick(
                f"tick {frame}: {what} was taken {abs(off_s):.3f} s {'before' if off_s < 0 else 'after'} it"
            )


class LastImages:
    """Digests of a capture's colour images, to recognise them in the next capture."""

    def __init__(self) -> None:
        """Start without a capture."""
        self._channel_of: dict[bytes, str] = {}
        self._poses: dict[str, SensorPose] = {}

    def take(self, readings: Sequence[Reading], poses: Sequence[SensorPose], *, frame: int) -> None:
        """Compare a capture with the previous one, and store its digests.

        Raises:
            MissedTick: a camera that moved shows pixels of the previous capture, or two cameras show the same.
        """
        now = {pose.channel: pose for pose in poses}
        channel_of: dict[bytes, str] = {}
        for reading in readings:
            if reading.modality != RGB:
                continue
            digest = hashlib.blake2b(np.ascontiguousarray(reading.data).tobytes(), digest_size=16).digest()
            before = self._channel_of.get(digest)
            if before is not None and (before != reading.channel or _moved(self._poses[before], now[before])):
                raise MissedTick(f"tick {frame}: {reading.channel} shows the previous image of {before}")
            other = channel_of.get(digest)
            if other is not None and _moved(now[other], now[reading.channel]) and _has_edges(reading.data):
                raise MissedTick(f"tick {frame}: {reading.channel} shows the image of {other}, which has another pose")
            channel_of[digest] = reading.channel
        self._channel_of, self._poses = channel_of, now


def _has_edges(image: AnyArray) -> bool:
    """Return whether an image is not of a single colour, as cameras in thick fog may be."""
    return bool((image != image[:1, :1]).any())


def _moved(before: SensorPose, after: SensorPose) -> bool:
    off_m = np.linalg.norm(np.asarray(after.ue_location_m) - np.asarray(before.ue_location_m))
    off_deg = np.abs(np.asarray(after.ue_euler_deg) - np.asarray(before.ue_euler_deg)).max()
    return bool(off_m > _MOVED_M or off_deg > _MOVED_DEG)
