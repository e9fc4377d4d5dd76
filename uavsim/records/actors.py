"""The actors of a scene: constant properties, and states at one tick."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.records.ingredients import actor_kind
from uavsim.typing import BoolArray, FloatArray, IntArray

MOVER_TAGS: Final = (12, 13, 14, 15, 16, 17, 18, 19)  # pedestrian .. bicycle in CARLA's palette
_SMALLEST_M: Final = 0.08  # half of the narrowest side that a real actor has
_THINNEST_PROP_M: Final = 0.005  # half of a plate's
_LARGEST_M: Final = 12.0
_FARTHEST_OFFSET_M: Final = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class ActorInfo:
    """The constant properties of one actor of a scene.

    Attributes:
        instance_id: 1..65535 in spawn order, the same in every run of the plan; the id in the masks on disk (G + 256 * B) and
            the key of ``ActorStates``.
        simulator_actor_id: the simulator's id in this run; never in tables.
        kind: kind of actor of an ingredient; see ``actor_kind`` of ``records/ingredients.py``.
        blueprint: CARLA blueprint id as the server reports it, ``vehicle.lincoln.mkz_2020``.
        base_type: CARLA's ``base_type`` attribute (car, truck, van, bus, motorcycle, bicycle) or "".
        half_extent_m: (x, y, z) half length, width, height of CARLA's bounding box; NaN if CARLA reports no finite place for
            it.
        actor_SE3_box: box in the actor's flu frame (CARLA's with y flipped); without rotation for all known blueprints.
        semantic_tag: CARLA's 28-tag palette (14 car, 15 truck, 16 bus, 18 motorcycle, 19 bicycle, 12 pedestrian).
        attributes: the blueprint attributes as strings (colour, role_name, number_of_wheels, ...).
    """

    instance_id: int
    simulator_actor_id: int
    kind: str
    blueprint: str
    base_type: str
    half_extent_m: tuple[float, float, float]
    actor_SE3_box: SE3
    semantic_tag: int
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ActorStates:
    """All actors alive at one tick, from that tick's snapshot; rows sorted by instance id.

    Attributes:
        instance_id: (N,).
        map_SE3_actor: (N,) actor's flu at its origin (for vehicles: bottom centre, as CARLA has it).
        ue_euler_deg: (N, 3) the simulator's (roll, pitch, yaw) in its left-handed frame, exact float32 values; the uav3d
            dialect writes them without another rounding.
        velocity_map_mps: (N, 3).
        angular_velocity_map_radps: (N, 3).
        acceleration_map_mps2: (N, 3).
    """

    instance_id: IntArray
    map_SE3_actor: SE3
    ue_euler_deg: FloatArray
    velocity_map_mps: FloatArray
    angular_velocity_map_radps: FloatArray
    acceleration_map_mps2: FloatArray


def labelled_tags(actors: Sequence[ActorInfo]) -> BoolArray:
    """Return (256,) bool, the semantic tags of actors that may have labels."""
    actor_tags = [info.semantic_tag for info in actors if actor_kind(info.kind).has_own_tag]
    return np.isin(np.arange(256), [*MOVER_TAGS, *actor_tags])


def believable(half_extent_m: tuple[float, float, float], box_actor_m: FloatArray, *, prop: bool = False) -> bool:
    """Return whether a box with its centre at (3,) from the actor's origin is plausible for a vehicle, person or prop."""
    half, offset = np.array(half_extent_m), np.asarray(box_actor_m)
    if not np.isfinite(half).all():
        return False
    in_range = (half >= (_THINNEST_PROP_M if prop else _SMALLEST_M)).all() and (half <= _LARGEST_M).all()
    centred = abs(offset[0]) < max(_FARTHEST_OFFSET_M, half[0]) and abs(offset[1]) < half[1] + 0.5
    return bool(in_range and centred)


def has_believable_box(info: ActorInfo) -> bool:
    """Return whether the box that the simulator reports for an actor is plausible."""
    kind = actor_kind(info.kind)
    return believable(info.half_extent_m, info.actor_SE3_box.translation_m, prop=kind.is_prop or kind.is_drone)
