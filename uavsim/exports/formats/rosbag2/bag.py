"""One folder a scene, as ``ros2 bag record -s mcap`` leaves it; ``ros2 bag play`` and readers without ROS take it.

Messages come in the order of time. Stamps and times are the dataset's own; what has one stamp is of one tick. All mounts are
in one message on ``/tf_static``, the first after the clock's: a latch keeps one message for those who listen later.
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
from uavsim.exports.formats.patient_file import patient_file
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
_FIRST_WITH_WORDS: Final = 9
VERSIONS: Final = {"humble": 5, "jazzy": 9}
"""Version of ``metadata.yaml`` by ROS distribution. Humble reads quality of service as a string of YAML with rmw's numbers;
later distributions read both. Source: ros2/rosbag2, issues 1895 and 2013."""


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
        with patient_file(folder / name) as file:
            options = foxglove.mcap.MCAPWriteOptions(profile="ros2")
            with foxglove.open_mcap(file, context=bag.context, writer_options=options):
                for time_us, topic, message in _messages(scene, RosMessages(store.types), style=request.topics):
                    bag.write(topic, message, time_us)
        write_whole(folder / "metadata.yaml", to_json_bytes(bag.metadata(name)))
        written.append(folder.shown)
    return written


class _Bag:
    """The topics of one file, and what ``metadata.yaml`` says of them (JSON is YAML)."""

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
            offered = {"offered_qos_profiles": quality if isinstance(quality, str) else _in_yaml(quality)}
            channel = self._foxglove.Channel(
                topic, schema=schema, message_encoding="cdr", context=self.context, metadata=offered
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
        words = self._version >= _FIRST_WITH_WORDS
        topics = [
            {
                "topic_metadata": {
                    "name": topic,
                    "type": kind,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": self._quality(topic),
                }
                | ({"type_description_hash": self._store.hash_rihs01(kind)} if words else {}),
                "message_count": self._counts[topic],
            }
            for topic, (kind, _) in self._open.items()
        ]
        reported = {
            "version": self._version,
            "storage_identifier": "mcap",
            "relative_file_paths": [name],
            **span,
            "topics_with_message_count": topics,
            "compression_format": "",
            "compression_mode": "",
            "files": [{"path": name, **span}],
        }
        reported |= {"custom_data": None, "ros_distro": self._ros} if words else {}
        return {"rosbag2_bagfile_information": reported}

    def _quality(self, topic: str) -> list[dict[str, Any]] | str:
        """Return a topic's quality of service as the distribution writes it; what does not change is latched."""
        latched = topic == _LATCHED
        always = {"sec": 9223372036, "nsec": 854775807}  # rmw's infinite duration
        quality = {
            "history": "keep_last",
            "depth": 1 if latched else 10,
            "reliability": "reliable",
            "durability": "transient_local" if latched else "volatile",
            "deadline": always,
            "lifespan": always,
            "liveliness": "automatic",
            "liveliness_lease_duration": always,
            "avoid_ros_namespace_conventions": False,
        }
        if self._version >= _FIRST_WITH_WORDS:
            return [quality]
        numbers = {"history": 1, "reliability": 1, "durability": 1 if latched else 2, "liveliness": 1}
        return _in_yaml([quality | numbers])


def _in_yaml(value: object) -> str:
    return to_json_bytes(value).decode()


def _messages(scene: Scene, messages: RosMessages, *, style: str) -> Iterator[tuple[int, str, Message]]:
    """Yield time, topic and message of all that a scene holds, in the order of time."""
    readings = sorted((*_readings(scene), *_streamed(scene)), key=lambda one: one.timestamp_us)
    mounts = _mounts(readings, style)
    for time_us, group in groupby(readings, key=lambda one: one.timestamp_us):
        of_tick = list(group)
        yield time_us, "/clock", messages.clock(time_us)
        if mounts:
            yield time_us, _LATCHED, messages.transforms(time_us, mounts)
            mounts = []
        for one in (r for r in of_tick if isinstance(r, _Streamed)):
            names = names_of(one.channel, style=style, is_optical=False)
            yield time_us, names.topics[one.kind], messages.stream(one.kind, one.row, names.agent)
        sensed = [(r, _names(r, style)) for r in of_tick if isinstance(r, Image | LidarScan)]
        yield from _poses(sensed, messages, time_us)
        for measured, names in sensed:
            for what, message in _contents(measured, names, messages):
                yield time_us, names.topics[what], message
        for sample in (r for r in of_tick if isinstance(r, Sample)):
            yield time_us, STYLES[style]["boxes"], messages.boxes(time_us, sample.boxes)
            shown = ((r, names) for r, names in sensed if isinstance(r, Image) and scene.reports_views)
            for image, names in shown:
                yield time_us, names.topics["detections"], messages.detections(image, sample.boxes, names.frame)


def _readings(scene: Scene) -> Iterator[_Reading]:
    """Yield all images, scans and samples; LIDAR_TOP where it stands on the ground under drone 0 is no sensor."""
    for channel in sorted({image.channel for sample in scene for image in sample.images}):
        yield from scene.images_of(channel)
    for channel in sorted(
        {scan.channel for sample in scene for scan in (*sample.lidars, *sample.radars)} - {BEV_CHANNEL}
    ):
        yield from (scan for scan in scene.scans_of(channel) if scan.there)
    yield from scene


@dataclass(frozen=True, slots=True)
class _Streamed:
    """One reading of a flight controller's sensor."""

    timestamp_us: int
    channel: str
    kind: str
    row: Any


def _streamed(scene: Scene) -> Iterator[_Streamed]:
    for stream in scene.streams:
        for row in stream.readings() if stream.kind != KIND else ():  # the state of a car is no measurement
            yield _Streamed(int(row["timestamp_us"]), stream.channel, stream.kind, row)


def _mounts(readings: Iterable[Any], style: str) -> list[tuple[str, str, SE3]]:
    """Return agent, frame and mount of every sensor, as its first reading says."""
    found: dict[str, tuple[str, str, SE3]] = {}
    for reading in readings:
        if isinstance(reading, Image | LidarScan):
            names = _names(reading, style)
            found.setdefault(names.frame, (names.agent, names.frame, _mount(reading)))
    return list(found.values())


def _names(reading: Image | LidarScan, style: str) -> Names:
    return names_of(reading.channel, style=style, is_optical=isinstance(reading, Image))


def _mount(reading: Image | LidarScan) -> SE3:
    return reading.flu_SE3_optical if isinstance(reading, Image) else reading.flu_SE3_sensor


def _poses(
    sensed: list[tuple[Image | LidarScan, Names]], messages: RosMessages, time_us: int
) -> Iterator[tuple[int, str, Message]]:
    """Yield where each agent is: the pose of its first sensor's row."""
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
    """Yield what a sensor measured, by what its topic carries."""
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
