"""A dataset as a Rerun recording, written scene by scene.

Timelines: ``keyframe`` counts through all scenes; ``time`` is the time of samples. Entities::

    world/town/...                           drivable area, borders; map: lines of the vector map by layer
    world/drones/<id>                        the drone; below it <CHANNEL>: pinhole, image, mask, boxes (2D)
    world/routes/<id>                        the drone's route through the scene
    world/boxes                              3D boxes by class; world/tracks: tracks of moving objects
    world/voxels/<GRID>                      occupied voxels by class
    world/lidars/<CHANNEL>                   points in the map frame; world/depth: points of depth images
    about                                    a description of the scene
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import rerun as rr

from uavsim.access import Dataset, Sample, Scene, origin_of_scenes, simulator_of
from uavsim.errors import DatasetError, InputError
from uavsim.escape import markdown_text
from uavsim.files.parse import reading
from uavsim.records.channels import channel_without_kind
from uavsim.viewing.view.blueprint import arrange
from uavsim.viewing.view.images import fitting_width_px, log_images
from uavsim.viewing.view.objects import log_boxes, log_depth, log_lidars, log_routes, log_tracks, log_voxels
from uavsim.viewing.view.sink import whole_sink
from uavsim.viewing.view.times import Times
from uavsim.viewing.view.town import log_town

_APPLICATION = "uavsim"
_IMAGE_BYTES = 110_000_000  # of a recording, which stays below 200 MB even if later images are 1.5 times as large
_LIDAR_POINTS = 2_500_000  # of a recording, 30 MB
_AT_ONCE = 5  # keyframes in memory


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """The options of a recording.

    Attributes:
        scenes: names of scenes; () for all.
        most_samples: largest number of samples.
        image_width_px: largest width of images; None chooses one that keeps the recording below 200 MB.
        jpeg_quality: quality of the images.
        voxels: folder of voxel files; None shows none.
    """

    scenes: tuple[str, ...] = ()
    most_samples: int = 400
    image_width_px: int | None = None
    jpeg_quality: int = 70
    voxels: Path | None = None


@dataclass(frozen=True, slots=True)
class ViewSummary:
    """Counts of a recording; ``notes`` name missing content."""

    scenes: int
    samples: int
    images: int
    boxes: int
    notes: tuple[str, ...]


def write_recording(data: Dataset, path: Path, request: ViewRequest) -> ViewSummary:
    """Write a recording with its blueprint.

    Raises:
        UnknownNameError: no such scene.
        DatasetError: the dataset has no samples, or is damaged.
        InputError: no file can be at ``path``.
        StorageError: the file cannot be written.
    """
    with reading(data.root):
        writer = _Writer(data, request)
        with whole_sink(path) as sink:
            try:
                writer.recording.save(sink, default_blueprint=writer.blueprint)
                writer.add_all()
            finally:
                writer.recording.disconnect()
    return writer.summary()


def send_recording(data: Dataset, url: str, request: ViewRequest, *, is_open: Callable[[], bool]) -> ViewSummary:
    """Send a recording to a viewer while it is made, so that the first keyframes show early.

    Args:
        data: the dataset.
        url: Rerun's address of the viewer.
        request: the options.
        is_open: whether the viewer is still open; called between keyframes.

    Raises:
        UnknownNameError: no such scene.
        DatasetError: the dataset has no samples, or is damaged.
    """
    with reading(data.root):
        writer = _Writer(data, request)
        try:
            writer.recording.connect_grpc(url, default_blueprint=writer.blueprint)
            writer.add_all(is_open)
        finally:
            writer.recording.disconnect()
    return writer.summary()


class _Writer:
    """A writer of scenes, a few keyframes at a time."""

    def __init__(self, data: Dataset, request: ViewRequest) -> None:
        if request.most_samples < 1 or (request.image_width_px or 16) < 16:
            raise InputError("a recording needs at least 1 sample, and images at least 16 pixels wide")
        self._data, self._request = data, request
        self._names = request.scenes or data.scene_names
        first = data.scene(self._names[0]) if self._names else None
        if first is None or not first.samples:
            raise DatasetError(f"{data.root}: no samples to show")
        self.blueprint = _blueprint(first)
        self.recording = rr.RecordingStream(_APPLICATION, recording_id=f"{data.root.name}-{data.version}")
        self._scenes = self._samples = self._images = self._boxes = self._unreadable = 0
        self._town: str | None = None
        self._notes = [f"no {table}.json: {content} are not shown" for table, content in data.missing.items()]
        total = sum(length for name, length in data.scene_lengths if not request.scenes or name in request.scenes)
        self._expected = min(max(total, 1), request.most_samples)
        self._width_px = request.image_width_px or 0

    def add_all(self, is_open: Callable[[], bool] = lambda: True) -> None:
        """Write scenes until the recording is full or the viewer is closed."""
        self.recording.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        for name in self._names:
            if not self._add(self._data.scene(name), is_open):
                break
        if is_open():
            self.recording.flush()

    def _add(self, scene: Scene, is_open: Callable[[], bool]) -> bool:
        """Write a scene; returns False if the recording is full or the viewer is closed."""
        samples = list(islice(scene.samples, self._request.most_samples - self._samples))
        if not samples:
            return False
        if not self._width_px:
            measured = [samples[n] for n in sorted({0, len(samples) // 2, len(samples) - 1})]
            self._width_px = fitting_width_px(
                measured, most_bytes=_IMAGE_BYTES * len(measured) // self._expected, quality=self._request.jpeg_quality
            )
        Times(self._samples, samples).go_to(self.recording, 0)
        self._log_scene(scene, samples)
        self._scenes += 1
        for start in range(0, len(samples), _AT_ONCE):
            if not is_open():
                return False
            self._add_samples(samples[start : start + _AT_ONCE])
        return True

    def _log_scene(self, scene: Scene, samples: Sequence[Sample]) -> None:
        """Write the content that does not change in a scene."""
        bottoms = [s.boxes.map_SE3_box.translation_m[:, 2] - s.boxes.size_lwh_m[:, 2] / 2 for s in samples]
        ground_z_m = float(np.median(np.concatenate(bottoms))) if sum(map(len, bottoms)) else 0.0
        self._log_town(self.recording, scene, ground_z_m=ground_z_m)
        self.recording.log("about", rr.TextDocument(_about(scene), media_type=rr.MediaType.MARKDOWN))
        log_routes(self.recording, scene)
        log_tracks(self.recording, scene)

    def _add_samples(self, samples: Sequence[Sample]) -> None:
        times = Times(self._samples, samples)
        counts = log_images(self.recording, samples, times, width_px=self._width_px, quality=self._request.jpeg_quality)
        log_boxes(self.recording, samples, times, categories=self._data.categories)
        most_points = max(_LIDAR_POINTS * len(samples) // self._expected, 1)
        log_lidars(self.recording, samples, times, most_points=most_points)
        log_depth(self.recording, samples, times, most_points=most_points)
        if self._request.voxels is not None:
            log_voxels(self.recording, samples, times, folder=self._request.voxels)
        self._samples += len(samples)
        self._images, self._unreadable = self._images + counts.images, self._unreadable + counts.unreadable
        self._boxes += sum(len(s.boxes) for s in samples)

    def summary(self) -> ViewSummary:
        """Return the counts and notes."""
        scenes = len(self._names)
        notes = list(self._notes)
        if self._unreadable:
            notes.append(f"{self._unreadable} images are missing or unreadable and not shown")
        if self._scenes < scenes:
            notes.append(
                f"{self._scenes} of {scenes} scenes: the recording ends after {self._request.most_samples} samples"
            )
        return ViewSummary(self._scenes, self._samples, self._images, self._boxes, tuple(notes))

    def _log_town(self, recording: rr.RecordingStream, scene: Scene, *, ground_z_m: float) -> None:
        if scene.town == self._town:
            return
        self._town = scene.town
        known = self._data.maps.get(scene.town)
        if known is None or not log_town(recording, known, ground_z_m=ground_z_m):
            recording.log("world/town", rr.Clear(recursive=True))
            self._notes.append(f"no map of {scene.town or 'an unnamed town'} with known position: roads are not shown")


def _blueprint(scene: Scene) -> object:
    sample = scene.samples[0]
    cameras: dict[int, list[tuple[str, str]]] = {}
    for image in sample.images:
        entity = f"/world/drones/{image.drone_id}/{image.channel}"
        cameras.setdefault(image.drone_id, []).append((entity, channel_without_kind(image.channel)))
    positions = [poses.translation_m[0] for poses in scene.map_SE3_drones().values()]
    return arrange(dict(sorted(cameras.items())), swarm_map_m=np.array(positions or [[0.0, 0.0, 0.0]]))


def _about(scene: Scene) -> str:
    facts = {
        "town": scene.town,
        "route": scene.log.get("uav_route"),
        "formation": scene.log.get("uav_formation"),
        "weather": scene.log.get("uav_weather"),
        "vehicles": scene.log.get("uav_vehicles_spawned"),
        "walkers": scene.log.get("uav_walkers_spawned"),
        "samples": len(scene),
    }
    origin = origin_of_scenes({simulator_of(scene.log): 1})
    lines: Sequence[str] = [
        f"{name}: {markdown_text(value)}" for name, value in facts.items() if value not in {None, ""}
    ]
    first = f"**{markdown_text(origin)}**\n\n" if origin else ""
    return f"{first}**{markdown_text(scene.name)}**  \n" + " · ".join(lines)
