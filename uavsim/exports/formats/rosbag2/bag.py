"""One folder for each scene, in the layout of ``ros2 bag record -s mcap``; ``ros2 bag play`` and readers without ROS open it.

Messages ascend in time with the dataset's time stamps; messages of one tick have equal stamps. One message on ``/tf_static``,
after the first clock, holds all mounts, because a latched topic keeps only its last message.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Image, LidarScan, RadarScan, Sample, Scene
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.exports.formats.deferred_errors import deferred_errors
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.rosbag2.messages import VISION_MESSAGES, Message, RosMessages
from uavsim.exports.formats.rosbag2.topics import STYLES, Names, names_of
from uavsim.files.results import ResultPath
from uavsim.files.whole import to_json_bytes, write_whole
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.vehicles_can_bus import KIND
from uavsim.registry import pick

_Reading = Image | LidarScan | Sample
_LATCHED: Final = "/tf_static"
_FIRST_WITH_NAMES: Final = 9
VERSIONS: Final = {"humble": 5, "jazzy": 9}
"""``metadata.yaml`` version by ROS distribution. Humble reads quality of service only as a YAML string with rmw's numbers.
Source: ros2/rosbag2, issues 1895 and 2013."""


@exporter
def export_rosbag2(request: ExportRequest) -> list[Path]:
    """Write a folder ``<scene>/`` with ``<scene>_0.mcap`` and ``metadata.yaml`` for each scene.

    Raises:
        InputError: rosbags or foxglove-sdk is not installed.
        UnknownNameError: no such style of topics or ROS distribution.
        DatasetError: a file is missing.
        StorageError: a file cannot be written.
    """
    try:
        import foxglove
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError as error:
        raise InputError(f"--format rosbag2 needs two libraries: {install_line('ros')}") from error
    pick(STYLES, request.topics, what="style of topics")
    pick(VERSIONS, request.ros, what="ROS distribution")
    store = get_typestore(Stores[f"ROS2_{request.ros.upper()}"])
    for name, definition in VISION_MESSAGES.items():
        store.register(get_types_from_msg(definition, name))
    written = []
    out = ResultPath.open(request.out)
    for scene in request.scenes():
        folder, name = out / scene.name, f"{scene.name}_0.mcap"
        bag = _Bag(foxglove, store, ros=request.ros)
        with deferred_errors(folder / name) as file:
            options = foxglove.mcap.MCAPWriteOptions(profile="ros2")
            with foxglove.open_mcap(file, context=bag.context, writer_options=options):
                for time_us, topic, message in _messages(scene, RosMessages(store.types), style=request.topics):
                    bag.write(topic, message, time_us)
        write_whole(folder / "metadata.yaml", to_json_bytes(bag.metadata(name)))
        written.append(folder.display_path)
    return written


class _Bag:
    """The topics of one MCAP file, and their ``metadata.yaml``."""

    def __init__(self, foxglove: Any, store: Any, *, ros: str) -> None:
        self._ros, self._version = ros, VERSIONS[ros]
        self.context = foxglove.Context()
        self._foxglove, self._store = foxglove, store
        self._open: dict[str, tuple[str, Any]] = {}
        self._counts: dict[str, int] = {}
        self._times_us: list[int] = []

    def write(self, topic: str, message: Message, time_us: int) -> None:
        kind, content = message
        if topic not in self._open:
            definition = self._store.generate_msgdef(kind, ros_version=2)[0].encode()
            schema = self._foxglove.Schema(name=kind, encoding="ros2msg", data=definition)
            quality = self._quality(topic)
            qos = {"offered_qos_profiles": quality if isinstance(quality, str) else _in_yaml(quality)}
            channel = self._foxglove.Channel(
                topic, schema=schema, message_encoding="cdr", context=self.context, metadata=qos
            )
            self._open[topic] = kind, channel
        data = bytes(self._store.serialize_cdr(content, kind))
        self._open[topic][1].log(data, log_time=time_us * 1000)
        self._counts[topic] = self._counts.get(topic, 0) + 1
        self._times_us.append(time_us)

    def metadata(self, name: str) -> dict[str, Any]:
        first_us, last_us = min(self._times_us, default=0), max(self._times_us, default=0)
        span = {
            "starting_time": {"nanoseconds_since_epoch": first_us * 1000},
            "duration": {"nanoseconds": (last_us - first_us) * 1000},
            "message_count": len(self._times_us),
        }
        has_names = self._version >= _FIRST_WITH_NAMES
        topics = [
            {
                "topic_metadata": {
                    "name": topic,
                    "type": kind,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": self._quality(topic),
                }
                | ({"type_description_hash": self._store.hash_rihs01(kind)} if has_names else {}),
                "message_count": self._counts[topic],
            }
            for topic, (kind, _) in self._open.items()
        ]
        info = {
            "version": self._version,
            "storage_identifier": "mcap",
            "relative_file_paths": [name],
            **span,
            "topics_with_message_count": topics,
            "compression_format": "",
            "compression_mode": "",
            "files": [{"path": name, **span}],
        }
        info |= {"custom_data": None, "ros_distro": self._ros} if has_names else {}
        return {"rosbag2_bagfile_information": info}

    def _quality(self, topic: str) -> list[dict[str, Any]] | str:
        """Return a topic's quality of service in the form of the distribution; ``/tf_static`` is latched."""
        latched = topic == _LATCHED
        infinite = {"sec": 9223372036, "nsec": 854775807}  # rmw's value
        quality = {
            "history": "keep_last",
            "depth": 1 if latched else 10,
            "reliability": "reliable",
            "durability": "transient_local" if latched else "volatile",
            "deadline": infinite,
            "lifespan": infinite,
            "liveliness": "automatic",
            "liveliness_lease_duration": infinite,
            "avoid_ros_namespace_conventions": False,
        }
        if self._version >= _FIRST_WITH_NAMES:
            return [quality]
        numbers = {"history": 1, "reliability": 1, "durability": 1 if latched else 2, "liveliness": 1}
        return _in_yaml([quality | numbers])


