"""What can be wrong with a dataset's boxes, planted one at a time: each breaks a copy of the tables."""

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
    with disk.rows("sample_annotation") as boxes:
        for box in disk.track_of(boxes, TRUCK):
            w, length, h = box["size"]
            box["size"] = [length, w, h]


@defect("pixels.box")
def width_and_length_swapped_once_shows_in_pixels(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        box = disk.box_of(boxes)
        box["size"] = [box["size"][1], box["size"][0], box["size"][2]]


@defect("pixels.box")
def yaw_mirrored(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        box = disk.box_of(boxes, VAN)
        w, x, y, z = box["rotation"]
        box["rotation"] = [w, -x, y, -z]


@defect("motion.heading")
def nose_backward(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        _turn_by(disk.box_of(boxes), 180.0)


@defect("pixels.box")
def box_shifted_by_a_metre(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["translation"][1] += 1.0


@defect("motion.jump")
def box_shifted_by_a_metre_off_its_track(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["translation"][0] -= 1.0


@defect("shape.blueprint", sample=0)
def half_extents_for_sizes(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        for box in disk.track_of(boxes):
            box["size"] = [value / 2 for value in box["size"]]


@defect("pixels.box")
def half_extents_show_in_pixels(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        for box in disk.track_of(boxes, VAN):
            box["size"] = [value / 2 for value in box["size"]]


@defect("pixels.outline", sample=None)
def size_doubled(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        for box in disk.track_of(boxes, VAN):
            box["size"] = [value * 2 for value in box["size"]]


@defect("shape.size_changes")
def size_changes_once(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes, VAN)["size"][2] += 0.3


@defect("motion.velocity")
def velocity_in_km_per_hour(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        box = disk.box_of(boxes)
        box["uav_velocity"] = [3.6 * v for v in box["uav_velocity"]]


@defect("motion.velocity")
def velocity_with_y_unflipped(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        for box in disk.track_of(boxes, TURNING_CAR):
            box["uav_velocity"][1] *= -1


@defect("shape.ground")
def box_under_the_road(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        for box in disk.track_of(boxes):
            box["translation"][2] -= 2.0


@defect("motion.jump")
def y_not_flipped(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["translation"][1] *= -1


@defect("shape.upright")
def quaternion_scalar_last(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        box = disk.box_of(boxes, VAN)
        w, x, y, z = box["rotation"]
        box["rotation"] = [x, y, z, w]


@defect("shape.rotation")
def quaternion_not_normalised(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        box = disk.box_of(boxes)
        box["rotation"] = [1.01 * v for v in box["rotation"]]


@defect("shape.size")
def negative_size(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["size"][0] *= -1


@defect("shape.size")
def size_in_centimetres(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        box = disk.box_of(boxes, BUS)
        box["size"] = [100 * v for v in box["size"]]


@defect("shape.category", sample=0)
def wrong_category(disk: Disk) -> None:
    truck = next(c["token"] for c in disk.read("category") if c["name"] == "vehicle.truck")
    with disk.rows("instance") as instances:
        scene_tokens = {b["instance_token"] for b in disk.track_of(disk.read("sample_annotation"), CAR)}
        next(i for i in instances if i["token"] in scene_tokens)["category_token"] = truck


@defect("pixels.tag", sample=0)
def pedestrian_called_a_bicycle(disk: Disk) -> None:
    bicycle = next(c["token"] for c in disk.read("category") if c["name"] == "vehicle.bicycle")
    with disk.rows("instance") as instances:
        token = disk.track_of(disk.read("sample_annotation"), WALKER)[0]["instance_token"]
        next(i for i in instances if i["token"] == token)["category_token"] = bicycle


@defect("shape.visibility")
def wrong_visibility_level(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes, VAN)["visibility_token"] = "1"


@defect("pixels.count")
def visible_pixels_miscounted(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["num_lidar_pts"] += 7


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
        boxes.remove(lost)
        for box in boxes:
            box["next"] = lost["next"] if box["next"] == lost["token"] else box["next"]
            box["prev"] = lost["prev"] if box["prev"] == lost["token"] else box["prev"]
    with disk.rows("instance") as instances:
        next(i for i in instances if i["token"] == lost["instance_token"])["nbr_annotations"] -= 1
