"""Planted defects of boxes; each edits a copy of the tables."""

import numpy as np

from tests.validate.disk import BUS, CAR, TRUCK, TURNING_CAR, VAN, WALKER, Disk
from tests.validate.planting import Defects

BOX_DEFECTS = defect = Defects()


def _turn_by(box: dict, degrees: float) -> None:
    half = np.radians(degrees) / 2
    w, x, y, z = box["rotation"]
    c, s = np.cos(half), np.sin(half)
    box["rotation"] = [c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w]


@defect("shape.size_order", sample=0)
def width_and_length_swapped(disk: Disk) -> None:
    with disk.track(TRUCK) as boxes:
        for box in boxes:
            w, length, h = box["size"]
            box["size"] = [length, w, h]


@defect("pixels.box")
def width_and_length_swapped_once_shows_in_pixels(disk: Disk) -> None:
    with disk.box() as box:
        box["size"] = [box["size"][1], box["size"][0], box["size"][2]]


@defect("pixels.box")
def yaw_mirrored(disk: Disk) -> None:
    with disk.box(VAN) as box:
        w, x, y, z = box["rotation"]
        box["rotation"] = [w, -x, y, -z]


@defect("motion.heading")
def nose_backward(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        _turn_by(disk.box_of(boxes), 180.0)


@defect("pixels.box")
def box_shifted_by_a_metre(disk: Disk) -> None:
    with disk.box() as box:
        box["translation"][1] += 1.0


@defect("motion.jump")
def box_shifted_by_a_metre_off_its_track(disk: Disk) -> None:
    with disk.box() as box:
        box["translation"][0] -= 1.0


@defect("shape.blueprint", sample=0)
def half_extents_for_sizes(disk: Disk) -> None:
    with disk.track() as boxes:
        for box in boxes:
            box["size"] = [value / 2 for value in box["size"]]


@defect("pixels.box")
def half_extents_show_in_pixels(disk: Disk) -> None:
    with disk.track(VAN) as boxes:
        for box in boxes:
            box["size"] = [value / 2 for value in box["size"]]


@defect("pixels.outline", sample=None)
def size_doubled(disk: Disk) -> None:
    with disk.track(VAN) as boxes:
        for box in boxes:
            box["size"] = [value * 2 for value in box["size"]]


@defect("shape.size_changes")
def size_changes_once(disk: Disk) -> None:
    with disk.box(VAN) as box:
        box["size"][2] += 0.3


@defect("motion.velocity")
def velocity_in_km_per_hour(disk: Disk) -> None:
    with disk.box() as box:
        box["uav_velocity"] = [3.6 * v for v in box["uav_velocity"]]


@defect("motion.velocity")
def velocity_with_y_unflipped(disk: Disk) -> None:
    with disk.track(TURNING_CAR) as boxes:
        for box in boxes:
            box["uav_velocity"][1] *= -1


@defect("shape.ground")
def box_under_the_road(disk: Disk) -> None:
    with disk.track() as boxes:
        for box in boxes:
            box["translation"][2] -= 2.0


@defect("motion.jump")
def y_not_flipped(disk: Disk) -> None:
    with disk.box() as box:
        box["translation"][1] *= -1


@defect("shape.upright")
def quaternion_scalar_last(disk: Disk) -> None:
    with disk.box(VAN) as box:
        w, x, y, z = box["rotation"]
        box["rotation"] = [x, y, z, w]


@defect("shape.rotation")
def quaternion_not_normalised(disk: Disk) -> None:
    with disk.box() as box:
        box["rotation"] = [1.01 * v for v in box["rotation"]]


@defect("shape.size")
def negative_size(disk: Disk) -> None:
    with disk.box() as box:
        box["size"][0] *= -1


@defect("shape.size")
def size_in_centimetres(disk: Disk) -> None:
    with disk.box(BUS) as box:
        box["size"] = [100 * v for v in box["size"]]


@defect("shape.category", sample=0)
def wrong_category(disk: Disk) -> None:
    truck = next(c["token"] for c in disk.read("category") if c["name"] == "vehicle.truck")
    with disk.row("instance", disk.box_of(disk.read("sample_annotation"))["instance_token"]) as instance:
        instance["category_token"] = truck


@defect("pixels.tag", sample=0)
def pedestrian_called_a_bicycle(disk: Disk) -> None:
    bicycle = next(c["token"] for c in disk.read("category") if c["name"] == "vehicle.bicycle")
    with disk.row("instance", disk.box_of(disk.read("sample_annotation"), WALKER)["instance_token"]) as instance:
        instance["category_token"] = bicycle


@defect("shape.visibility")
def wrong_visibility_level(disk: Disk) -> None:
    with disk.box(VAN) as box:
        box["visibility_token"] = "1"


@defect("pixels.count")
def visible_pixels_miscounted(disk: Disk) -> None:
    with disk.box() as box:
        box["num_lidar_pts"] += 7


@defect("shape.twins")
def same_box_twice(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        car, van = disk.box_of(boxes), disk.box_of(boxes, VAN)
        van["translation"] = list(car["translation"])


@defect("motion.jump")
def tracks_exchanged(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        one, other = disk.box_of(boxes, CAR), disk.box_of(boxes, TURNING_CAR)
        one["translation"], other["translation"] = other["translation"], one["translation"]


@defect("pixels.no_box")
def box_forgotten(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        lost = disk.box_of(boxes, VAN)
        disk.take_out(boxes, lost)
    with disk.row("instance", lost["instance_token"]) as instance:
        instance["nbr_annotations"] -= 1
