"""The labelled actors of a recording and their constant attributes.

Some CARLA versions report bounding boxes of two-wheelers (and of a few others) as zero, infinite or beside the actor. An
implausible box is replaced by a size of ``records.classes``, close to CARLA's vehicle catalogue, and the instance is flagged
``uav_size_source: table``.
"""

from collections.abc import Sequence

import numpy as np

from uavsim.annotate.options import AnnotateOptions
from uavsim.geometry.se3 import SE3
from uavsim.records.actors import has_believable_box
from uavsim.records.classes import ObjectClass, class_of, class_of_label, uav3d_category
from uavsim.records.ingredients import actor_kind
from uavsim.records.labels import LabelledActor, SizeSource
from uavsim.records.recording import ActorInfo, Recording


def labelled_actors(recording: Recording, options: AnnotateOptions) -> tuple[LabelledActor, ...]:
    """Return the actors of the chosen classes that were alive at a keyframe, sorted by instance id."""
    removed_at = _removed_at(recording)
    return tuple(
        _labelled(info, object_class, removed_at_sample=removed_at[info.instance_id])
        for info, object_class in chosen_actors(recording.actors, options)
        if info.instance_id in removed_at
    )


def chosen_actors(actors: Sequence[ActorInfo], options: AnnotateOptions) -> list[tuple[ActorInfo, ObjectClass]]:
    """Return the actors of the classes in ``options`` with their classes, sorted by instance id."""
    chosen = []
    for info in sorted(actors, key=lambda one: one.instance_id):
        object_class = class_of(info)
        if object_class and object_class.label in options.classes:
            chosen.append((info, object_class))
    return chosen


def _labelled(info: ActorInfo, object_class: ObjectClass, *, removed_at_sample: int | None) -> LabelledActor:
    half_extent_m, actor_SE3_box, source = size_of(info)
    return LabelledActor(
        info=info,
        label=object_class.label,
        category=object_class.category.name,
        uav3d_category=uav3d_category(info.blueprint),
        half_extent_m=half_extent_m,
        actor_SE3_box=actor_SE3_box,
        size_source=source,
        removed_at_sample=removed_at_sample,
    )


def _removed_at(recording: Recording) -> dict[int, int | None]:
    """Map each instance alive at a keyframe to the first keyframe without it; None if it lives to the end."""
    keyframes = [frame for frame in recording.frames if frame.sample_index is not None]
    last: dict[int, int] = {}
    for number, frame in enumerate(keyframes):
        last |= dict.fromkeys(np.asarray(frame.actors.instance_id).tolist(), number)
    return {i: None if k == len(keyframes) - 1 else k + 1 for i, k in last.items()}


def size_of(info: ActorInfo) -> tuple[tuple[float, float, float], SE3, SizeSource]:
    """Return an actor's half extent in metres, ``actor_SE3_box``, and their source."""
    kind = actor_kind(info.kind)
    if has_believable_box(info):
        return info.half_extent_m, info.actor_SE3_box, "simulator"
    found = class_of(info) or class_of_label("car")
    half = found.sizes.get(info.blueprint, found.half_extent_m)
    centre_z_m = 0.0 if kind.origin_at_middle else half[2]
    return half, SE3(info.actor_SE3_box.quat_wxyz, np.array([0.0, 0.0, centre_z_m])), "table"
