"""Boxes, tracks and lidar points of a recording, in the map frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import rerun as rr

from uavsim.access import Sample, Scene
from uavsim.images import draw, overlay
from uavsim.typing import FloatArray
from uavsim.view.times import Times

__all__ = ["log_boxes", "log_lidars", "log_tracks"]

_MOVED_M: Final = 1.0
_UNSEEN_COLOUR: Final = (110, 110, 110)


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
    recording.send_columns("world/boxes", indexes=times.all(), columns=columns)
    recording.send_columns(
        "world/boxes", indexes=times.all(), columns=rr.Boxes3D.columns(show_labels=[False] * len(samples))
    )


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
    recording.log("world/tracks", rr.LineStrips3D(strips, colors=colours, radii=[0.15]))


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
        recording.log(f"world/lidars/{channel}", rr.Points3D.from_fields(radii=[0.06], colors=[(120, 190, 255)]))
        recording.send_columns(f"world/lidars/{channel}", indexes=times.at(rows), columns=columns)
