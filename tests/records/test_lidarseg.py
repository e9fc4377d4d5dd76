"""The classes of lidar points: nuScenes' 32 numbers, each once, and a class for every tag of CARLA's."""

import numpy as np
import pytest

from uavsim.records.classes import CLASSES
from uavsim.records.lidarseg import ALL_CATEGORIES, index_of, index_of_tags


def test_the_numbers_are_0_to_31_in_order_and_each_name_stands_once():
    assert [category.index for category in ALL_CATEGORIES] == list(range(32))
    assert len({category.name for category in ALL_CATEGORIES}) == 32


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        (1, "flat.driveable_surface"),
        (9, "static.vegetation"),
        (12, "human.pedestrian.adult"),
        (14, "vehicle.car"),
        (0, "static.other"),
        (255, "static.other"),
    ],
)
def test_a_tag_of_carlas_has_the_class_of_what_it_is(tag, name):
    assert index_of_tags()[tag] == index_of(name)


def test_the_tags_of_our_classes_lead_to_their_own_categories():
    table = index_of_tags()
    for row in CLASSES:
        if row.tag is not None:
            assert table[row.tag] == row.category.index, row.label
    assert table.dtype == np.uint8
