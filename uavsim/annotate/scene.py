"""Label a recording: deterministic, without a simulator.

``annotate(read_recording(folder))`` may run years later with other options; the same recording and options give the same
labels.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from uavsim.annotate.actors import labelled_actors
from uavsim.annotate.boxes import boxes_of_scene
from uavsim.annotate.lidar import points_on_boxes
from uavsim.annotate.lidar_files import write_lidar_files
from uavsim.annotate.options import AnnotateOptions, options_of_plan
from uavsim.annotate.views import views_of_scene
from uavsim.dataset.vocabulary import VISIBILITY_EDGES
from uavsim.errors import DatasetError
from uavsim.records.classes import VEHICLE_OF_TAG, class_of_label
from uavsim.records.ingredients import actor_kind, has_drones, has_props, ingredients_of
from uavsim.records.labels import UNLISTED, BoxLabels, IgnoredLabels, SceneLabels, ViewLabels
from uavsim.records.recording import Recording
from uavsim.typing import FloatArray, IntArray

_PLAIN_PX: Final = 100  # minimum size of a region that is certainly a vehicle


def annotate(recording: Recording, *, options: AnnotateOptions | None = None) -> SceneLabels:
    """Label every keyframe of a recording.

    Args:
        recording: with its masks (and depth, if recorded) in ``recording.folder``.
        options: options of labelling; default: those of the plan.

    Raises:
        DatasetError: a mask is missing or damaged, or the recording has no keyframe.
    """
    chosen = options or options_of_plan(recording.plan)
    if not any(frame.sample_index is not None for frame in recording.frames):
        raise DatasetError(f"{recording.folder}: the recording has no keyframe")
    actors = labelled_actors(recording, chosen)
    boxes = boxes_of_scene(recording, actors, chosen)
    views, ignored = views_of_scene(recording, actors, boxes)
    return SceneLabels(
        plan=recording.plan,
        facts=recording.facts,
        actors=actors,
        frames=recording.frames,
        boxes=replace(_with_visibility(boxes, views), points=points_on_boxes(recording, boxes)),
        views=views,
        ignored=ignored,
        notes=_notes(recording, ignored, actors_count=len(actors), options=chosen),
        columns=chosen.columns,
        ingredients={
            used.name: used.ingredient.labels.load()(recording, used.record)
            for used in ingredients_of(recording.plan.ingredients)
            if used.ingredient.labels is not None
        },
    )


def write_label_files(recording: Recording) -> dict[str, str]:
    """Write derived files into the recording's folder: LIDAR_TOP, point labels, files of ingredients.

    Returns:
        Path in the recording's folder -> path in the dataset, as ``layout.final_paths``.

    Raises:
        StorageError: the folder cannot be written.
        DatasetError: a file of the recording is missing or damaged, or does not fit the plan.
    """
    moves = write_lidar_files(recording)
    for used in ingredients_of(recording.plan.ingredients):
        if used.ingredient.files_made is not None:
            moves |= used.ingredient.files_made.load()(recording, used.record)
    return moves


def visibility_levels(visible_px: IntArray, amodal_px: IntArray) -> IntArray:
    """Return (N,) int64 nuScenes visibility tokens, 1..4, from (N,) pixel sums of boxes over all cameras of the sample."""
    share: FloatArray = visible_px / np.maximum(amodal_px, 1)
    return np.searchsorted(np.array(VISIBILITY_EDGES), share, side="right") + 1


def _with_visibility(boxes: BoxLabels, views: ViewLabels) -> BoxLabels:
    """Fill in visibility, and the pixel sums over the sample's cameras."""
    count = len(boxes)
    visible_px = np.bincount(views.box_row, weights=views.visible_px, minlength=count).astype(np.int64)
    amodal_px = np.bincount(views.box_row, weights=views.amodal_px, minlength=count).astype(np.int64)
    columns = {name: getattr(boxes, name) for name in BoxLabels.__dataclass_fields__}
    columns |= {
        "visible_px": visible_px,
        "amodal_px": amodal_px,
        "visibility": visibility_levels(visible_px, amodal_px),
    }
    return BoxLabels(**columns)


def unlisted_vehicles(recording: Recording, ignored: IgnoredLabels) -> str:
    """Return a note about town vehicles that masks show and the simulator does not list; "" without such vehicles.

    Args:
        recording: recording of a scene.
        ignored: regions of the scene without a box.
    """
    listed = any(actor_kind(info.kind).is_of_town for info in recording.actors)
    is_vehicle = np.isin(ignored.semantic_tag, list(VEHICLE_OF_TAG)) & (ignored.pixels >= _PLAIN_PX)
    if listed or "parked" not in recording.plan.ingredients or not is_vehicle.any():
        return ""
    return (
        f"{UNLISTED} (get_environment_objects, CARLA's issue 9424), yet {int(is_vehicle.sum())} regions "
        "of the masks show vehicles without an owner: they have no boxes and are ignore regions"
    )


def _notes(
    recording: Recording, ignored: IgnoredLabels, *, actors_count: int, options: AnnotateOptions
) -> tuple[str, ...]:
    environment = sum(actor_kind(info.kind).is_of_town for info in recording.actors)
    available = {"stands": has_props(recording.plan.ingredients), "flies": has_drones(recording.plan.ingredients)}
    classes = [name for name in options.classes if available.get(class_of_label(name).behaviour, True)]
    return (
        f"{actors_count} objects labelled within {options.range_m:g} m of a drone: {', '.join(classes)}",
        f"{environment} parked vehicles that are parts of the town: labelled",
        *filter(None, [unlisted_vehicles(recording, ignored)]),
    )
