"""``uavsim adopt``: make an image twin of a dataset from videos by a world model.

``OUT/<name>/`` is a valid dataset of the returned images with the tokens and labels of the recorded dataset.
``OUT/twin.json`` links the images. ``OUT/adopted.json`` holds for each object in each keyframe image whether the image still
agrees with its label.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Dataset, Image, Scene, open_folder
from uavsim.dataset.convert import convert_version
from uavsim.dataset.dialects import STRICT
from uavsim.dataset.reader import DatasetReader
from uavsim.dataset.schema import all_tables
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError, InputError
from uavsim.exports.agreement import agreement, label_state
from uavsim.exports.formats.cosmos import clips_of
from uavsim.exports.formats.cosmos_models import view_name
from uavsim.exports.formats.encode_video import decode_mp4, facts_of_mp4
from uavsim.exports.formats.request import frame_rate
from uavsim.exports.selection import Selection
from uavsim.files.names import part_fault
from uavsim.files.parse import open_regular, parse_json, read_regular, reading
from uavsim.files.result_folder import check_result_beside
from uavsim.files.results import ResultPath
from uavsim.files.whole import to_json_bytes, write_whole
from uavsim.images import codec, draw
from uavsim.replays.twins import Twin, links_of
from uavsim.typing import JsonDict, UInt8Array

_MIN_PX: Final = 60  # least pixels of a measured object in its mask
_ASPECT_TOLERANCE: Final = 0.03  # models cut sizes to multiples of 8 or 16 pixels
_RATE_TOLERANCE: Final = 0.01
_MOST_VIDEO_BYTES: Final = 1 << 30
_MOST_MANIFEST_BYTES: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Adopted:
    """The result of an adoption.

    Attributes:
        folder: folder of the twin.
        images: number of linked images.
        objects: number of objects by state: kept, moved, gone, unclear.
    """

    folder: str
    images: int
    objects: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Video:
    """A returned video: its clip, camera and file."""

    clip: str
    camera: str
    path: Path


def adopt(clips: Path, folder: Path, out: Path, *, name: str) -> Adopted:
    """Make a twin from videos.

    Args:
        clips: folder with ``manifest.json`` files of clips (``export --format cosmos``) or job results beside videos.
        folder: the dataset that the clips were exported from.
        out: folder of the twins.
        name: name of the twin.

    Raises:
        InputError: ``name`` is no folder name, there is no video, or a video has another camera, shape or rate.
        DatasetError: the dataset lacks masks, or its dialect is not strict.
    """
    check_result_beside(folder, out)
    if fault := part_fault(name):
        raise InputError(f"--name {name!a} {fault}: it cannot be the name of a folder")
    data = open_folder(folder)
    if data.dialect_name != STRICT.name:
        raise DatasetError(
            f"{folder}: has the dialect {data.dialect_name}; convert it first: uavsim convert --dialect strict"
        )
    cameras_of_clip = _cameras_of_clips(data)
    by_camera = _by_camera(clips, cameras_of_clip, folder)
    result = ResultPath.open(out / name)
    chosen: dict[str, str] = {}
    rows: list[JsonDict] = []
    with result.unfinished(f"uavsim adopt {str(clips.resolve())!a} --as-twin-of {str(folder.resolve())!a}"):
        for (clip, camera), path in by_camera.items():
            scene, channels = cameras_of_clip[clip]
            for image, pixels in _matched(scene, channels[camera], path):
                write_whole(result / image.filename, _encoded(pixels, image.filename))
                chosen[image.token] = image.filename
                rows += _object_states(scene, image, pixels, name)
        _write_tables(folder, data.version, result, chosen)
    links = list(links_of(folder, out, Twin(name, "adopted", (clips.name,))))
    linked = {row["sample_data_token"] for row in links}
    rows = [row for row in rows if row["sample_data_token"] in linked]
    _merge(out / "twin.json", name, links)
    _merge(out / "adopted.json", name, rows)
    return Adopted(str(out / name), len(linked), dict(sorted(Counter(row["state"] for row in rows).items())))


def _by_camera(
    clips: Path, cameras_of_clip: Mapping[str, tuple[Scene, Mapping[str, str]]], folder: Path
) -> dict[tuple[str, str], Path]:
    """Return the videos by clip and camera.

    Raises:
        InputError: there is no video, a video of another camera, or two videos of one camera.
    """
    videos: dict[tuple[str, str], Path] = {}
    for video in _videos(clips):
        if video.clip not in cameras_of_clip:
            raise InputError(
                f"{clips}: clip {video.clip} matches no scene and agent of {folder}; known: {', '.join(cameras_of_clip)}"
            )
        channels = cameras_of_clip[video.clip][1]
        if video.camera not in channels:
            raise InputError(f"{video.path}: {video.clip} has no camera {video.camera}; it has {', '.join(channels)}")
        other = videos.setdefault((video.clip, video.camera), video.path)
        if other is not video.path:
            both = f"{other} and {video.path}"
            raise InputError(f"{clips}: two videos of {video.camera} of {video.clip}: {both}; leave one out")
    if not videos:
        raise InputError(f"{clips}: no manifest.json in it names videos; name the folder of the converted clips")
    return videos


def _videos(clips: Path) -> Iterator[_Video]:
    """Yield the videos that manifests name: RGB videos of clips, every video of job results."""
    for path in sorted(clips.rglob("manifest.json")):
        with reading(path):
            content: dict[str, Any] = parse_json(read_regular(path, most_bytes=_MOST_MANIFEST_BYTES))
            if "clip" in content:
                cameras = [camera["name"] for camera in content["clip"]["rig"]["cameras"]]
                for file in content["files"]:
                    if file.get("kind", "video") == "video":
                        camera = str(file.get("view") or cameras[0]).replace(":", "_")
                        yield _Video(_text(content["clip"]["clip_id"]), camera, _beside(path, _text(file["name"])))
            else:
                for key, file in content["videos"].items():
                    kind, _, camera = key.partition("/")
                    if kind == "rgb":
                        yield _Video(_text(content["clip_id"]), camera, _beside(path, _text(file)))


def _text(value: object) -> str:
    """Return a manifest's value as a name.

    Raises:
        TypeError: the value is not text, or holds a null character.
    """
    if not isinstance(value, str) or "\0" in value:
        raise TypeError(f"{ascii(value)[:40]} is not a name")
    return value


def _beside(manifest: Path, name: str) -> Path:
    """Return the path of a file beside a manifest.

    Raises:
        InputError: the name leads to another folder, or to a symbolic link.
    """
    path = manifest.parent / name
    if part_fault(name) or path.name != name or path.is_symlink():
        raise InputError(f"{manifest}: names {name[:100]!r}, which is not a file in its folder")
    return path


def _cameras_of_clips(data: Dataset) -> dict[str, tuple[Scene, dict[str, str]]]:
    """Return the scene of each clip, and its channels by the camera names of videos."""
    cameras = {}
    for scene in data:
        camera_of = {image.channel: image.camera for image in scene.samples[0].images}
        for clip, channels in clips_of(scene):
            cameras[clip] = scene, {view_name(camera_of[c], c).replace(":", "_"): c for c in channels}
    return cameras


def _matched(scene: Scene, channel: str, path: Path) -> Iterator[tuple[Image, UInt8Array]]:
    """Yield (image, (H, W, 3) uint8 RGB video frame at its time, resized to the image) of a camera.

    Raises:
        InputError: the video is missing, or has another rate or shape.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, but its manifest names it")
    images = scene.images_of(channel)
    image_rate = frame_rate(scene, images)
    with open_regular(path, most_bytes=_MOST_VIDEO_BYTES) as video:
        video_rate, (wide, high) = facts_of_mp4(video, name=str(path))
    stride = round(image_rate / video_rate) if video_rate > 0 else 0
    if stride < 1 or abs(image_rate / video_rate - stride) > _RATE_TOLERANCE * stride:
        raise InputError(f"{path}: has {video_rate:g} frames per second, but {channel} has {image_rate:g}")
    width, height = images[0].size_px
    if abs(wide * height / (high * width) - 1) > _ASPECT_TOLERANCE:
        raise InputError(f"{path}: {wide} x {high} pixels differ in shape from {width} x {height} of {channel}")
    with open_regular(path, most_bytes=_MOST_VIDEO_BYTES) as video:
        for image, pixels in zip(images[::stride], decode_mp4(video, name=str(path)), strict=False):
            same = pixels.shape[:2] == (height, width)
            yield image, pixels if same else draw.resized(pixels, width_px=width, height_px=height)


