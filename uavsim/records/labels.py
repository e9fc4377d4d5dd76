"""Records from ``annotate`` to ``dataset``: the labels of one scene, independent of the dialect.

Poses are in the ``map`` frame (right-handed, z up, metres), times in integer microseconds; large tables are columns. Rows of
``BoxLabels`` are sorted by (sample, instance id), those of ``ViewLabels`` by (box, channel), as both dialects write them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, RecordedFrame, SessionFacts
from uavsim.typing import FloatArray, IntArray

SizeSource = Literal["simulator", "table"]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledActor:
    """One actor with labels: its constant properties.

    Attributes:
        info: recorded properties.
        label: car, van, truck, bus, motorcycle, bicycle or pedestrian.
        category: strict nuScenes category, ``vehicle.car``.
        uav3d_category: UAV3D's category, the blueprint id with its name in CARLA 0.9.10.
        half_extent_m: (x, y, z) half sizes of the labels.
        actor_SE3_box: box of the labels in the actor's flu frame.
        size_source: ``table`` if the size table replaces a wrong extent of the simulator.
        removed_at_sample: first keyframe without the actor after it was removed; None if it stayed.
    """

    info: ActorInfo
    label: str
    category: str
    uav3d_category: str
    half_extent_m: tuple[float, float, float]
    actor_SE3_box: SE3
    size_source: SizeSource
    removed_at_sample: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BoxLabels:
    """All boxes of all keyframes, one row each.

    Attributes:
        sample_index: (N,) keyframe number.
        instance_id: (N,).
        actor_row: (N,) row in ``SceneLabels.actors``.
        map_SE3_box: (N,) box at its centre; scalar parts of the rotations are not negative.
        map_SE3_actor: (N,) the simulator's actor at its origin.
        ue_euler_deg: (N, 3) roll, pitch, yaw as the simulator reports them, in its left-handed frame.
        velocity_map_mps: (N, 3) from the simulator.
        angular_velocity_map_radps: (N, 3).
        acceleration_map_mps2: (N, 3).
        attribute: (N,) index into ``dataset.vocabulary.ATTRIBUTES``, -1 for none.
        visible_px: (N,) pixels of the instance in all cameras of the sample.
        amodal_px: (N,) pixels it would have in them with nothing in front.
        visibility: (N,) 1..4, nuScenes' visibility token.
        points: nuScenes' kind of sensor (lidar, radar) -> (N, agents) points of each agent's sensors on the object.
        missed_samples: (N,) keyframes without this instance since its last box; 0 in an unbroken track.
    """

    sample_index: IntArray
    instance_id: IntArray
    actor_row: IntArray
    map_SE3_box: SE3
    map_SE3_actor: SE3
    ue_euler_deg: FloatArray
    velocity_map_mps: FloatArray
    angular_velocity_map_radps: FloatArray
    acceleration_map_mps2: FloatArray
    attribute: IntArray
    visible_px: IntArray
    amodal_px: IntArray
    visibility: IntArray
    missed_samples: IntArray
    points: Mapping[str, IntArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.instance_id)


@dataclass(frozen=True, slots=True, eq=False)
class ViewLabels:
    """The views of the boxes: one row per box and camera image with a part of the box.

    Attributes:
        box_row: (M,) row in ``BoxLabels``.
        channel_index: (M,) index into ``plan.channels``.
        visible_px: (M,) pixels of the instance in the mask.
        amodal_px: (M,) estimated pixels without occlusion, at least ``visible_px``.
        occlusion: (M,) 1 - visible / amodal.
        truncation: (M,) share of the projected box that lies outside of the image.
        visible_box_px: (M, 4) tight x_min, y_min, x_max, y_max of the mask's pixels, pixel edges (a single pixel has
            width 1); zeros if nothing is visible.
        amodal_box_px: (M, 4) bounds of the projected box, clipped to the image.
        shutter_px: (M,) pixels of the instance in the mask of the image through the camera's shutter; 0 without one.
        shutter_box_px: (M, 4) bounds of these pixels, as ``visible_box_px``.
    """

    box_row: IntArray
    channel_index: IntArray
    visible_px: IntArray
    amodal_px: IntArray
    occlusion: FloatArray
    truncation: FloatArray
    visible_box_px: IntArray
    amodal_box_px: FloatArray
    shutter_px: IntArray
    shutter_box_px: IntArray

    def __len__(self) -> int:
        return len(self.box_row)


UNLISTED: Final = "the simulator lists no parked vehicles"
"""First words of a note on a scene with parked vehicles in masks but without boxes."""


@dataclass(frozen=True, slots=True, eq=False)
class IgnoredLabels:
    """Regions of keyframes' images with road users without boxes, which evaluations must ignore.

    Attributes:
        sample_index: (K,) keyframe number.
        channel_index: (K,) index into ``plan.channels``.
        box_px: (K, 4) x_min, y_min, x_max, y_max in pixel edges.
        pixels: (K,) numbers of pixels of the road user.
        semantic_tag: (K,) tags of these pixels.
    """

    sample_index: IntArray
    channel_index: IntArray
    box_px: IntArray
    pixels: IntArray
    semantic_tag: IntArray

    def __len__(self) -> int:
        return len(self.pixels)


@dataclass(frozen=True, slots=True, eq=False)
class SceneLabels:
    """One scene's labels, and the parts of its recording that tables contain.

    Attributes:
        plan: flown plan.
        facts: circumstances of the flight; tables omit values that vary between runs.
        actors: labelled actors with a box, by instance id.
        frames: recorded keyframes and sweeps, without images.
        boxes: rows of all keyframes.
        views: rows of all boxes in all images.
        ignored: regions of images that show a road user without a box.
        notes: remarks for users of the dataset.
        ingredients: further labels by ingredient.
        columns: names of ``label_columns.COLUMNS`` beside the built-in ones.
    """

    plan: ScenePlan
    facts: SessionFacts
    actors: tuple[LabelledActor, ...]
    frames: tuple[RecordedFrame, ...]
    boxes: BoxLabels
    views: ViewLabels
    ignored: IgnoredLabels
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    ingredients: dict[str, Any] = field(default_factory=dict)
