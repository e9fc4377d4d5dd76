"""Every box in every image of its keyframe: reads the masks once, camera by camera."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uavsim.annotate.fill import fill_of_views
from uavsim.annotate.silhouettes import Camera, Solids
from uavsim.annotate.visibility import Pictures, SeenInView, amodal_pixels, see
from uavsim.errors import DatasetError
from uavsim.images import codec
from uavsim.records.labels import BoxLabels, LabelledActor, ViewLabels
from uavsim.records.recording import CameraShot, RecordedFrame, Recording
from uavsim.typing import AnyArray, IntArray

__all__ = ["views_of_scene"]


def views_of_scene(recording: Recording, actors: Sequence[LabelledActor], boxes: BoxLabels) -> ViewLabels:
    """Return what all cameras see of all boxes, rows by (box, channel).

    Raises:
        DatasetError: a keyframe has no mask, or a mask of another size than its camera.
    """
    half_m = np.array([a.half_extent_m for a in actors], dtype=np.float64).reshape(-1, 3)[boxes.actor_row]
    solids = Solids(boxes.map_t_box_m, boxes.map_q_box_wxyz, half_m)
    channel_of = {channel: index for index, channel in enumerate(recording.plan.channels)}
    seen: list[SeenInView] = []
    channel_index: list[IntArray] = []
    box_row: list[IntArray] = []
    for frame in recording.frames:
        if frame.sample_index is None:
            continue
        rows = np.flatnonzero(boxes.sample_index == frame.sample_index)
        for shot in frame.shots:
            view = see(solids.take(rows), boxes.instance_id[rows], _camera(shot), _pictures(recording, frame, shot))
            seen.append(view)
            box_row.append(rows[view.row])
            channel_index.append(np.full(len(view.row), channel_of[shot.channel], dtype=np.int64))
    return _assemble(recording, actors, boxes, seen, box_row=_joined(box_row), channel_index=_joined(channel_index))


def _assemble(
    recording: Recording,
    actors: Sequence[LabelledActor],
    boxes: BoxLabels,
    seen: Sequence[SeenInView],
    *,
    box_row: IntArray,
    channel_index: IntArray,
) -> ViewLabels:
    order = np.lexsort((channel_index, box_row))
    column = {name: _joined([getattr(v, name) for v in seen])[order] for name in _COLUMNS}
    box_row, channel_index = box_row[order], channel_index[order]
    fill = fill_of_views(recording, actors, boxes, box_row=box_row, channel_index=channel_index, column=column)
    amodal_px = amodal_pixels(
        column["visible_px"], silhouette_px=column["silhouette_px"], blockers_px=column["blockers_px"], fill=fill
    )
    return ViewLabels(
        box_row=box_row,
        channel_index=channel_index,
        visible_px=column["visible_px"],
        amodal_px=amodal_px,
        occlusion=1.0 - column["visible_px"] / np.maximum(amodal_px, 1),
        truncation=column["truncation"],
        visible_box_px=column["visible_box_px"],
        amodal_box_px=column["amodal_box_px"],
    )


_COLUMNS = ("visible_px", "silhouette_px", "blockers_px", "truncation", "visible_box_px", "amodal_box_px")


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _camera(shot: CameraShot) -> Camera:
    return Camera(shot.map_t_optical_m, shot.map_q_optical_wxyz, shot.intrinsic, shot.width_px, shot.height_px)


def _pictures(recording: Recording, frame: RecordedFrame, shot: CameraShot) -> Pictures:
    if shot.mask is None:
        raise DatasetError(
            f"{recording.plan.scene_name}: {shot.channel} has no mask at step {frame.step}; "
            "add the sensor 'instance' to the rig"
        )
    ids, tags = codec.mask_ids_and_tags(recording.folder / shot.mask)
    if ids.shape != (shot.height_px, shot.width_px):
        raise DatasetError(f"{recording.folder / shot.mask}: is {ids.shape[1]}x{ids.shape[0]}, its camera is not")
    depth_m = codec.decode_depth(recording.folder / shot.depth) if shot.depth else None
    return Pictures(ids, tags, depth_m)
