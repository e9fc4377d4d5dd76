"""The words of the strict dialect that are the same in every data set: categories, attributes, visibility levels.

Names, indices and colours are nuScenes' own (nuscenes-devkit: ``utils/color_map.py``, lidarseg's category table), so that the
unmodified devkit evaluates and draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.dataset.tokens import token
from uavsim.typing import JsonDict, UInt8Array

__all__ = [
    "ATTRIBUTES",
    "CATEGORIES",
    "LIDARSEG_CATEGORIES",
    "SEMANTIC_TAGS",
    "TABLES",
    "VISIBILITY_EDGES",
    "Category",
    "attribute_rows",
    "attribute_token",
    "category_rows",
    "category_token",
    "lidarseg_index",
    "lidarseg_index_of_tags",
    "semantic_tag_rows",
    "visibility_rows",
]

TABLES: Final = (
    "category",
    "attribute",
    "visibility",
    "instance",
    "sensor",
    "calibrated_sensor",
    "ego_pose",
    "log",
    "scene",
    "sample",
    "sample_data",
    "sample_annotation",
    "map",
)
"""The 13 tables that the devkit opens."""


@dataclass(frozen=True, slots=True)
class Category:
    """One strict category with nuScenes' index and colour."""

    name: str
    index: int
    colour_rgb: tuple[int, int, int]
    description: str


CATEGORIES: Final = (
    Category("human.pedestrian.adult", 2, (0, 0, 230), "Adult on foot."),
    Category("vehicle.bicycle", 14, (220, 20, 60), "Bicycle, with its rider."),
    Category("vehicle.bus.rigid", 16, (255, 69, 0), "Bus."),
    Category("vehicle.car", 17, (255, 158, 0), "Car, van, jeep, pick-up or taxi."),
    Category("vehicle.motorcycle", 21, (255, 61, 99), "Motorcycle or scooter, with its rider."),
    Category("vehicle.truck", 23, (255, 99, 71), "Lorry, fire engine, ambulance or other heavy vehicle."),
)

LIDARSEG_CATEGORIES: Final = tuple(
    Category(name, index, colour, "nuScenes-lidarseg.")
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
"""The categories of point labels that no box of ours has."""

_NAME_OF_TAG: Final = {
    1: "flat.driveable_surface",
    2: "flat.sidewalk",
    3: "static.manmade",
    4: "static.manmade",
    5: "static.manmade",
    6: "static.manmade",
    7: "static.manmade",
    8: "static.manmade",
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
    26: "static.manmade",
    27: "flat.other",
    28: "static.manmade",
}
"""CARLA's tag -> lidarseg category; every other tag (static and dynamic props, trains, unlabelled) is ``static.other``."""

ATTRIBUTES: Final = (
    ("vehicle.moving", "Vehicle is moving."),
    ("vehicle.stopped", "Vehicle with a driver is at a stop."),
    ("vehicle.parked", "Vehicle stands without a driver."),
    ("cycle.with_rider", "Somebody rides the bicycle or motorcycle."),
    ("cycle.without_rider", "Nobody rides the bicycle or motorcycle."),
    ("pedestrian.moving", "Walks or runs."),
    ("pedestrian.standing", "Stands still."),
)
"""(name, description), all of them names that the devkit's detection evaluation knows."""

SEMANTIC_TAGS: Final = (
    ("unlabeled", (0, 0, 0)),
    ("road", (128, 64, 128)),
    ("sidewalk", (244, 35, 232)),
    ("building", (70, 70, 70)),
    ("wall", (102, 102, 156)),
    ("fence", (190, 153, 153)),
    ("pole", (153, 153, 153)),
    ("traffic_light", (250, 170, 30)),
    ("traffic_sign", (220, 220, 0)),
    ("vegetation", (107, 142, 35)),
    ("terrain", (152, 251, 152)),
    ("sky", (70, 130, 180)),
    ("pedestrian", (220, 20, 60)),
    ("rider", (255, 0, 0)),
    ("car", (0, 0, 142)),
    ("truck", (0, 0, 70)),
    ("bus", (0, 60, 100)),
    ("train", (0, 80, 100)),
    ("motorcycle", (0, 0, 230)),
    ("bicycle", (119, 11, 32)),
    ("static", (110, 190, 160)),
    ("dynamic", (170, 120, 50)),
    ("other", (55, 90, 80)),
    ("water", (45, 60, 150)),
    ("road_line", (157, 234, 50)),
    ("ground", (81, 0, 81)),
    ("bridge", (150, 100, 100)),
    ("rail_track", (230, 150, 140)),
    ("guard_rail", (180, 165, 180)),
)
"""(name, RGB) of the red channel's values in the masks. Source: CARLA docs, "Semantic segmentation camera", 0.9.14 on."""

VISIBILITY_EDGES: Final = (0.4, 0.6, 0.8)
_VISIBILITY: Final = (
    ("1", "v0-40", "visibility of whole object is between 0 and 40%"),
    ("2", "v40-60", "visibility of whole object is between 40 and 60%"),
    ("3", "v60-80", "visibility of whole object is between 60 and 80%"),
    ("4", "v80-100", "visibility of whole object is between 80 and 100%"),
)


def lidarseg_index(name: str) -> int:
    """Return the point label of a category."""
    return next(c.index for c in (*CATEGORIES, *LIDARSEG_CATEGORIES) if c.name == name)


def lidarseg_index_of_tags() -> UInt8Array:
    """Return (256,) point labels by CARLA's semantic tag."""
    table = np.full(256, lidarseg_index("static.other"), dtype=np.uint8)
    for tag, name in _NAME_OF_TAG.items():
        table[tag] = lidarseg_index(name)
    return table


def category_token(name: str) -> str:
    """Return the token of a category, in either dialect."""
    return token("category", name)


def attribute_token(name: str) -> str:
    """Return the token of an attribute."""
    return token("attribute", name)


def category_rows(*, with_lidarseg: bool = False) -> list[JsonDict]:
    """Return the table ``category``; ``color`` and ``index`` are for whoever colours semantic masks.

    Args:
        with_lidarseg: all 32 of nuScenes-lidarseg in the order of their index, which the devkit insists on for point labels.
    """
    chosen = sorted((*CATEGORIES, *LIDARSEG_CATEGORIES), key=lambda c: c.index) if with_lidarseg else CATEGORIES
    return [
        {
            "token": category_token(c.name),
            "name": c.name,
            "description": c.description,
            "index": c.index,
            "color": list(c.colour_rgb),
        }
        for c in chosen
    ]


def attribute_rows() -> list[JsonDict]:
    """Return the table ``attribute``."""
    return [{"token": attribute_token(n), "name": n, "description": d} for n, d in ATTRIBUTES]


def semantic_tag_rows() -> list[JsonDict]:
    """Return the table ``semantic_tag``: what the masks' red channel means."""
    return [
        {"token": token("semantic_tag", index), "index": index, "name": name, "color": list(colour)}
        for index, (name, colour) in enumerate(SEMANTIC_TAGS)
    ]


def visibility_rows() -> list[JsonDict]:
    """Return the table ``visibility``."""
    return [{"token": t, "level": level, "description": text} for t, level, text in _VISIBILITY]
