"""How much of its box's silhouette an object covers: a car seen from above nearly all, seen along its side less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from uavsim.records.labels import BoxLabels, LabelledActor
from uavsim.records.recording import Recording
from uavsim.typing import AnyArray, FloatArray, IntArray

__all__ = ["fill_of_views"]

FILL_OF_LABEL: Final = {
    "car": 0.85,
    "van": 0.9,
    "truck": 0.9,
    "bus": 0.95,
    "motorcycle": 0.6,
    "bicycle": 0.5,
    "pedestrian": 0.6,
}
"""Where nothing better is known."""


def fill_of_views(
    recording: Recording,
    actors: Sequence[LabelledActor],
    boxes: BoxLabels,
    *,
    box_row: IntArray,
    channel_index: IntArray,
    column: Mapping[str, AnyArray],
) -> FloatArray:
    """Return the share (M,) of the silhouette that the object covers in each view."""
    del recording, channel_index, column
    of_actor = np.array([FILL_OF_LABEL[a.label] for a in actors], dtype=np.float64)
    return of_actor[boxes.actor_row[box_row]]