def _in_yaml(value: object) -> str:
    return to_json_bytes(value).decode()


def _messages(scene: Scene, messages: RosMessages, *, style: str) -> Iterator[tuple[int, str, Message]]:
    """Yield time in microseconds, topic and message of all readings of a scene, ascending in time."""
    readings = sorted((*_readings(scene), *_stream_readings(scene)), key=lambda one: one.timestamp_us)
    mounts = _mounts(readings, style)
    for time_us, group in groupby(readings, key=lambda one: one.timestamp_us):
        of_tick = list(group)
        yield time_us, "/clock", messages.clock(time_us)
        if mounts:
            yield time_us, _LATCHED, messages.transforms(time_us, mounts)
            mounts = []
        for reading in (r for r in of_tick if isinstance(r, _StreamReading)):
            names = names_of(reading.channel, style=style, is_optical=False)
            yield time_us, names.topics[reading.kind], messages.stream(reading.kind, reading.row, names.agent)
        sensed = [(r, _names(r, style)) for r in of_tick if isinstance(r, Image | LidarScan)]
        yield from _poses(sensed, messages, time_us)
        for measured, names in sensed:
            for content, message in _contents(measured, names, messages):
                yield time_us, names.topics[content], message
        for sample in (r for r in of_tick if isinstance(r, Sample)):
            yield time_us, STYLES[style]["boxes"], messages.boxes(time_us, sample.boxes)
            images = ((r, names) for r, names in sensed if isinstance(r, Image) and scene.reports_views)
            for image, names in images:
                yield time_us, names.topics["detections"], messages.detections(image, sample.boxes, names.frame)


def _readings(scene: Scene) -> Iterator[_Reading]:
    """Yield all images, scans and samples except the reference LIDAR_TOP, which is no sensor."""
    for channel in sorted({image.channel for sample in scene for image in sample.images}):
        yield from scene.images_of(channel)
    for channel in sorted(
        {scan.channel for sample in scene for scan in (*sample.lidars, *sample.radars)} - {BEV_CHANNEL}
    ):
        yield from (scan for scan in scene.scans_of(channel) if scan.exists)
    yield from scene


@dataclass(frozen=True, slots=True)
class _StreamReading:
    """One reading of a flight sensor."""

    timestamp_us: int
    channel: str
    kind: str
    row: Any


def _stream_readings(scene: Scene) -> Iterator[_StreamReading]:
    for stream in scene.streams:
        for row in stream.readings() if stream.kind != KIND else ():  # skip car states, which are no measurements
            yield _StreamReading(int(row["timestamp_us"]), stream.channel, stream.kind, row)


def _mounts(readings: Iterable[Any], style: str) -> list[tuple[str, str, SE3]]:
    """Return agent, frame and ``flu_SE3_sensor`` of every sensor, from its first reading."""
    mounts: dict[str, tuple[str, str, SE3]] = {}
    for reading in readings:
        if isinstance(reading, Image | LidarScan):
            names = _names(reading, style)
            mount = reading.flu_SE3_optical if isinstance(reading, Image) else reading.flu_SE3_sensor
            mounts.setdefault(names.frame, (names.agent, names.frame, mount))
    return list(mounts.values())


def _names(reading: Image | LidarScan, style: str) -> Names:
    return names_of(reading.channel, style=style, is_optical=isinstance(reading, Image))


def _poses(
    sensed: list[tuple[Image | LidarScan, Names]], messages: RosMessages, time_us: int
) -> Iterator[tuple[int, str, Message]]:
    """Yield ``/tf`` and odometry of each agent, by the ego pose of its first sensor."""
    firsts: dict[str, tuple[Image | LidarScan, Names]] = {}
    for measured, names in sensed:
        firsts.setdefault(names.agent, (measured, names))
    if firsts:
        frames = [("map", agent, measured.map_SE3_flu) for agent, (measured, _) in firsts.items()]
        yield time_us, "/tf", messages.transforms(time_us, frames)
    for agent, (measured, names) in firsts.items():
        velocity = measured.drone_velocity_map_mps if isinstance(measured, Image) else np.full(3, np.nan)
        yield time_us, names.topics["odometry"], messages.odometry(measured, agent=agent, velocity_map_mps=velocity)


def _contents(reading: Image | LidarScan, names: Names, messages: RosMessages) -> Iterator[tuple[str, Message]]:
    """Yield the content key of a topic and the message for each output of a sensor."""
    if isinstance(reading, RadarScan):
        yield "radar", messages.radar(reading, names.frame)
    elif isinstance(reading, LidarScan):
        yield "lidar", messages.lidar(reading, names.frame)
    else:
        yield "rgb", messages.compressed(reading, names.frame, reading.bytes())
        yield "camera_info", messages.camera_info(reading, names.frame)
        if "instance" in reading.layers:
            yield "instance", messages.compressed(reading, names.frame, reading.layer_bytes("instance"))
        if "depth" in reading.layers:
            yield "depth", messages.depth(reading, names.frame)
