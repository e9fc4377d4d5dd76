"""Derived arrays of boxes follow the poses, also of a selection."""

import numpy as np

from uavsim.annotate.solids import Solids
from uavsim.geometry.se3 import SE3


def solids() -> Solids:
    """Return two boxes, one rotated by 90 degrees about z."""
    quat_wxyz = np.array([[1.0, 0, 0, 0], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]])
    return Solids.of(SE3(quat_wxyz, np.array([[0.0, 0, 0], [5.0, 0, 0]])), np.array([[2.0, 1, 1], [3.0, 1, 1]]))


def test_rotation_is_from_the_map_to_the_box() -> None:
    turned = solids().box_R_map[1]
    assert np.allclose(turned @ [0.0, 1, 0], [1.0, 0, 0])  # the rotated box points along the map's y
    assert np.allclose(turned @ [1.0, 0, 0], [0.0, -1, 0])


def test_take_selects_all_arrays() -> None:
    both = solids()
    one = both.take(np.array([1]))
    assert (len(both), len(one)) == (2, 1)
    assert one.half_m.tolist() == [[3.0, 1, 1]]
    assert one.map_SE3_box.translation_m.tolist() == [[5.0, 0, 0]]
    assert np.array_equal(one.box_R_map[0], both.box_R_map[1])
