"""Classes of voxels: Occ3D-nuScenes' 17 and free, with tables for tags, categories and other formats.

Sources: nuScenes-lidarseg's challenge classes (32 -> 16); Occ3D-nuScenes' label list; UniOcc's colour map;
OccuFly's docs/dataset_notes.md.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.records.lidarseg import ALL_CATEGORIES, index_of_tags
from uavsim.typing import UInt8Array

NAMES: Final = (
    "others", "barrier", "bicycle", "bus", "car", "construction_vehicle", "motorcycle", "pedestrian", "traffic_cone",
    "trailer", "truck", "driveable_surface", "other_flat", "sidewalk", "terrain", "manmade", "vegetation", "free",
)  # fmt: skip
FREE: Final = 17
UNKNOWN: Final = 255
"""Class of voxels that no ray hits or passes, such as the inside of buildings."""
NO_SURFACE: Final = 255
"""Class of the sky's tag."""

_SKY: Final = 11
_OF_CATEGORY: Final = {
    "movable_object.barrier": 1,
    "vehicle.bicycle": 2,
    "vehicle.bus.bendy": 3,
    "vehicle.bus.rigid": 3,
    "vehicle.car": 4,
    "vehicle.construction": 5,
    "vehicle.motorcycle": 6,
    "human.pedestrian.adult": 7,
    "human.pedestrian.child": 7,
    "human.pedestrian.construction_worker": 7,
    "human.pedestrian.police_officer": 7,
    "movable_object.trafficcone": 8,
    "vehicle.trailer": 9,
    "vehicle.truck": 10,
    "flat.driveable_surface": 11,
    "flat.other": 12,
    "flat.sidewalk": 13,
    "flat.terrain": 14,
    "static.manmade": 15,
    "static.vegetation": 16,
}
"""nuScenes' category -> class; other categories, drones included, are ``others``."""
_UNIOCC: Final = (0, 0, 2, 1, 1, 1, 3, 4, 5, 1, 1, 7, 8, 8, 8, 9, 6, 10)
_OCCUFLY: Final = (9, 9, 12, 13, 13, 13, 13, 11, 9, 36, 36, 1, 3, 2, 6, 16, 8, 0)


def class_of_tags() -> UInt8Array:
    """Return (256,) uint8 classes by CARLA's semantic tag; the sky is ``NO_SURFACE``."""
    of_index = np.zeros(len(ALL_CATEGORIES), dtype=np.uint8)
    for category in ALL_CATEGORIES:
        of_index[category.index] = _OF_CATEGORY.get(category.name, 0)
    table = of_index[index_of_tags()]
    table[_SKY] = NO_SURFACE
    return table


def classes_of_categories(names: Sequence[str]) -> UInt8Array:
    """Return (N,) uint8 classes of category names."""
    return np.array([_OF_CATEGORY.get(name, 0) for name in names], dtype=np.uint8)


def uniocc_classes(semantics: UInt8Array) -> UInt8Array:
    """Return UniOcc's numbers of (...) classes: large vehicles are cars, 10 is free and unknown."""
    table = np.full(256, _UNIOCC[FREE], dtype=np.uint8)
    table[: len(_UNIOCC)] = _UNIOCC
    return table[semantics]


def occufly_classes(semantics: UInt8Array) -> UInt8Array:
    """Return OccuFly's numbers of (...) classes: 0 is empty, 255 unknown, vegetation ``tree``, other ground ``dirt``."""
    table = np.full(256, UNKNOWN, dtype=np.uint8)
    table[: len(_OCCUFLY)] = _OCCUFLY
    return table[semantics]
