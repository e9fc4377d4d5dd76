"""The classes of lidar points: nuScenes-lidarseg's 32 numbers, and their mapping from CARLA's semantic tags.

Source: nuScenes-lidarseg's category table and the devkit's ``utils/color_map.py``.
"""

from typing import Final

import numpy as np

from uavsim.records.classes import CATEGORIES, Category
from uavsim.typing import UInt8Array

_OF_NO_BOX: Final = tuple(
    Category(name, index, colour, "nuScenes-lidarseg.", detection="")
    for index, name, colour in (
        (0, "noise", (0, 0, 0)),
        (1, "animal", (70, 130, 180)),
        (3, "human.pedestrian.child", (135, 206, 235)),
        (4, "human.pedestrian.construction_worker", (100, 149, 237)),
        (5, "human.pedestrian.personal_mobility", (219, 112, 147)),
        (6, "human.pedestrian.police_officer", (0, 0, 128)),
        (7, "human.pedestrian.stroller", (240, 128, 128)),
        (8, "human.pedestrian.wheelchair", (138, 43, 226)),
        (9, "movable_object.barrier", (112, 128, 144)),
        (10, "movable_object.debris", (210, 105, 30)),
        (11, "movable_object.pushable_pullable", (105, 105, 105)),
        (12, "movable_object.trafficcone", (47, 79, 79)),
        (13, "static_object.bicycle_rack", (188, 143, 143)),
        (15, "vehicle.bus.bendy", (255, 127, 80)),
        (18, "vehicle.construction", (233, 150, 70)),
        (19, "vehicle.emergency.ambulance", (255, 83, 0)),
        (20, "vehicle.emergency.police", (255, 215, 0)),
        (22, "vehicle.trailer", (255, 140, 0)),
        (24, "flat.driveable_surface", (0, 207, 191)),
        (25, "flat.other", (175, 0, 75)),
        (26, "flat.sidewalk", (75, 0, 75)),
        (27, "flat.terrain", (112, 180, 60)),
        (28, "static.manmade", (222, 184, 135)),
        (29, "static.other", (255, 228, 196)),
        (30, "static.vegetation", (0, 175, 0)),
        (31, "vehicle.ego", (255, 240, 245)),
    )
)
ALL_CATEGORIES: Final = tuple(sorted((*CATEGORIES, *_OF_NO_BOX), key=lambda category: category.index))
"""All 32 categories in order of their index, as the devkit requires."""

_NAME_OF_TAG: Final = dict.fromkeys((3, 4, 5, 6, 7, 8, 26, 28), "static.manmade") | {
    1: "flat.driveable_surface",
    2: "flat.sidewalk",
    9: "static.vegetation",
    10: "flat.terrain",
    11: "noise",
    12: "human.pedestrian.adult",
    13: "vehicle.bicycle",
    14: "vehicle.car",
    15: "vehicle.truck",
    16: "vehicle.bus.rigid",
    18: "vehicle.motorcycle",
    19: "vehicle.bicycle",
    23: "flat.other",
    24: "flat.driveable_surface",
    25: "flat.other",
    27: "flat.other",
}
"""CARLA's tag -> category; all other tags (static and dynamic props, trains, unlabelled) are ``static.other``."""


def index_of(name: str) -> int:
    """Return the point label of a category."""
    return next(category.index for category in ALL_CATEGORIES if category.name == name)


def index_of_tags() -> UInt8Array:
    """Return (256,) point labels by CARLA's semantic tag."""
    table = np.full(256, index_of("static.other"), dtype=np.uint8)
    for tag, name in _NAME_OF_TAG.items():
        table[tag] = index_of(name)
    return table
