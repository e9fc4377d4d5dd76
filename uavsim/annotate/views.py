"""Measure every box in every image of its keyframe, camera by camera."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uavsim.annotate.fill import amodal_pixels, fill_of_views
from uavsim.annotate.reach import reaches
from uavsim.annotate.solids import CameraImages, PlacedCamera, Solids, ViewMeasurements
from uavsim.annotate.visibility import measure_view, rows_of_ids
from uavsim.errors import DatasetError
from uavsim.images import codec, mask_pixels
from uavsim.records.labels import BoxLabels, IgnoredLabels, LabelledActor, ViewLabels
from uavsim.records.modalities import DEPTH, INSTANCE, SHUTTER_INSTANCE
from uavsim.records.recording import RecordedFrame, Recording, SensorReading, instances_of_agents
from uavsim.records.sensors import Agent
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array


def views_of_scene(
    recording: Recording, actors: Sequence[LabelledActor], boxes: BoxLabels
) -> tuple[ViewLabels, IgnoredLabels]:
    """Measure all boxes in all images of a scene.

    Args:
        recording: recording of the scene, with its masks.
        actors: the labelled actors.
        boxes: boxes of all keyframes.

    Returns:
        Views sorted by (box, channel), and regions of road users without a box.

    Raises:
        DatasetError: a keyframe has no mask, or one of another size than its camera.
    """
    half_m = np.array([a.half_extent_m for a in actors], dtype=np.float64).reshape(-1, 3)[boxes.actor_row]
    solids = Solids.of(boxes.map_SE3_box, half_m)
    channel_of = {channel: index for index, channel in enumerate(recording.plan.channels)}
    measured: list[ViewMeasurements] = []
    keys: list[AnyArray] = []  # (M, 2) box row, channel number
    camera_m: list[FloatArray] = []
    ignored: list[IntArray] = []  # (K, 8) sample, channel number, region
    shutter_px: list[IntArray] = []  # (M, 5) pixels and their bounds in the shutter's mask
    for frame in recording.frames:
        if frame.sample_index is None:
            continue
        rows = np.flatnonzero(boxes.sample_index == frame.sample_index)
        views = _measure_frame(recording, frame, solids.take(rows), boxes.instance_id[rows])
        unlabelled = _unlabelled_instances(recording, frame)
        for reading, view_at_stamp in zip(frame.cameras, views, strict=True):
            counted = _count_in_shutter(recording, reading, boxes.instance_id[rows])
            view = _with_late_boxes(view_at_stamp, counted[:, 0])
            if (instance := unlabelled.get(reading.sensor.agent)) is not None:
                view = _select_rows(view, boxes.instance_id[rows[view.row]] != instance)
            measured.append(view)
            shutter_px.append(counted[view.row])
            sample_and_channel = np.tile([frame.sample_index, channel_of[reading.channel]], (len(view.ignored), 1))
            ignored.append(np.concatenate([sample_and_channel, view.ignored], axis=1))
            keys.append(np.stack([rows[view.row], np.full(len(view.row), channel_of[reading.channel])], axis=1))
            camera_m.append(np.broadcast_to(reading.map_SE3_sensor.translation_m, (len(view.row), 3)))
    labels = _assemble(
        actors,
        boxes,
        measured,
        np.concatenate(shutter_px),
        keys=np.concatenate(keys),
        camera_m=np.concatenate(camera_m),
    )
    return labels, _ignored(np.concatenate(ignored))


def _count_in_shutter(recording: Recording, reading: SensorReading, instance_id: IntArray) -> IntArray:
    """Return (N, 5) int64 pixel counts and bounds of N boxes in the shutter's mask; zeros for a camera without one."""
    if SHUTTER_INSTANCE not in reading.files:
        return np.zeros((len(instance_id), 5), np.int64)
    runs = mask_pixels.runs_in(*_mask(recording, reading, SHUTTER_INSTANCE), np.ones(256, np.bool_))
    return mask_pixels.extents_by_row(runs, rows_of_ids(instance_id), len(instance_id))