def _encoded(pixels: UInt8Array, filename: str) -> bytes:
    return codec.encode_png(pixels) if filename.endswith(".png") else codec.encode_jpeg(pixels, quality=95)


def _object_states(scene: Scene, image: Image, pixels: UInt8Array, name: str) -> Iterator[JsonDict]:
    """Yield a row of ``adopted.json`` for each object with enough pixels in a keyframe image."""
    sample = next((s for s in scene.samples if s.timestamp_us == image.timestamp_us), None)
    if sample is None:
        return
    before = image.pixels()
    ids, _ = image.mask()
    counts = np.bincount(ids.ravel(), minlength=int(sample.boxes.instance_id.max(initial=0)) + 1)
    for box, number in zip(sample.boxes.tokens, sample.boxes.instance_id.tolist(), strict=True):
        if number > 0 and counts[number] >= _MIN_PX:
            original, adopted = (agreement(version, ids == number) for version in (before, pixels))
            yield {
                "token": token("adopted", name, box, image.token),
                "twin": name,
                "sample_annotation_token": box,
                "sample_data_token": image.token,
                "visible_px": int(counts[number]),
                "state": label_state(original, adopted),
                "edge": [round(original.edge, 3), round(adopted.edge, 3)],
                "mask": [round(original.mask, 3), round(adopted.mask, 3)],
                "shift_px": list(adopted.shift_px),
            }


def _write_tables(folder: Path, version: str, result: ResultPath, chosen: Mapping[str, str]) -> None:
    """Write the twin's tables and copy its other files."""
    reader = DatasetReader(folder, version)
    selection = Selection(reader, chosen.keys(), written=set(chosen.values()))
    convert_version(reader, result, selection, all_tables(), only=selection.scenes_chosen())


def _merge(path: Path, name: str, rows: list[JsonDict]) -> None:
    """Replace the rows of a twin in a table of all twins."""
    others: list[JsonDict] = []
    if path.is_file():
        with reading(path):
            others = [row for row in parse_json(read_regular(path)) if row["twin"] != name]
    write_whole(path, to_json_bytes(others + rows))
