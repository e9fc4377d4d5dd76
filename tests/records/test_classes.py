"""Object classes are complete and distinct."""

from collections import Counter
from itertools import chain
from typing import Literal

import numpy as np
import pytest

from uavsim.geometry.se3 import SE3
from uavsim.records.actors import believable
from uavsim.records.classes import (
    CATEGORIES,
    CLASSES,
    DETECTION_CLASSES,
    LABELS,
    PROP_CATEGORIES,
    ObjectClass,
    class_of,
    class_of_label,
    detection_class,
)
from uavsim.records.recording import ActorInfo


def test_each_label_has_one_class() -> None:
    assert [c.label for c in CLASSES] == list(LABELS)


@pytest.mark.parametrize("column", ["base_types", "blueprints", "uav3d_names", "sizes"])
def test_no_two_classes_claim_the_same(column: str) -> None:
    counts = Counter(chain.from_iterable(getattr(c, column) for c in CLASSES))
    assert [name for name, count in counts.items() if count > 1] == []


def test_tags_are_unique() -> None:
    tags = [c.tag for c in CLASSES if c.tag is not None]
    assert len(tags) == len(set(tags))


@pytest.mark.parametrize("row", CLASSES, ids=lambda row: row.label)
def test_a_row_is_whole(row: ObjectClass) -> None:
    half_length, half_width, _ = row.half_extent_m
    assert half_length >= half_width
    prop = row.behaviour in {"stands", "flies"}
    for size in (row.half_extent_m, *row.sizes.values()):
        assert believable(size, np.array([0.0, 0.0, size[2]]), prop=prop)
    assert 0.0 < row.fill <= 1.0
    assert row.category.detection in DETECTION_CLASSES or (prop and not row.category.detection)
    assert (detection_class(row.category.name) or "") == row.category.detection
    assert class_of_label(row.label) is row
    for name in row.blueprints:
        kinds: dict[str, Literal["vehicle", "walker", "prop"]] = {"walker": "walker", "static": "prop"}
        kind = kinds.get(name.partition(".")[0], "vehicle")
        box = SE3(np.array([1.0, 0, 0, 0]), np.array([0, 0, 1.0]))
        found = class_of(ActorInfo(1, 1, kind, name, "car", (2, 1, 1), box, 14, {}))
        assert found is row, f"{name} is {found and found.label}: its own name decides"


def test_categories_differ_in_everything() -> None:
    for column in ("name", "index", "colour_rgb"):
        values = [getattr(category, column) for category in (*CATEGORIES, *PROP_CATEGORIES)]
        assert len(values) == len(set(values))
