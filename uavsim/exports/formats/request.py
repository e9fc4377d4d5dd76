"""The request of an export, and functions that several exporters share."""

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
from uavsim.files.bring import bring_file
from uavsim.files.parse import reading
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.images import codec
from uavsim.records.channels import agent_id, split_channel

_UNEVEN_US: Final = 1  # rounding of frame times at integer rates


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The options of an export.

    Attributes:
        root: folder of the dataset, in any dialect.
        out: folder of the result; created if missing.
        version: version folder; default: the only one.
        split: name in ``splits.json``; default: every scene.
        topics: style of topic names of ``rosbag2``.
        model: video model of ``cosmos``; "" chooses by the frame rate.
        received: use the newest images that the ego has received from other agents, instead of the keyframe's images.
        ros: ROS distribution of ``rosbag2``.
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
            DatasetError: the folder holds no dataset.
            UnknownNameError: the version does not exist, or there are several and ``version`` is missing.
        """
        return open_folder(self.root, self.version)

    def open_labelled(self) -> Dataset:
        """Open a dataset that has boxes.

        Raises:
            DatasetError: a table of boxes is missing; or see ``open``.
            UnknownNameError: see ``open``.
        """
        data = self.open()
        missing = [table for table, content in data.missing.items() if content == "boxes"]
        if missing:
            raise DatasetError(f"{self.root}: no table {missing[0]}.json, which the export requires")
        return data

    def scenes(self) -> Iterator[Scene]:
        """Yield the scenes of the split.

        Raises:
            UnknownNameError: no such version or split.
            DatasetError: the dataset is damaged.
        """
        return self.open().scenes(self.split)


def exporter(write: Callable[[ExportRequest], list[Path]]) -> Callable[[ExportRequest], list[Path]]:
    """Decorate an exporter with ``reading``: errors of a damaged dataset become one line with its path."""

    @functools.wraps(write)
    def export(request: ExportRequest) -> list[Path]:
        with reading(request.root):
            return write(request)

    return export


def bev_of(sample: Sample) -> LidarScan:
    """Return LIDAR_TOP of a sample, the reference frame of nuScenes detectors.

    Raises:
        DatasetError: the sample has no cameras or no LIDAR_TOP.
    """
    found = next((scan for scan in sample.lidars if scan.channel == BEV_CHANNEL), None)
    if not sample.images or found is None:
        raise DatasetError(f"{sample.scene_name}: sample {sample.number} lacks cameras or LIDAR_TOP")
    return found


def by_drone(sample: Sample) -> dict[int, list[Image]]:
    """Return the images of a sample by drone id."""
    found: dict[int, list[Image]] = {}
    for image in sample.images:
        found.setdefault(image.drone_id, []).append(image)
    return found


def refuse_clockless(scene: Scene) -> None:
    """Refuse a scene with agents without clocks, which send no messages.

    Raises:
        InputError: an agent has no clock.
    """
    clocked = {row["agent"] for row in scene.rows(CLOCK)}
    if without := [row["id"] for row in scene.rows(AGENT) if row["id"] not in clocked]:
        raise InputError(
            f"{scene.name}: {', '.join(without)} have no clock, which --received requires; set clocks.ground"
        )


def receive(scene: Scene, sample: Sample, images: dict[int, list[Image]], *, ego: int) -> dict[int, list[Image]]:
    """Return the images that one agent has at a sample.

    Args:
        scene: the scene.
        sample: a sample of the scene.
        images: images of the sample by drone id.
        ego: drone id of the receiver.

    Returns:
        The ego's own images, and the newest received images of other agents; agents without a message are left out.
    """
    known = scene.known_at(sample.timestamp_us, agent_id(images[ego][0].channel))
    received: dict[int, list[Image]] = {}
    for number, captured in images.items():
        if number == ego:
            received[number] = captured
        elif (message := known.get(agent_id(captured[0].channel))) is not None:
            newest = {image.channel: image for image in message.images}
            received[number] = [newest[image.channel] for image in captured]
    return received


def instances_of_agents(scene: Scene) -> dict[int, str]:
    """Return the instance token of each agent with a box, by drone id."""
    return {split_channel(f"SENSOR_id_{row['id']}")[1]: row["instance_token"] for row in scene.rows(AGENT)}


def write_as_png(target: ResultPath, image: Image) -> None:
    """Link the file of a PNG image, or encode another image as PNG."""
    if image.filename.endswith(".png"):
        bring_file(image.files.open(image.filename), target)
    else:
        write_whole(target, codec.encode_png(image.pixels()))


def lidar_of(sample: Sample, drone_id: int) -> LidarScan | None:
    """Return the scan of a drone's lidar other than LIDAR_TOP; None without a lidar."""
    scans = (scan for scan in sample.lidars if scan.drone_id == drone_id and scan.channel != BEV_CHANNEL)
    return next(scans, None)


def filmed(scene: Scene) -> dict[str, list[Image]]:
    """Return keyframes and sweeps, by channel, of the cameras with the most images."""
    by_channel = {image.channel: scene.images_of(image.channel) for image in scene.samples[0].images}
    most = max(map(len, by_channel.values()), default=0)
    return {channel: images for channel, images in by_channel.items() if len(images) == most}


def frame_rate(scene: Scene, images: Sequence[Image]) -> float:
    """Return the frame rate in Hz.

    Raises:
        InputError: there is only one image, or the images are not evenly spaced in time.
    """
    apart_us = np.diff([image.timestamp_us for image in images])
    if not len(apart_us):
        raise InputError(f"{scene.name}: has one image of {images[0].channel}; a video needs two")
    if np.ptp(apart_us) > _UNEVEN_US:
        raise InputError(f"{scene.name}: images of {images[0].channel} are not evenly spaced, as a video requires")
    return round(1e6 * len(apart_us) / int(apart_us.sum()), 6)
