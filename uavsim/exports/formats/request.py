"""The request to every exporter, and its source: scenes of ``uavsim.access``, in any dialect."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Dataset, Image, LidarScan, Sample, Scene, open_folder
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.dataset.schema import AGENT, CLOCK
from uavsim.errors import DatasetError, InputError
from uavsim.files.parse import reading
from uavsim.records.channels import agent_id

_UNEVEN_US: Final = 1  # frames of a whole rate may be rounded by so much


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The request for an export.

    Attributes:
        root: the dataset.
        out: folder of the result; made if missing.
        version: version folder; by default the only one.
        split: name in ``splits.json``; by default every scene.
        topics: how ``rosbag2`` names its topics.
        ros: for which ROS distribution ``rosbag2`` writes.
        model: for which ``cosmos`` cuts its clips; "" for the one of their rate.
        received: whether others' images are those that the ego has by their clocks and messages, not the keyframe's.
    """

    root: Path
    out: Path
    version: str | None = None
    split: str | None = None
    topics: str = "airsim"
    model: str = ""
    received: bool = False
    ros: str = "jazzy"

    @property
    def split_name(self) -> str:
        """The split; ``all`` for every scene."""
        return self.split or "all"

    def open(self) -> Dataset:
        """Open the dataset.

        Raises:
            DatasetError: no dataset there.
            UnknownNameError: no such version, or several and none was named.
        """
        return open_folder(self.root, self.version)

    def open_labelled(self) -> Dataset:
        """Open a dataset that has boxes.

        Raises:
            DatasetError: it lacks a table of boxes; or see ``open``.
            UnknownNameError: see ``open``.
        """
        data = self.open()
        lost = [table for table, what in data.missing.items() if what == "boxes"]
        if lost:
            raise DatasetError(f"{self.root}: no table {lost[0]}.json, without which there are no boxes to export")
        return data

    def scenes(self) -> Iterator[Scene]:
        """Yield the scenes of the split.

        Raises:
            UnknownNameError: no such version or split.
            DatasetError: the dataset is damaged.
        """
        return self.open().scenes(self.split)


def exporter(write: Callable[[ExportRequest], list[Path]]) -> Callable[[ExportRequest], list[Path]]:
    """Make an exporter of what writes a request's dataset: whatever breaks it is said in one line, as ``reading`` does."""

    @functools.wraps(write)
    def export(request: ExportRequest) -> list[Path]:
        with reading(request.root):
            return write(request)

    return export


def bev_of(sample: Sample) -> LidarScan:
    """Return LIDAR_TOP of a sample, the reference that detectors of nuScenes take.

    Raises:
        DatasetError: the sample has no cameras or no LIDAR_TOP.
    """
    found = next((scan for scan in sample.lidars if scan.channel == BEV_CHANNEL), None)
    if not sample.images or found is None:
        raise DatasetError(f"{sample.scene_name}: sample {sample.number} lacks cameras or LIDAR_TOP")
    return found


def by_drone(sample: Sample) -> dict[int, list[Image]]:
    """Return the images of each drone."""
    found: dict[int, list[Image]] = {}
    for image in sample.images:
        found.setdefault(image.drone_id, []).append(image)
    return found


def refuse_clockless(scene: Scene) -> None:
    """Refuse agents without clocks, of whom nobody receives anything.

    Raises:
        InputError: there are some.
    """
    clocked = {row["agent"] for row in scene.rows(CLOCK)}
    if without := [row["id"] for row in scene.rows(AGENT) if row["id"] not in clocked]:
        raise InputError(
            f"{scene.name}: {', '.join(without)} have no clock (clocks.ground), so that --received has none of theirs"
        )


def receive(scene: Scene, sample: Sample, images: dict[int, list[Image]], *, ego: int) -> dict[int, list[Image]]:
    """Return what one agent has at a sample: its own images, and the newest of each other one; who sent none is left out."""
    known = scene.known_at(sample.timestamp_us, agent_id(images[ego][0].channel))
    had: dict[int, list[Image]] = {}
    for number, taken in images.items():
        if number == ego:
            had[number] = taken
        elif (message := known.get(agent_id(taken[0].channel))) is not None:
            found = {image.channel: image for image in message.images}
            had[number] = [found[image.channel] for image in taken]
    return had


def lidar_of(sample: Sample, drone_id: int) -> LidarScan | None:
    """Return the turn of a drone's own lidar, or None."""
    own = (scan for scan in sample.lidars if scan.drone_id == drone_id and scan.channel != BEV_CHANNEL)
    return next(own, None)


def filmed(scene: Scene) -> dict[str, list[Image]]:
    """Return the images of each camera that takes most of them: of a clip of chosen cameras, those that film."""
    ways = {image.channel: scene.images_of(image.channel) for image in scene.samples[0].images}
    most = max(map(len, ways.values()), default=0)
    return {channel: way for channel, way in ways.items() if len(way) == most}


def frame_rate(scene: Scene, images: Sequence[Image]) -> float:
    """Return frames a second.

    Raises:
        InputError: there is one image alone, or they are not evenly apart.
    """
    apart_us = np.diff([image.timestamp_us for image in images])
    if not len(apart_us):
        raise InputError(f"{scene.name}: has one image of {images[0].channel}, of which no video can be made")
    if np.ptp(apart_us) > _UNEVEN_US:
        raise InputError(f"{scene.name}: images of {images[0].channel} are not evenly apart, as frames of a video are")
    return round(1e6 * len(apart_us) / int(apart_us.sum()), 6)
