"""Cameras of a recording: pinhole, image, mask and projected boxes."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import rerun as rr

from uavsim.access import Image, Sample
from uavsim.access.box_selection import visible_boxes
from uavsim.errors import DatasetError
from uavsim.images import overlay
from uavsim.typing import FloatArray, UInt8Array, UInt16Array
from uavsim.viewing.view.times import Times

_EDGE_LINE: Final = [0, 1, 2, 3, 0, 4, 5, 1, 5, 6, 2, 6, 7, 3, 7, 4]
"""Corners of a line along all 12 edges of a box."""
_WIDTHS_PX: Final = (640, 560, 480, 400, 340, 288, 240, 200, 160)
_IMAGE_PLANE_M: Final = 3.0  # image planes of a swarm should not overlap
_MASK_OPACITY: Final = 0.45


@dataclass(slots=True)
class ImageCounts:
    """Counts of written images, and of missing or damaged ones (``unreadable``)."""

    images: int = 0
    unreadable: int = 0


@dataclass(slots=True)
class _Column:
    """One camera over some samples; ``rows`` are the numbers of its samples."""

    first: Image
    rows: list[int] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    jpegs: list[bytes] = field(default_factory=list)
    masks: list[bytes] = field(default_factory=list)
    mask_rows: list[int] = field(default_factory=list)
    strips: list[FloatArray] = field(default_factory=list)
    colours: list[tuple[int, int, int]] = field(default_factory=list)
    strip_count: list[int] = field(default_factory=list)


def log_images(
    recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, width_px: int, quality: int
) -> ImageCounts:
    """Write the cameras of some samples."""
    counts = ImageCounts()
    columns: dict[str, _Column] = {}
    for row, sample in enumerate(samples):
        colours = overlay.object_colours(sample.boxes.instance_id)
        corners_map_m = sample.boxes.corners_map_m
        for image in sample.images:
            column = columns.setdefault(image.channel, _Column(image))
            column.rows.append(row)
            column.images.append(image)
            scale = min(width_px / image.size_px[0], 1.0)
            pixels, ids = _read(image)
            column.jpegs.append(
                b"" if pixels is None else overlay.small_jpeg(pixels, width_px=width_px, quality=quality)
            )
            counts.images += pixels is not None
            counts.unreadable += pixels is None
            if ids is not None:
                column.masks.append(overlay.coloured_mask(ids, width_px=width_px))
                column.mask_rows.append(row)
            chosen = visible_boxes(sample.boxes, image)
            strips = image.project(corners_map_m[chosen][:, _EDGE_LINE], beyond=True) * scale
            column.strips.extend(strips)
            column.colours.extend(colours[n] for n in chosen)
            column.strip_count.append(len(chosen))
    for channel, column in columns.items():
        _send(recording, f"world/drones/{column.first.drone_id}/{channel}", column, times, width_px=width_px)
    _send_drones(recording, samples, times)
    return counts


def fitting_width_px(samples: Sequence[Sample], *, most_bytes: int, quality: int) -> int:
    """Return the largest width at which encoded images and masks of samples fit ``most_bytes``, else the smallest."""
    read = [_read(image) for sample in samples for image in sample.images]
    for width_px in _WIDTHS_PX[:-1]:
        size = 0
        for pixels, ids in read:
            size += 0 if pixels is None else len(overlay.small_jpeg(pixels, width_px=width_px, quality=quality))
            size += 0 if ids is None else len(overlay.coloured_mask(ids, width_px=width_px))
        if size <= most_bytes:
            return width_px
    return _WIDTHS_PX[-1]


def _read(image: Image) -> tuple[UInt8Array | None, UInt16Array | None]:
    """Return pixels and instance ids of an image; None for a missing or damaged file."""
    pixels = ids = None
    with suppress(DatasetError):
        pixels = image.pixels()
    if "instance" in image.layers:
        with suppress(DatasetError):
            ids = image.mask()[0]
    return pixels, ids


def _send(recording: rr.RecordingStream, entity: str, column: _Column, times: Times, *, width_px: int) -> None:
    indexes = times.at(column.rows)
    width, height = column.first.size_px
    scale = min(width_px / width, 1.0)
    small = np.diag([scale, scale, 1.0])
    mounts = [image.flu_SE3_optical for image in column.images]
    pinholes = rr.Pinhole.columns(
        image_from_camera=[small @ image.intrinsic for image in column.images],
        resolution=[[width * scale, height * scale]] * len(column.rows),
        camera_xyz=[rr.ViewCoordinates.RDF] * len(column.rows),
        image_plane_distance=[_IMAGE_PLANE_M] * len(column.rows),
    )
    recording.send_columns(entity, indexes=indexes, columns=[*pinholes, *_transforms(mounts)])
    present = [n for n, data in enumerate(column.jpegs) if data]
    if present:
        images = rr.EncodedImage.columns(
            blob=[column.jpegs[n] for n in present],
            media_type=["image/jpeg"] * len(present),
            draw_order=[0.0] * len(present),
        )
        rows = [column.rows[n] for n in present]
        recording.send_columns(entity, indexes=times.at(rows), columns=images)
    if column.masks:
        count = len(column.masks)
        masks = rr.EncodedImage.columns(
            blob=column.masks,
            media_type=["image/png"] * count,
            opacity=[_MASK_OPACITY] * count,
            draw_order=[10.0] * count,
        )
        recording.send_columns(f"{entity}/mask", indexes=times.at(column.mask_rows), columns=masks)
    lines = rr.LineStrips2D.columns(strips=column.strips, colors=column.colours).partition(column.strip_count)
    recording.send_columns(f"{entity}/boxes", indexes=indexes, columns=lines)


def _send_drones(recording: rr.RecordingStream, samples: Sequence[Sample], times: Times) -> None:
    poses: dict[int, tuple[list[int], list[Any]]] = {}
    for row, sample in enumerate(samples):
        for drone in sample.drone_ids().tolist():
            first = next(image for image in sample.images if image.drone_id == drone)
            rows, drone_poses = poses.setdefault(drone, ([], []))
            rows.append(row)
            drone_poses.append(first.map_SE3_flu)
    for drone, (rows, drone_poses) in poses.items():
        recording.send_columns(f"world/drones/{drone}", indexes=times.at(rows), columns=_transforms(drone_poses))


def _transforms(poses: Sequence[Any]) -> Any:
    xyzw = [pose.quat_wxyz[[1, 2, 3, 0]] for pose in poses]
    return rr.Transform3D.columns(translation=[pose.translation_m for pose in poses], quaternion=xyzw)
