"""Every box in every image of its keyframe, counted in the stored masks, camera by camera."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uavsim.annotate.amodal import amodal_pixels
from uavsim.annotate.fill import fill_of_views
from uavsim.annotate.reach import reaches
from uavsim.annotate.solids import CameraImages, PlacedCamera, SeenInView, Solids
from uavsim.annotate.visibility import rows_of_ids, see
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
    """Return what all cameras see of all boxes, rows by (box, channel), and of road users without a box.

    Raises:
        DatasetError: a keyframe has no mask, or a mask of another size than its camera.
    """
    half_m = np.array([a.half_extent_m for a in actors], dtype=np.float64).reshape(-1, 3)[boxes.actor_row]
    solids = Solids.of(boxes.map_SE3_box, half_m)
    channel_of = {channel: index for index, channel in enumerate(recording.plan.channels)}
    seen: list[SeenInView] = []
    place: list[AnyArray] = []  # rows of box number, channel number
    camera_m: list[FloatArray] = []
    ignored: list[IntArray] = []  # rows of sample, channel number, region
    through: list[IntArray] = []  # rows of pixels and their bounds in the image through the shutter
    for frame in recording.frames:
        if frame.sample_index is None:
            continue
        rows = np.flatnonzero(boxes.sample_index == frame.sample_index)
        views = _seen_in_frame(recording, frame, solids.take(rows), boxes.instance_id[rows])
        own = _own_instances(recording, frame)
        for reading, at_stamp in zip(frame.cameras, views, strict=True):
            counted = _through_shutter(recording, reading, boxes.instance_id[rows])
            view = _with_late(at_stamp, counted[:, 0])
            if (instance := own.get(reading.sensor.agent)) is not None:
                view = _rows_of_view(view, boxes.instance_id[rows[view.row]] != instance)
            seen.append(view)
            through.append(counted[view.row])
            at = np.tile([frame.sample_index, channel_of[reading.channel]], (len(view.ignored), 1))
            ignored.append(np.concatenate([at, view.ignored], axis=1))
            place.append(np.stack([rows[view.row], np.full(len(view.row), channel_of[reading.channel])], axis=1))
            camera_m.append(np.broadcast_to(reading.map_SE3_sensor.translation_m, (len(view.row), 3)))
    shown = _assemble(
        actors, boxes, seen, np.concatenate(through), place=np.concatenate(place), camera_m=np.concatenate(camera_m)
    )
    return shown, _ignored(np.concatenate(ignored))


def _through_shutter(recording: Recording, reading: SensorReading, instance_id: IntArray) -> IntArray:
    """Return (N, 5) pixels of N boxes in the mask of a camera's shutter and their bounds; zeros where it has none."""
    if SHUTTER_INSTANCE not in reading.files:
        return np.zeros((len(instance_id), 5), np.int64)
    runs = mask_pixels.runs_in(*_mask(recording, reading, SHUTTER_INSTANCE), np.ones(256, np.bool_))
    return mask_pixels.extents_by_row(runs, rows_of_ids(instance_id), len(instance_id))


def _with_late(view: SeenInView, counted: IntArray) -> SeenInView:
    """Add the boxes that come into an image only while its shutter is open: at its stamp they are outside of it."""
    late = np.setdiff1d(np.flatnonzero(counted), view.row)
    if not len(late):
        return view
    added = {name: np.zeros((len(late), *getattr(view, name).shape[1:]), np.int64) for name in _COLUMNS}
    added |= {"row": late, "truncation": np.ones(len(late))}
    return replace(view, **{name: np.concatenate([getattr(view, name), rows]) for name, rows in added.items()})


def _own_instances(recording: Recording, frame: RecordedFrame) -> dict[Agent, int]:
    """Return the instance of each agent that has a box and none in its own images."""
    self_labelling_agents = {a for group in recording.plan.ground if group.labels_itself for a in group.agents}
    own = instances_of_agents(recording.plan, recording.actors, frame.states)
    return {agent: instance for agent, instance in own.items() if agent not in self_labelling_agents}


def _rows_of_view(view: SeenInView, rows: BoolArray) -> SeenInView:
    """Return some rows of a view; regions without a box are the whole image's."""
    columns = {name: getattr(view, name) for name in SeenInView.__dataclass_fields__ if name != "ignored"}
    return replace(view, **{name: column[rows] for name, column in columns.items()})


def _seen_in_frame(
    recording: Recording, frame: RecordedFrame, solids: Solids, instance_id: IntArray
) -> list[SeenInView]:
    """Return what each camera of a keyframe shows of its boxes."""
    cameras = [_camera(reading) for reading in frame.cameras]
    row_of_id = rows_of_ids(instance_id)
    return [
        see(solids, instance_id, camera, _images(recording, frame, reading), reach=reach, row_of_id=row_of_id)
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
    seen: Sequence[SeenInView],
    through: IntArray,
    *,
    place: IntArray,
    camera_m: FloatArray,
) -> ViewLabels:
    order = np.lexsort((place[:, 1], place[:, 0]))
    column = {name: np.concatenate([getattr(v, name) for v in seen])[order] for name in _COLUMNS}
    box_row, channel_index = place[order].T
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
        shutter_px=through[order, 0],
        shutter_box_px=through[order, 1:],
    )


_COLUMNS = ("visible_px", "silhouette_px", "blockers_px", "truncation", "visible_box_px", "amodal_box_px")


def _camera(reading: SensorReading) -> PlacedCamera:
    return PlacedCamera.of(reading.map_SE3_sensor, reading.camera)


def _images(recording: Recording, frame: RecordedFrame, reading: SensorReading) -> CameraImages:
    """Read what one camera took.

    Raises:
        DatasetError: there is no mask, or one of another size.
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
    """Read a mask of the camera's size."""
    path, camera = recording.folder / reading.files[kind], reading.camera
    ids, tags = mask_pixels.decode(path)
    if ids.shape != (camera.height_px, camera.width_px):
        raise DatasetError(
            f"{path}: mask is {ids.shape[1]}x{ids.shape[0]} but its camera is {camera.width_px}x{camera.height_px}"
        )
    return ids, tags
