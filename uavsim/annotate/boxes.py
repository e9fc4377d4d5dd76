"""Boxes, tracks and attributes of all labelled actors at every keyframe, from that tick's snapshot."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.annotate.options import AnnotateOptions
from uavsim.dataset.vocabulary import ATTRIBUTES
from uavsim.geometry.se3 import SE3
from uavsim.records.classes import class_of_label
from uavsim.records.ingredients import actor_kind
from uavsim.records.labels import BoxLabels, LabelledActor
from uavsim.records.recording import ActorInfo, ActorStates, DroneState, RecordedFrame, Recording
from uavsim.typing import FloatArray, IntArray

_NUMBER: Final = {name: row for row, (name, _) in enumerate(ATTRIBUTES)}


def boxes_of_scene(recording: Recording, actors: Sequence[LabelledActor], options: AnnotateOptions) -> BoxLabels:
    """Return the boxes of all keyframes; visibility is filled in later.

    Args:
        recording: the scene.
        actors: the labelled actors, sorted by instance id.
        options: range and thresholds.
    """
    keyframes = [frame for frame in recording.frames if frame.sample_index is not None]
    ids = np.array([a.info.instance_id for a in actors], dtype=np.int64)
    chosen = [rows_in_range(frame.actors, frame.drones, ids, range_m=options.range_m) for frame in keyframes]
    states = {name: _column(keyframes, chosen, name) for name in _STATE_COLUMNS}
    map_SE3_actor = SE3.concatenate([f.actors.map_SE3_actor[rows] for f, rows in zip(keyframes, chosen, strict=True)])
    instance_id = states["instance_id"].astype(np.int64)
    sample_index = np.repeat(np.arange(len(keyframes)), [len(rows) for rows in chosen])
    actor_row = np.searchsorted(ids, instance_id)
    actor_SE3_box = SE3.stack([a.actor_SE3_box for a in actors])
    empty = np.zeros(len(instance_id), dtype=np.int64)
    return BoxLabels(
        sample_index=sample_index,
        instance_id=instance_id,
        actor_row=actor_row,
        map_SE3_box=map_SE3_actor @ actor_SE3_box[actor_row],
        map_SE3_actor=map_SE3_actor,
        ue_euler_deg=states["ue_euler_deg"],
        velocity_map_mps=states["velocity_map_mps"],
        angular_velocity_map_radps=states["angular_velocity_map_radps"],
        acceleration_map_mps2=states["acceleration_map_mps2"],
        attribute=_attributes(
            actors,
            actor_row,
            speed_mps=np.linalg.norm(states["velocity_map_mps"], axis=1),
            map_SE3_actor=map_SE3_actor,
            options=options,
        ),
        visible_px=empty,
        amodal_px=empty,
        visibility=np.ones_like(empty),
        missed_samples=_missed(sample_index, instance_id),
    )


_STATE_COLUMNS = {
    "instance_id": (),
    "ue_euler_deg": (3,),
    "velocity_map_mps": (3,),
    "angular_velocity_map_radps": (3,),
    "acceleration_map_mps2": (3,),
}


def rows_in_range(states: ActorStates, drones: Sequence[DroneState], ids: IntArray, *, range_m: float) -> IntArray:
    """Select the labelled actors near a drone.

    Args:
        states: states of N actors.
        drones: drone states at the same tick.
        ids: (A,) instance ids of the labelled actors.
        range_m: maximum horizontal distance from the nearest drone.

    Returns:
        (K,) int64 rows of ``states``, sorted by instance id.
    """
    if not len(states.instance_id):
        return np.zeros(0, dtype=np.int64)
    drones_m = np.array([drone.map_SE3_flu.translation_m[:2] for drone in drones]).reshape(-1, 2)
    distance_m = np.linalg.norm(states.map_SE3_actor.translation_m[:, None, :2] - drones_m[None], axis=2)
    near = (distance_m <= range_m).any(axis=1)
    rows = np.flatnonzero(near & np.isin(states.instance_id, ids))
    return rows[np.argsort(states.instance_id[rows], kind="stable")]


def _column(keyframes: Sequence[RecordedFrame], chosen: Sequence[IntArray], name: str) -> FloatArray:
    shape = _STATE_COLUMNS[name]
    parts = [
        np.asarray(getattr(frame.actors, name), dtype=np.float64).reshape(-1, *shape)[rows]
        for frame, rows in zip(keyframes, chosen, strict=True)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, *shape))


def _attributes(
    actors: Sequence[LabelledActor],
    actor_row: IntArray,
    *,
    speed_mps: FloatArray,
    map_SE3_actor: SE3,
    options: AnnotateOptions,
) -> IntArray:
    attribute = np.full(len(actor_row), -1, dtype=np.int64)
    order = np.argsort(actor_row, kind="stable")
    ends = np.searchsorted(actor_row[order], np.arange(len(actors) + 1))
    for number, actor in enumerate(actors):
        rows = order[ends[number] : ends[number + 1]]
        if len(rows):
            attribute[rows] = attributes_of_track(
                actor.info,
                actor.label,
                speed_mps=speed_mps[rows],
                origin_map_m=map_SE3_actor.translation_m[rows],
                options=options,
            )
    return attribute


def attributes_of_track(
    info: ActorInfo, label: str, *, speed_mps: FloatArray, origin_map_m: FloatArray, options: AnnotateOptions
) -> IntArray:
    """Return the nuScenes attribute of each box of a track: at most one for each box, as the devkit requires.

    Args:
        info: the actor.
        label: class of the actor.
        speed_mps: (K,) speeds from the simulator, m/s.
        origin_map_m: (K, 3) actor origins in the map frame, metres.
        options: thresholds.

    Returns:
        (K,) int64 rows of ``vocabulary.ATTRIBUTES``; -1 for no attribute.
    """
    moving = speed_mps > options.moving_mps
    behaviour = class_of_label(label).behaviour
    if behaviour in {"stands", "flies"}:
        return np.full(len(speed_mps), -1)
    if behaviour == "walks":
        return np.where(moving, _NUMBER["pedestrian.moving"], _NUMBER["pedestrian.standing"])
    if behaviour == "is_ridden":
        ridden = not actor_kind(info.kind).is_of_town and info.attributes.get("role_name") != "parked"
        return np.full(len(speed_mps), _NUMBER["cycle.with_rider" if ridden else "cycle.without_rider"])
    if _is_parked(info, moving_anywhere=bool(moving.any()), origin_map_m=origin_map_m, options=options):
        return np.full(len(speed_mps), _NUMBER["vehicle.parked"])
    return np.where(moving, _NUMBER["vehicle.moving"], _NUMBER["vehicle.stopped"])


def _is_parked(info: ActorInfo, *, moving_anywhere: bool, origin_map_m: FloatArray, options: AnnotateOptions) -> bool:
    if actor_kind(info.kind).is_parked:
        return True
    moved_m = float(np.linalg.norm(origin_map_m - origin_map_m[0], axis=1).max())
    return info.attributes.get("role_name") == "parked" and not moving_anywhere and moved_m < options.parked_moved_m


def _missed(sample_index: IntArray, instance_id: IntArray) -> IntArray:
    """Return (N,) int64 numbers of keyframes between each box and the previous one of its track."""
    order = np.argsort(instance_id, kind="stable")
    same = instance_id[order][1:] == instance_id[order][:-1]
    missed = np.zeros(len(instance_id), dtype=np.int64)
    gaps = sample_index[order][1:] - sample_index[order][:-1] - 1
    missed[order[1:][same]] = gaps[same]
    return missed
