"""The labelled actors of a recording and their constant attributes."""

from collections.abc import Sequence

import numpy as np

from uavsim.annotate.options import AnnotateOptions
from uavsim.annotate.sizes import size_of
from uavsim.records.classes import ObjectClass, class_of, uav3d_category
from uavsim.records.labels import LabelledActor
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
