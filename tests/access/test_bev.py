from pathlib import Path

import numpy as np
import pytest

import uavsim
from uavsim.geometry import quaternion


def test_boxes_fill_their_footprints(strict: Path) -> None:
    """Columns lie along the first drone's heading, rows to its left, the drone in the middle."""
    sample = next(uavsim.open(strict).samples())
    vehicles, people = sample.bev((), ("vehicle", "human"), size_m=(120.0, 80.0), metres_per_px=0.25)
    assert vehicles.shape == people.shape == (320, 480)
    drone, boxes = sample.images[0].map_SE3_flu, sample.boxes
    turn = np.exp(-1j * quaternion.yaw(drone.quat_wxyz))
    local_m = (boxes.map_SE3_box.translation_m - drone.translation_m)[:, :2] @ [1, 1j] * turn
    is_inside = (np.abs(local_m.real) < 55) & (np.abs(local_m.imag) < 35)
    is_car = np.char.startswith(boxes.categories, "vehicle.")
    assert (is_inside & is_car).sum() > 2
    assert (is_inside == (np.abs(local_m.real) < 65) & (np.abs(local_m.imag) < 45)).all()  # none across the border
    columns, rows = np.floor([local_m.real / 0.25 + 240, local_m.imag / 0.25 + 160]).astype(int)[:, is_inside]
    np.testing.assert_array_equal(vehicles[rows, columns], is_car[is_inside])
    area_m2 = boxes.size_lwh_m[:, 0] * boxes.size_lwh_m[:, 1]
    assert vehicles.sum() * 0.0625 == pytest.approx(area_m2[is_inside & is_car].sum(), rel=0.15)
