"""What can be wrong with a data set, planted one at a time: each breaks a copy and says which finding must come where."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.validate.disk import BUS, CAR, SCENE, TRUCK, TURNING_CAR, VAN, WALKER, Disk
from uavsim.images import codec

FRONT, LEFT, BOTTOM = (f"CAMERA_{name}_id_0" for name in ("FRONT", "LEFT", "BOTTOM"))
FRONT_1 = "CAMERA_FRONT_id_1"


@dataclass(frozen=True)
class Defect:
    """One way to break a data set and the finding that must name it; "" = any place, None = at the data set."""

    plant: Callable[[Disk], None]
    code: str
    scene: str | None = SCENE
    sample: int | None = 2
    channel: str = ""


DEFECTS: dict[str, Defect] = {}


def defect(code: str, *, scene: str | None = SCENE, sample: int | None = 2, channel: str = ""):
    def keep(plant: Callable[[Disk], None]) -> Callable[[Disk], None]:
        DEFECTS[plant.__name__] = Defect(plant, code, scene, sample, channel)
        return plant

    return keep


def _turn_by(box: dict, degrees: float) -> None:
    half = np.radians(degrees) / 2
    w, x, y, z = box["rotation"]
    c, s = np.cos(half), np.sin(half)
    box["rotation"] = [c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w]


# ------------------------------------------------------------------------------------------------------------- boxes
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


# ------------------------------------------------------------------------------------------------------------ tables
@defect("schema.field")
def point_count_is_a_float(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["num_lidar_pts"] = float(disk.box_of(boxes)["num_lidar_pts"])


@defect("schema.field")
def position_is_nan(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["translation"][0] = float("nan")


@defect("schema.table", scene=None)
def table_missing(disk: Disk) -> None:
    disk.path("attribute").unlink()


@defect("schema.table", scene=None)
def table_cut_off(disk: Disk) -> None:
    disk.replace(disk.path("map"), disk.path("map").read_bytes()[:-20])


@defect("referential.token")
def token_duplicated(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes, VAN)["token"] = disk.box_of(boxes, CAR)["token"]


@defect("referential.key")
def next_dangles(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["next"] = "0" * 32


@defect("referential.chain")
def chain_leaves_its_instance(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes, CAR)["next"] = disk.box_of(boxes, VAN, 3)["token"]


@defect("referential.chain", channel=FRONT)
def chain_runs_backward(disk: Disk) -> None:
    with disk.rows("sample_data") as images:
        here = next(i for i in images if i["token"] == disk.data_token(FRONT))
        here["next"], here["prev"] = here["prev"], here["next"]


@defect("referential.count", sample=None)
def scene_count_wrong(disk: Disk) -> None:
    with disk.rows("scene") as scenes:
        next(s for s in scenes if s["name"] == SCENE)["nbr_samples"] += 1


@defect("referential.count", sample=0)
def instance_count_wrong(disk: Disk) -> None:
    token = disk.box_of(disk.read("sample_annotation"))["instance_token"]
    with disk.rows("instance") as instances:
        next(i for i in instances if i["token"] == token)["nbr_annotations"] = 2


@defect("referential.end", sample=None)
def last_sample_is_not_last(disk: Disk) -> None:
    with disk.rows("scene") as scenes:
        next(s for s in scenes if s["name"] == SCENE)["last_sample_token"] = disk.sample(3)["token"]


@defect("referential.instance", sample=None, scene="scene_02")
def instance_in_two_scenes(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        mine = disk.box_of(boxes, VAN)["instance_token"]
        disk.box_of(boxes, VAN, 2, "scene_02")["instance_token"] = mine


@defect("referential.attributes")
def two_attributes(disk: Disk) -> None:
    both = [a["token"] for a in disk.read("attribute")[:2]]
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes)["attribute_tokens"] = both


@defect("referential.lidar_top", channel="LIDAR_TOP")
def sample_without_lidar_top(disk: Disk) -> None:
    token = disk.data_token("LIDAR_TOP")
    with disk.rows("sample_data") as images:
        lost = next(i for i in images if i["token"] == token)
        images.remove(lost)
        for row in images:
            row["next"] = lost["next"] if row["next"] == token else row["next"]
            row["prev"] = lost["prev"] if row["prev"] == token else row["prev"]


@defect("referential.keyframes", channel=LEFT)
def camera_missing_in_one_sample(disk: Disk) -> None:
    token = disk.data_token(LEFT)
    with disk.rows("sample_data") as images:
        next(i for i in images if i["token"] == token)["is_key_frame"] = False


@defect("referential.calibration", channel=LEFT)
def calibration_of_another_channel(disk: Disk) -> None:
    with disk.rows("sample_data") as images:
        left = next(i for i in images if i["token"] == disk.data_token(LEFT))
        front = next(i for i in images if i["token"] == disk.data_token(FRONT))
        left["calibrated_sensor_token"] = front["calibrated_sensor_token"]


@defect("referential.map", sample=None)
def log_on_no_map(disk: Disk) -> None:
    log = disk.scene()["log_token"]
    with disk.rows("map") as maps:
        for row in maps:
            row["log_tokens"] = [t for t in row["log_tokens"] if t != log]


@defect("referential.name", scene=None)
def category_of_no_one(disk: Disk) -> None:
    with disk.rows("category") as categories:
        next(c for c in categories if c["name"] == "vehicle.truck")["name"] = "vehicle.tesla.cybertruck"


# -------------------------------------------------------------------------------------------------------------- time
@defect("temporal.unit", scene=None)
def nanoseconds(disk: Disk) -> None:
    for table in ("sample", "sample_data", "ego_pose"):
        with disk.rows(table) as rows:
            for row in rows:
                row["timestamp"] *= 1000


@defect("temporal.unit")
def one_stamp_in_seconds(disk: Disk) -> None:
    token = disk.sample()["token"]
    with disk.rows("sample") as samples:
        next(s for s in samples if s["token"] == token)["timestamp"] //= 1_000_000


@defect("temporal.tick", channel=BOTTOM)
def camera_late(disk: Disk) -> None:
    token = disk.data_token(BOTTOM)
    with disk.rows("sample_data") as images:
        next(i for i in images if i["token"] == token)["timestamp"] += 50_000


@defect("temporal.ego_pose", channel=FRONT)
def ego_pose_of_the_tick_before(disk: Disk) -> None:
    before = disk.data_token(FRONT, 1)
    pose = next(i for i in disk.read("sample_data") if i["token"] == before)["ego_pose_token"]
    with disk.rows("sample_data") as images:
        next(i for i in images if i["token"] == disk.data_token(FRONT))["ego_pose_token"] = pose


@defect("pixels.view", channel=FRONT)
def ego_pose_stale_with_a_fresh_stamp(disk: Disk) -> None:
    tokens = [disk.data_token(FRONT, i) for i in (1, 2)]
    with disk.rows("ego_pose") as poses:
        stale, fresh = (next(p for p in poses if p["token"] == t) for t in tokens)
        fresh["translation"], fresh["rotation"] = stale["translation"], stale["rotation"]


@defect("temporal.interval", sample=3)
def keyframe_gap(disk: Disk) -> None:
    lost = disk.sample()
    with disk.rows("sample") as samples:
        samples[:] = [s for s in samples if s["token"] != lost["token"]]
        for row in samples:
            row["next"] = lost["next"] if row["next"] == lost["token"] else row["next"]
            row["prev"] = lost["prev"] if row["prev"] == lost["token"] else row["prev"]


# ---------------------------------------------------------------------------------------------------------- images
@defect("visual.other_tick", channel=LEFT)
def image_of_the_next_tick(disk: Disk) -> None:
    here, after = disk.image(LEFT), disk.image(LEFT, 3)
    one, other = here.read_bytes(), after.read_bytes()
    disk.replace(here, other)
    disk.replace(after, one)


@defect("visual.frozen", channel=BOTTOM)
def camera_frozen(disk: Disk) -> None:
    first = disk.image(BOTTOM, 0).read_bytes()
    for index in range(1, 5):
        disk.replace(disk.image(BOTTOM, index), first)


@defect("visual.duplicate", channel=FRONT_1)
def image_of_another_camera(disk: Disk) -> None:
    disk.replace(disk.image(FRONT_1), disk.image(BOTTOM).read_bytes())


@defect("visual.black", channel=FRONT)
def image_black(disk: Disk) -> None:
    disk.replace(disk.image(FRONT), codec.encode_png(np.zeros((216, 384, 3), np.uint8)))


@defect("visual.capture", channel=FRONT)
def exposure_jumps(disk: Disk) -> None:
    dark = codec.decode_rgb(disk.image(FRONT)) // 3
    disk.replace(disk.image(FRONT), codec.encode_png(dark))


@defect("files.missing", channel=FRONT)
def image_missing(disk: Disk) -> None:
    disk.image(FRONT).unlink()


@defect("files.missing", channel="LIDAR_TOP")
def lidar_missing(disk: Disk) -> None:
    disk.image("LIDAR_TOP").unlink()


@defect("files.truncated", channel=LEFT)
def image_truncated(disk: Disk) -> None:
    data = disk.image(LEFT).read_bytes()
    disk.replace(disk.image(LEFT), data[: len(data) * 2 // 3])


@defect("files.decode", channel=LEFT)
def image_is_a_text(disk: Disk) -> None:
    disk.replace(disk.image(LEFT), b"<html>404</html>")


@defect("files.size", channel=LEFT)
def image_of_another_size(disk: Disk) -> None:
    half = codec.decode_rgb(disk.image(LEFT))[::2, ::2].copy()
    disk.replace(disk.image(LEFT), codec.encode_png(half))


@defect("files.missing", scene=None)
def map_missing(disk: Disk) -> None:
    (disk.root / disk.read("map")[0]["filename"]).unlink()


@defect("files.format", channel=LEFT)
def format_told_wrongly(disk: Disk) -> None:
    token = disk.data_token(LEFT)
    with disk.rows("sample_data") as images:
        next(i for i in images if i["token"] == token)["fileformat"] = "jpg"


@defect("pixels.view", channel=FRONT)
def mask_of_another_camera(disk: Disk) -> None:
    disk.replace(disk.mask(FRONT), disk.mask(BOTTOM).read_bytes())


@defect("pixels.view", channel=BOTTOM)
def mask_of_the_next_tick(disk: Disk) -> None:
    disk.replace(disk.mask(BOTTOM), disk.mask(BOTTOM, 3).read_bytes())


@defect("pixels.view", channel=BOTTOM)
def intrinsics_wrong(disk: Disk) -> None:
    token = disk.data_token(BOTTOM)
    calibration = next(i for i in disk.read("sample_data") if i["token"] == token)["calibrated_sensor_token"]
    with disk.rows("calibrated_sensor") as rows:
        matrix = next(c for c in rows if c["token"] == calibration)["camera_intrinsic"]
        matrix[0][0] *= 1.4
        matrix[1][1] *= 1.4


# ---------------------------------------------------------------------------------------------------- whole data set
@defect("splits.leak", sample=None)
def scene_leaked(disk: Disk) -> None:
    splits = json.loads(disk.path("splits").read_text())
    splits["uav_val"].append(SCENE)
    disk.write("splits", splits)


@defect("splits.unknown", scene="scene_99", sample=None)
def split_names_a_scene_that_is_not_there(disk: Disk) -> None:
    splits = json.loads(disk.path("splits").read_text())
    splits["uav_val"].append("scene_99")
    disk.write("splits", splits)


@defect("coverage.spawned", sample=None)
def few_vehicles_spawned(disk: Disk) -> None:
    log = disk.scene()["log_token"]
    with disk.rows("log") as logs:
        next(row for row in logs if row["token"] == log)["uav_vehicles_spawned"] = 3


@defect("coverage.empty", sample=None)
def scene_without_boxes(disk: Disk) -> None:
    own = {row["token"] for row in disk.read("sample") if row["scene_token"] == disk.scene()["token"]}
    kept = [box for box in disk.read("sample_annotation") if box["sample_token"] not in own]
    tracks = {box["instance_token"] for box in kept}
    disk.write("sample_annotation", kept)
    disk.write("instance", [row for row in disk.read("instance") if row["token"] in tracks])


@defect("splits.name", scene="scene_00", sample=None)
def two_scenes_of_one_name(disk: Disk) -> None:
    with disk.rows("scene") as scenes:
        next(row for row in scenes if row["name"] == SCENE)["name"] = "scene_00"


@defect("temporal.devkit_gap", scene=None, sample=None)
def keyframes_two_seconds_apart(disk: Disk) -> None:
    first = min(row["timestamp"] for row in disk.read("sample"))
    for table in ("sample", "sample_data", "ego_pose"):
        with disk.rows(table) as rows:
            for row in rows:
                row["timestamp"] = first + 4 * (row["timestamp"] - first)


# ------------------------------------------------------------------------------------------------ rows of single images
@defect("files.path", channel=FRONT)
def image_outside_of_the_data_set(disk: Disk) -> None:
    token = disk.data_token(FRONT)
    with disk.rows("sample_data") as rows:
        row = next(r for r in rows if r["token"] == token)
        row["filename"] = "samples/../../" + row["filename"]


@defect("files.shared", channel=LEFT)
def one_file_for_two_images(disk: Disk) -> None:
    one, other = disk.data_token(FRONT), disk.data_token(LEFT)
    with disk.rows("sample_data") as rows:
        filename = next(r["filename"] for r in rows if r["token"] == one)
        next(r for r in rows if r["token"] == other)["filename"] = filename


@defect("motion.camera", channel=FRONT)
def camera_leaps_aside(disk: Disk) -> None:
    token = disk.data_token(FRONT)
    pose = next(r for r in disk.read("sample_data") if r["token"] == token)["ego_pose_token"]
    with disk.rows("ego_pose") as rows:
        next(row for row in rows if row["token"] == pose)["translation"][1] += 8.0


@defect("shape.intrinsic", sample=0, channel=LEFT)
def skewed_rows_in_the_intrinsic_matrix(disk: Disk) -> None:
    token = disk.data_token(LEFT)
    calibration = next(i for i in disk.read("sample_data") if i["token"] == token)["calibrated_sensor_token"]
    with disk.rows("calibrated_sensor") as rows:
        next(c for c in rows if c["token"] == calibration)["camera_intrinsic"][1][0] = 3.0
