"""Tables of the strict dialect that all datasets share: categories, attributes, visibility levels, semantic tags.

Names, indices and colours are nuScenes' (nuscenes-devkit: ``utils/color_map.py``, lidarseg's category table), so that the
unmodified devkit evaluates and draws them.
"""

from typing import Final

from uavsim.dataset.rows import AttributeRow, CategoryRow, SemanticTagRow, VisibilityRow
from uavsim.dataset.tokens import token
from uavsim.records.classes import CATEGORIES, DRONE_CATEGORIES, PROP_CATEGORIES
from uavsim.records.lidarseg import ALL_CATEGORIES

ATTRIBUTES: Final = (
    ("vehicle.moving", "Vehicle is moving."),
    ("vehicle.stopped", "Vehicle with a driver is at a stop."),
    ("vehicle.parked", "Vehicle stands without a driver."),
    ("cycle.with_rider", "Somebody rides the bicycle or motorcycle."),
    ("cycle.without_rider", "Nobody rides the bicycle or motorcycle."),
    ("pedestrian.moving", "Walks or runs."),
    ("pedestrian.standing", "Stands still."),
)
"""(name, description); the devkit's detection evaluation knows these names."""

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


def category_token(name: str) -> str:
    """Return the token of a category, in either dialect."""
    return token("category", name)


def attribute_token(name: str) -> str:
    """Return the token of an attribute."""
    return token("attribute", name)


def category_rows(
    *, with_lidarseg: bool = False, with_props: bool = False, with_drones: bool = False
) -> list[CategoryRow]:
    """Return the table ``category``; ``color`` and ``index`` are for drawings of semantic masks.

    Args:
        with_lidarseg: all 32 categories of nuScenes-lidarseg in order of their index, as the devkit requires for point labels.
        with_props: include the categories of props.
        with_drones: include the category of drones.
    """
    some = (*CATEGORIES, *(PROP_CATEGORIES if with_props else ()), *(DRONE_CATEGORIES if with_drones else ()))
    return [
        {
            "token": category_token(c.name),
            "name": c.name,
            "description": c.description,
            "index": c.index,
            "color": list(c.colour_rgb),
        }
        for c in (ALL_CATEGORIES if with_lidarseg else sorted(some, key=lambda category: category.name))
    ]


def attribute_rows() -> list[AttributeRow]:
    """Return the table ``attribute``."""
    return [{"token": attribute_token(n), "name": n, "description": d} for n, d in ATTRIBUTES]


def semantic_tag_rows() -> list[SemanticTagRow]:
    """Return the table ``semantic_tag``: the values of the masks' red channel."""
    return [
        {"token": token("semantic_tag", index), "index": index, "name": name, "color": list(colour)}
        for index, (name, colour) in enumerate(SEMANTIC_TAGS)
    ]


def visibility_rows() -> list[VisibilityRow]:
    """Return the table ``visibility``."""
    return [{"token": t, "level": level, "description": text} for t, level, text in _VISIBILITY]
