"""Boxes, tracks and lidar points of a recording, in the map frame."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import rerun as rr

from uavsim.access import Image, Sample, Scene
from uavsim.errors import DatasetError
from uavsim.images import draw, overlay
from uavsim.typing import FloatArray, UInt8Array
from uavsim.viewing.view.times import Times

_MOVED_M: Final = 1.0
_UNSEEN_COLOUR: Final = (110, 110, 110)
_LINE: Final = -1.5  # Rerun's way of saying points of the screen, whatever the distance
_WAY: Final = -2.5
_DRONE: Final = -7.0
_FARTHEST_M: Final = 150.0  # beyond, a pixel is half a metre


def log_boxes(
    recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, categories: Sequence[str]
) -> None:
    """Write the 3D boxes: a colour for each class, grey where nothing sees it, the class and number as a label."""
    of_class = dict(zip(categories, draw.palette(len(categories)), strict=True))
    counts = [len(sample.boxes) for sample in samples]
    if not sum(counts):
        return
    boxes = [sample.boxes for sample in samples]
    colours = [
        of_class.get(name, _UNSEEN_COLOUR) if seen else _UNSEEN_COLOUR
        for b in boxes
        for name, seen in zip(b.categories, b.seen, strict=True)
    ]
    labels = [
        f"{name} {number or ''}".strip()
        for b in boxes
        for name, number in zip(b.categories, b.instance_id.tolist(), strict=True)
    ]
    columns = rr.Boxes3D.columns(
        centers=np.concatenate([b.map_SE3_box.translation_m for b in boxes]),
        half_sizes=np.concatenate([b.size_lwh_m / 2 for b in boxes]),
        quaternions=np.concatenate([b.map_SE3_box.quat_wxyz[:, [1, 2, 3, 0]] for b in boxes]),
        colors=colours,
        labels=labels,
    ).partition(counts)
    style = rr.Boxes3D.from_fields(
        radii=[_LINE], show_labels=False, fill_mode=rr.components.FillMode.TransparentFillMajorWireframe
    )
    recording.log("world/boxes", style, static=True)
    recording.send_columns("world/boxes", indexes=times.all(), columns=columns)


def log_ways(recording: rr.RecordingStream, scene: Scene) -> None:
    """Write each drone's way through the scene, and the drone as a dot with its name where it is."""
    ways = scene.map_SE3_drones()
    for (drone, way), colour in zip(ways.items(), draw.palette(len(ways)), strict=True):
        recording.log(f"world/routes/{drone}", rr.LineStrips3D([way.translation_m], colors=[colour], radii=[_WAY]))
        dot = rr.Points3D([[0, 0, 0]], colors=[colour], radii=[_DRONE], labels=[f"drone {drone}"], show_labels=True)
        recording.log(f"world/drones/{drone}/body", dot, static=True)


def log_tracks(recording: rr.RecordingStream, scene: Scene) -> None:
    """Write the way of every object that moves, for the whole scene; the caller has set the recording's clock."""
    strips, colours = [], []
    first = {
        token: colour
        for s in scene
        for token, colour in zip(s.boxes.instance_tokens, overlay.object_colours(s.boxes.instance_id), strict=True)
    }
    for track in scene.tracks:
        way = track.map_SE3_box.translation_m
        if float(np.ptp(way, axis=0).max()) > _MOVED_M:
            strips.append(way)
            colours.append(first[track.instance_token])
    recording.log("world/tracks", rr.LineStrips3D(strips, colors=colours, radii=[_LINE]))


def log_lidars(recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, most_points: int) -> None:
    """Write lidar points in the map frame, thinned so that the scene has at most ``most_points``."""
    clouds: dict[str, tuple[list[int], list[FloatArray]]] = {}
    for row, sample in enumerate(samples):
        for scan in sample.lidars:
            if scan.there and scan.files.file(scan.filename).stat().st_size:
                rows, points = clouds.setdefault(scan.channel, ([], []))
                rows.append(row)
                points.append(scan.points_map_m())
    total = sum(len(cloud) for _, points in clouds.values() for cloud in points)
    every = max(-(-total // most_points), 1)
    for channel, (rows, points) in clouds.items():
        thin = [cloud[::every].astype(np.float32) for cloud in points]
        if not sum(map(len, thin)):
            continue
        columns = rr.Points3D.columns(positions=np.concatenate(thin)).partition([len(cloud) for cloud in thin])
        recording.log(f"world/lidars/{channel}", rr.Points3D.from_fields(radii=[_LINE], colors=[(120, 190, 255)]))
        recording.send_columns(f"world/lidars/{channel}", indexes=times.at(rows), columns=columns)


def log_depth(recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, most_points: int) -> None:
    """Write what the depth images show, buildings and all, as points in the images' colours, at most so many."""
    with_depth = sum("depth" in image.layers for sample in samples for image in sample.images)
    clouds: list[tuple[int, FloatArray, UInt8Array]] = []
    for row, sample in enumerate(samples):
        seen = [_cloud(image, most_points // with_depth) for image in sample.images if "depth" in image.layers]
        if seen:
            clouds.append((row, np.concatenate([p for p, _ in seen]), np.concatenate([c for _, c in seen])))
    if not clouds:
        return
    rows, points, colours = zip(*clouds, strict=True)
    columns = rr.Points3D.columns(
        positions=np.concatenate(points).astype(np.float32), colors=np.concatenate(colours)
    ).partition([len(cloud) for cloud in points])
    recording.log("world/depth", rr.Points3D.from_fields(radii=[_LINE]), static=True)
    recording.send_columns("world/depth", indexes=times.at(rows), columns=columns)


def _cloud(image: Image, most: int) -> tuple[FloatArray, UInt8Array]:
    """Return (N, 3) map points and (N, 3) colours of a grid over an image; none where a file is missing or damaged."""
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
