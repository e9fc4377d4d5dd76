"""The ``uav_`` columns of the table ``sample_annotation``: functions from a scene's labels to one value per box.

The built-in columns are always written, in the order of ``COLUMNS``. A column of an installed package (entry points of the
group ``uavsim.label_columns``) is written if the dataset requests it, ``labels: {columns: [NAME]}``: datasets do not depend on
the installed packages.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from uavsim.errors import InputError
from uavsim.records.labels import LabelledActor, SceneLabels
from uavsim.registry import Registry
from uavsim.typing import AnyArray

LabelColumn: TypeAlias = Callable[[SceneLabels], Sequence[Any]]
"""Returns a JSON value for each row of ``labels.boxes``: text, Python numbers, or lists of them."""


def drones_that_see(labels: SceneLabels) -> list[list[int]]:
    """Return, for each box, the ids of the drones that see at least one pixel of it."""
    drones = labels.plan.swarm.drone_ids
    cameras = max(len(labels.plan.cameras), 1)
    sees_box: AnyArray = np.zeros((len(labels.boxes), len(drones)), dtype=bool)
    drone = labels.views.channel_index // cameras  # the channels of other agents come after theirs
    visible = (labels.views.visible_px > 0) & (drone < len(drones))
    sees_box[labels.views.box_row[visible], drone[visible]] = True
    lists: list[list[int]] = [[] for _ in range(len(labels.boxes))]
    for row, column in zip(*(axis.tolist() for axis in np.nonzero(sees_box)), strict=True):
        lists[row].append(drones[column])
    return lists


def _of_boxes(name: str) -> LabelColumn:
    """Return a column of ``BoxLabels``."""

    def column(labels: SceneLabels) -> list[Any]:
        values: list[Any] = getattr(labels.boxes, name).tolist()
        return values

    return column


def _of_actors(value: Callable[[LabelledActor], Any]) -> LabelColumn:
    """Return a column with one value per actor."""

    def column(labels: SceneLabels) -> list[Any]:
        values = [value(actor) for actor in labels.actors]
        return [values[row] for row in labels.boxes.actor_row.tolist()]

    return column


COLUMNS: Final[Registry[LabelColumn]] = Registry(
    "label_columns",
    {
        "uav_instance_id": _of_actors(lambda actor: actor.info.instance_id),
        "uav_blueprint": _of_actors(lambda actor: actor.info.blueprint),
        "uav_actor_translation": lambda labels: labels.boxes.map_SE3_actor.translation_m.tolist(),
        "uav_bbox_offset": _of_actors(lambda actor: actor.actor_SE3_box.translation_m.tolist()),
        "uav_euler_deg": _of_boxes("ue_euler_deg"),
        "uav_velocity": _of_boxes("velocity_map_mps"),
        "uav_angular_velocity": _of_boxes("angular_velocity_map_radps"),
        "uav_acceleration": _of_boxes("acceleration_map_mps2"),
        "uav_amodal_px": _of_boxes("amodal_px"),
        "uav_seen_by": drones_that_see,
        "uav_missed_samples": _of_boxes("missed_samples"),
    },
    what="label column",
    expects=Callable,
)


def check_extra_columns(names: Iterable[str]) -> None:
    """Verify that columns exist and are not built-in.

    Raises:
        UnknownNameError: no installed package has the column.
        InputError: the package of a column does not load, or the column is built-in.
    """
    for name in names:
        COLUMNS.pick(name)
        if name in COLUMNS.builtin:
            raise InputError(f"label column {name!r} is always written; leave it out of labels.columns")