def _with_late_boxes(view: ViewMeasurements, counted: IntArray) -> ViewMeasurements:
    """Add the boxes that are outside an image at its timestamp and enter while its shutter is open."""
    late = np.setdiff1d(np.flatnonzero(counted), view.row)
    if not len(late):
        return view
    added = {name: np.zeros((len(late), *getattr(view, name).shape[1:]), np.int64) for name in _COLUMNS}
    added |= {"row": late, "truncation": np.ones(len(late))}
    return replace(view, **{name: np.concatenate([getattr(view, name), rows]) for name, rows in added.items()})


def _unlabelled_instances(recording: Recording, frame: RecordedFrame) -> dict[Agent, int]:
    """Map each agent that is not labelled in its own images to its instance id."""
    self_labelling_agents = {a for group in recording.plan.ground if group.labels_itself for a in group.agents}
    instances = instances_of_agents(recording.plan, recording.actors, frame.states)
    return {agent: instance for agent, instance in instances.items() if agent not in self_labelling_agents}


def _select_rows(view: ViewMeasurements, rows: BoolArray) -> ViewMeasurements:
    """Select rows of a view; ignored regions belong to the whole image and stay."""
    columns = {name: getattr(view, name) for name in ViewMeasurements.__dataclass_fields__ if name != "ignored"}
    return replace(view, **{name: column[rows] for name, column in columns.items()})


def _measure_frame(
    recording: Recording, frame: RecordedFrame, solids: Solids, instance_id: IntArray
) -> list[ViewMeasurements]:
    """Measure the boxes of a keyframe in each of its images."""
    cameras = [_camera(reading) for reading in frame.cameras]
    row_of_id = rows_of_ids(instance_id)
    return [
        measure_view(solids, instance_id, camera, _images(recording, frame, reading), reach=reach, row_of_id=row_of_id)
        for camera, reading, reach in zip(cameras, frame.cameras, reaches(solids, cameras), strict=True)
    ]


def _ignored(rows: IntArray) -> IgnoredLabels:
    return IgnoredLabels(
        sample_index=rows[:, 0],
        channel_index=rows[:, 1],
        box_px=rows[:, 2:6],
        pixels=rows[:, 6],
        semantic_tag=rows[:, 7],
    )


def _assemble(
    actors: Sequence[LabelledActor],
    boxes: BoxLabels,
    measured: Sequence[ViewMeasurements],
    shutter_px: IntArray,
    *,
    keys: IntArray,
    camera_m: FloatArray,
) -> ViewLabels:
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    column = {name: np.concatenate([getattr(v, name) for v in measured])[order] for name in _COLUMNS}
    box_row, channel_index = keys[order].T
    fill = fill_of_views(actors, boxes, box_row=box_row, camera_m=camera_m[order], column=column)
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
        shutter_px=shutter_px[order, 0],
        shutter_box_px=shutter_px[order, 1:],
    )


_COLUMNS = ("visible_px", "silhouette_px", "blockers_px", "truncation", "visible_box_px", "amodal_box_px")


def _camera(reading: SensorReading) -> PlacedCamera:
    return PlacedCamera.of(reading.map_SE3_sensor, reading.camera)


def _images(recording: Recording, frame: RecordedFrame, reading: SensorReading) -> CameraImages:
    """Read a camera's mask, and its depth if recorded.

    Raises:
        DatasetError: the mask is missing or of another size.
    """
    depth = reading.files.get(DEPTH)
    if INSTANCE not in reading.files:
        raise DatasetError(
            f"{recording.plan.scene_name}: {reading.channel} has no mask at step {frame.step}; "
            "add the sensor 'instance' to the rig"
        )
    ids, tags = _mask(recording, reading, INSTANCE)
    depth_m = codec.decode_depth(recording.folder / depth) if depth else None
    return CameraImages(ids, tags, depth_m)


def _mask(recording: Recording, reading: SensorReading, kind: str) -> tuple[UInt16Array, UInt8Array]:
    """Read a mask and check its size against the camera's."""
    path, camera = recording.folder / reading.files[kind], reading.camera
    ids, tags = mask_pixels.decode(path)
    if ids.shape != (camera.height_px, camera.width_px):
        raise DatasetError(
            f"{path}: mask is {ids.shape[1]}x{ids.shape[0]} but its camera is {camera.width_px}x{camera.height_px}"
        )
    return ids, tags
