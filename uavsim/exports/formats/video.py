"""A scene as a video: a grid of cameras with their visible boxes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Boxes, Image, Scene, open_folder
from uavsim.access.box_selection import boxes_in_mask
from uavsim.dataset.schema import INSTANCE
from uavsim.errors import DatasetError, InputError
from uavsim.exports.formats.encode_video import encode_gif, encode_mp4
from uavsim.exports.formats.request import filmed
from uavsim.files.parse import reading
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.images import draw
from uavsim.registry import pick
from uavsim.typing import UInt8Array

_SUFFIXES: Final = (".mp4", ".gif")
_MOST_CAMERAS: Final = 6


@dataclass(frozen=True, slots=True)
class VideoRequest:
    """The options of a video.

    Attributes:
        root: folder of the dataset.
        path: path of the mp4 or GIF.
        version: version folder; default: the only one.
        scene: name of the scene; default: the first.
        cameras: channels in the order of the grid; default: up to six, one of each drone in turn.
        columns: columns of the grid; 0 makes it about square.
        width_px: width of the video.
        fps: frame rate, Hz; 0 is the rate of the images.
        frames: number of frames; 0 for all.
        boxes: draw boxes.
    """

    root: Path
    path: Path
    version: str | None = None
    scene: str | None = None
    cameras: tuple[str, ...] = ()
    columns: int = 0
    width_px: int = 1280
    fps: float = 0.0
    frames: int = 0
    boxes: bool = True


def write_video(request: VideoRequest) -> tuple[int, float, int]:
    """Write a video; returns the number of frames, the frame rate in Hz, and the size in bytes.

    Raises:
        InputError: the path is neither .mp4 nor .gif, or PyAV is not installed.
        UnknownNameError: no such scene or camera.
        DatasetError: images are missing.
    """
    if request.path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{request.path}: a video ends with .mp4 or .gif")
    data, out = open_folder(request.root, request.version), ResultPath.of_file(request.path)
    with reading(request.root):
        scene = data.scene(request.scene or data.scene_names[0])
        rows = _images(scene, request)
        stamps = [row[0].timestamp_us for row in rows]
        spacing_us = (stamps[-1] - stamps[0]) / max(len(stamps) - 1, 1)
        fps = request.fps or (round(1e6 / spacing_us, 3) if spacing_us else 1.0)
        frames = _frames(scene, rows, request)
        gif = request.path.suffix.lower() == ".gif"
        content = encode_gif(frames, fps=fps) if gif else encode_mp4(frames, fps=fps)
    write_whole(out, content)
    return len(rows), fps, len(content)


def _images(scene: Scene, request: VideoRequest) -> list[tuple[Image, ...]]:
    """Return the images of each frame, one of each camera."""
    channels = {image.channel: image for image in scene.samples[0].images}
    if not channels:
        raise DatasetError(f"{scene.name}: no camera has an image")
    chosen = [pick(channels, name, what=f"camera of {scene.name}").channel for name in request.cameras]
    chosen = chosen or _spread([images[0] for images in filmed(scene).values()])
    cameras = [scene.images_of(channel) for channel in chosen]
    stamps_us = [image.timestamp_us for image in max(cameras, key=len)]
    rows = list(zip(*(_latest(images, stamps_us) for images in cameras), strict=True))
    return rows[: request.frames] if request.frames else rows


def _latest(images: Sequence[Image], stamps_us: Sequence[int]) -> list[Image]:
    """Return a camera's latest image at each time, or its first image before that."""
    last = np.searchsorted([image.timestamp_us for image in images], stamps_us, side="right") - 1
    return [images[max(number, 0)] for number in last.tolist()]


def _spread(images: Sequence[Image]) -> list[str]:
    """Return up to six channels: the first camera of each drone, then the second ones, and so on."""
    turns: dict[int, int] = {}
    ordered = []
    for image in images:
        turns[image.drone_id] = turns.get(image.drone_id, -1) + 1
        ordered.append((turns[image.drone_id], image.drone_id, image.channel))
    return [channel for _, _, channel in sorted(ordered)[:_MOST_CAMERAS]]


def _frames(scene: Scene, rows: Sequence[tuple[Image, ...]], request: VideoRequest) -> Iterator[UInt8Array]:
    instances = [row["token"] for row in scene.rows(INSTANCE)]
    colours = dict(zip(instances, draw.palette(len(instances)), strict=True))
    columns = request.columns or int(np.ceil(np.sqrt(len(rows[0]))))
    tile_px = (request.width_px - 4) // columns - 4
    captions = [image.channel for image in rows[0]]
    for images in rows:
        boxes = scene.boxes_at(images[0].timestamp_us) if request.boxes else None
        tiles = [_tile(image, boxes, colours, tile_px) for image in images]
        yield draw.contact_sheet(tiles, columns=columns, tile_width_px=tile_px, captions=captions)


def _tile(image: Image, boxes: Boxes | None, colours: dict[str, draw.Colour], tile_px: int) -> UInt8Array:
    width, height = image.size_px
    scale = tile_px / width
    canvas = np.ascontiguousarray(draw.resized(image.pixels(), width_px=tile_px, height_px=round(height * scale)))
    if boxes is not None and len(boxes):
        rows = boxes_in_mask(boxes, image)
        box_colours = [colours[boxes.instance_tokens[row]] for row in rows.tolist()]
        corners_px = image.project(boxes.corners_map_m[rows], beyond=True) * scale
        draw.draw_boxes_3d(canvas, corners_px, colours=box_colours, width_px=1)
    return canvas
