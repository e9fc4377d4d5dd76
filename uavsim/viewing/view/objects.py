"""Boxes, tracks, points and voxels of a recording, in the map frame."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import rerun as rr

from uavsim.access import Image, Sample, Scene
from uavsim.errors import DatasetError
from uavsim.images import draw, overlay
from uavsim.occupancy.files import voxels_of
from uavsim.typing import FloatArray, UInt8Array
from uavsim.viewing.view.times import Times

_MOVED_M: Final = 1.0
_UNSEEN_COLOUR: Final = (110, 110, 110)
_LINE: Final = -1.5  # negative radii are screen points in Rerun
_ROUTE: Final = -2.5
_DRONE: Final = -7.0
_FARTHEST_M: Final = 150.0  # a pixel beyond is half a metre wide


def log_boxes(
    recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, categories: Sequence[str]
) -> None:
    """Write the 3D boxes with a colour for each class; unseen boxes are grey."""
    of_class = dict(zip(categories, draw.palette(len(categories)), strict=True))
    counts = [len(sample.boxes) for sample in samples]
    if not sum(counts):
        return
    boxes = [sample.boxes for sample in samples]
    colours = [
        of_class.get(name, _UNSEEN_COLOUR) if is_visible else _UNSEEN_COLOUR
        for sample_boxes in boxes
        for name, is_visible in zip(sample_boxes.categories, sample_boxes.visible, strict=True)
    ]
    labels = [
        f"{name} {number or ''}".strip()
        for sample_boxes in boxes
        for name, number in zip(sample_boxes.categories, sample_boxes.instance_id.tolist(), strict=True)
    ]
    columns = rr.Boxes3D.columns(
        centers=np.concatenate([sample_boxes.map_SE3_box.translation_m for sample_boxes in boxes]),
        half_sizes=np.concatenate([sample_boxes.size_lwh_m / 2 for sample_boxes in boxes]),
        quaternions=np.concatenate([sample_boxes.map_SE3_box.quat_wxyz[:, [1, 2, 3, 0]] for sample_boxes in boxes]),
        colors=colours,
        labels=labels,
    ).partition(counts)
    style = rr.Boxes3D.from_fields(
        radii=[_LINE], show_labels=False, fill_mode=rr.components.FillMode.TransparentFillMajorWireframe
    )
    recording.log("world/boxes", style, static=True)
    recording.send_columns("world/boxes", indexes=times.all(), columns=columns)


def log_routes(recording: rr.RecordingStream, scene: Scene) -> None:
    """Write each drone's route through the scene, and the drone as a labelled dot."""
    poses_of = scene.map_SE3_drones()
    for (drone, poses), colour in zip(poses_of.items(), draw.palette(len(poses_of)), strict=True):
        recording.log(f"world/routes/{drone}", rr.LineStrips3D([poses.translation_m], colors=[colour], radii=[_ROUTE]))
        dot = rr.Points3D([[0, 0, 0]], colors=[colour], radii=[_DRONE], labels=[f"drone {drone}"], show_labels=True)
        recording.log(f"world/drones/{drone}/body", dot, static=True)


def log_tracks(recording: rr.RecordingStream, scene: Scene) -> None:
    """Write the tracks of moving objects at the recording's current time."""
    strips, colours = [], []
    colour_of = {
        token: colour
        for s in scene
        for token, colour in zip(s.boxes.instance_tokens, overlay.object_colours(s.boxes.instance_id), strict=True)
    }
    for track in scene.tracks:
        positions_m = track.map_SE3_box.translation_m
        if float(np.ptp(positions_m, axis=0).max()) > _MOVED_M:
            strips.append(positions_m)
            colours.append(colour_of[track.instance_token])
    recording.log("world/tracks", rr.LineStrips3D(strips, colors=colours, radii=[_LINE]))


def log_lidars(recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, most_points: int) -> None:
    """Write at most ``most_points`` lidar points in the map frame."""
    clouds: dict[str, tuple[list[int], list[FloatArray]]] = {}
    for row, sample in enumerate(samples):
        for scan in sample.lidars:
            if scan.exists and scan.files.file(scan.filename).stat().st_size:
                rows, points = clouds.setdefault(scan.channel, ([], []))
                rows.append(row)
                points.append(scan.points_map_m())
    total = sum(len(cloud) for _, points in clouds.values() for cloud in points)
    stride = max(-(-total // most_points), 1)
    for channel, (rows, points) in clouds.items():
        thin = [cloud[::stride].astype(np.float32) for cloud in points]
        if not sum(map(len, thin)):
            continue
        columns = rr.Points3D.columns(positions=np.concatenate(thin)).partition([len(cloud) for cloud in thin])
        recording.log(f"world/lidars/{channel}", rr.Points3D.from_fields(radii=[_LINE], colors=[(120, 190, 255)]))
        recording.send_columns(f"world/lidars/{channel}", indexes=times.at(rows), columns=columns)


def log_depth(recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, most_points: int) -> None:
    """Write at most ``most_points`` points of depth images in the images' colours."""
    with_depth = sum("depth" in image.layers for sample in samples for image in sample.images)
    clouds: list[tuple[int, FloatArray, UInt8Array]] = []
    for row, sample in enumerate(samples):
        parts = [_cloud(image, most_points // with_depth) for image in sample.images if "depth" in image.layers]
        if parts:
            clouds.append((row, np.concatenate([p for p, _ in parts]), np.concatenate([c for _, c in parts])))
    if not clouds:
        return
    rows, points, colours = zip(*clouds, strict=True)
    columns = rr.Points3D.columns(
        positions=np.concatenate(points).astype(np.float32), colors=np.concatenate(colours)
    ).partition([len(cloud) for cloud in points])
    recording.log("world/depth", rr.Points3D.from_fields(radii=[_LINE]), static=True)
    recording.send_columns("world/depth", indexes=times.at(rows), columns=columns)


def _cloud(image: Image, most: int) -> tuple[FloatArray, UInt8Array]:
    """Return (N, 3) map points, metres, and (N, 3) colours of an image; N = 0 for a missing or damaged file."""
    try:
        depth_m, pixels = image.depth_m(), image.pixels()
    except DatasetError:
        return np.zeros((0, 3)), np.zeros((0, 3), np.uint8)
    step = max(round((depth_m.size / max(most, 1)) ** 0.5), 1)
    v, u = (grid.ravel() for grid in np.mgrid[: depth_m.shape[0] : step, : depth_m.shape[1] : step])
    near = depth_m[v, u] < _FARTHEST_M
    v, u = v[near], u[near]
    rays = image.rays(np.stack([u + 0.5, v + 0.5], axis=1))
    return image.map_SE3_optical.apply(rays * depth_m[v, u][:, None]), pixels[v, u]


def log_voxels(recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, folder: Path) -> None:
    """Write the voxels of samples that a folder holds.

    Raises:
        DatasetError: a file is damaged.
    """
    for row, sample in enumerate(samples):
        times.go_to(recording, row)
        for voxels in voxels_of(folder, sample):
            boxes = rr.Boxes3D(
                centers=voxels.centres_map_m.astype(np.float32),
                half_sizes=np.full((len(voxels.classes), 3), voxels.voxel_m / 2, dtype=np.float32),
                quaternions=[np.roll(voxels.quat_wxyz, -1)],
                colors=np.array(draw.palette(len(voxels.names)), dtype=np.uint8)[voxels.classes],
                fill_mode=rr.components.FillMode.Solid,
            )
            recording.log(f"world/voxels/{voxels.grid}", boxes)
