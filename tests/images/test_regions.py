"""Regions of road users without a box, in hand-drawn masks."""

import numpy as np

from uavsim.images.mask_pixels import runs_in
from uavsim.images.regions import unlabelled_regions

CAR, TRUCK, ROAD, TRAIN = 14, 15, 1, 17


def test_regions_of_unlabelled_road_users():
    ids, tags = np.zeros((12, 19), np.uint16), np.full((12, 19), ROAD, np.uint8)
    row_of_id = np.full(65536, -1, np.int32)
    row_of_id[7] = 0
    tags[1:3, 2:6] = CAR  # without an owner
    tags[3, 6] = CAR  # touches its corner
    tags[5:9, 10:14], ids[5:9, 10:14] = CAR, 7  # has a box
    tags[5:9, 14:16], ids[5:9, 14:16] = CAR, 8  # another number, without a box
    tags[10:12, 0:3] = TRUCK
    tags[10:12, 5:9] = TRAIN  # no class of ours

    found = unlabelled_regions(runs_in(ids, tags, np.arange(256) != ROAD), row_of_id)

    np.testing.assert_array_equal(found, [[2, 1, 7, 4, 9, CAR], [14, 5, 16, 9, 8, CAR], [0, 10, 3, 12, 6, TRUCK]])


def test_no_region_where_all_have_boxes():
    tags = np.full((4, 8), CAR, np.uint8)
    row_of_id = np.full(65536, -1, np.int32)
    row_of_id[3] = 0
    runs = runs_in(np.full(tags.shape, 3, np.uint16), tags, np.ones(256, np.bool_))
    assert unlabelled_regions(runs, row_of_id).shape == (0, 6)
