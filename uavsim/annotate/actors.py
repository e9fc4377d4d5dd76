"""Actors of a recording that get labels, and what does not change about them."""

from collections.abc import Sequence

import numpy as np

from uavsim.annotate.options import AnnotateOptions
from uavsim.annotate.sizes import size_of
from uavsim.records.classes import ObjectClass, class_of, uav3d_category
from uavsim.records.labels import LabelledActor
from uavsim.records.recording import ActorInfo, Recording


def labelled_actors(recording: Recording, options: AnnotateOptions) -> tuple[LabelledActor, ...]:
    """Return every actor of a chosen class that was alive at a keyframe, by instance id."""
    gone = _removed_at(recording)
    return tuple(
        _labelled(info, found, removed_at_sample=gone[info.instance_id])
        for info, found in chosen_actors(recording.actors, options)
        if info.instance_id in gone
    )


def chosen_actors(actors: Sequence[ActorInfo], options: AnnotateOptions) -> list[tuple[ActorInfo, ObjectClass]]:
    """Return the actors that the options ask for, by instance id, with their classes."""
    chosen = []
    for info in sorted(actors, key=lambda one: one.instance_id):
        found = class_of(info)
        if found and found.label in options.classes:
            chosen.append((info, found))
    return chosen


def _labelled(info: ActorInfo, found: ObjectClass, *, removed_at_sample: int | None) -> LabelledActor:
    half_extent_m, actor_SE3_box, source = size_of(info)
    return LabelledActor(
        info=info,
        label=found.label,
        category=found.category.name,
        uav3d_category=uav3d_category(info.blueprint),
        half_extent_m=half_extent_m,
        actor_SE3_box=actor_SE3_box,
        size_source=source,
        removed_at_sample=removed_at_sample,
    )


def _removed_at(recording: Recording) -> dict[int, int | None]:
    """Return, for each instance alive at a keyframe, the first keyframe after its last; None if alive to the end."""
    keyframes = [frame for frame in recording.frames if frame.sample_index is not None]
    last: dict[int, int] = {}
    for number, frame in enumerate(keyframes):
        last |= dict.fromkeys(np.asarray(frame.actors.instance_id).tolist(), number)
    return {i: None if k == len(keyframes) - 1 else k + 1 for i, k in last.items()}
