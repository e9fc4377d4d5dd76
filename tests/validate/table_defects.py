"""Planted defects of tables other than boxes, and of single rows."""

import json

from tests.validate.disk import CAR, SCENE, VAN, Disk
from tests.validate.planting import BOTTOM, FRONT, LEFT, Defects

TABLE_DEFECTS = defect = Defects()


# ------------------------------------------------------------------------------------------------------------ tables
@defect("schema.field")
def point_count_is_a_float(disk: Disk) -> None:
    with disk.box() as box:
        box["num_lidar_pts"] = float(box["num_lidar_pts"])


@defect("schema.field")
def position_is_nan(disk: Disk) -> None:
    with disk.box() as box:
        box["translation"][0] = float("nan")


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
    with disk.box() as box:
        box["next"] = "0" * 32


@defect("referential.chain")
def chain_leaves_its_instance(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        disk.box_of(boxes, CAR)["next"] = disk.box_of(boxes, VAN, 3)["token"]


@defect("referential.chain", channel=FRONT)
def chain_runs_backward(disk: Disk) -> None:
    with disk.image_row(FRONT) as image:
        image["next"], image["prev"] = image["prev"], image["next"]


@defect("referential.count", sample=None)
def scene_count_wrong(disk: Disk) -> None:
    with disk.row("scene", disk.scene()["token"]) as scene:
        scene["nbr_samples"] += 1


@defect("referential.count", sample=0)
def instance_count_wrong(disk: Disk) -> None:
    with disk.row("instance", disk.box_of(disk.read("sample_annotation"))["instance_token"]) as instance:
        instance["nbr_annotations"] = 2


@defect("referential.end", sample=None)
def last_sample_is_not_last(disk: Disk) -> None:
    with disk.row("scene", disk.scene()["token"]) as scene:
        scene["last_sample_token"] = disk.sample(3)["token"]


@defect("referential.instance", sample=None, scene="scene_02")
def instance_in_two_scenes(disk: Disk) -> None:
    with disk.rows("sample_annotation") as boxes:
        van_token = disk.box_of(boxes, VAN)["instance_token"]
        disk.box_of(boxes, VAN, 2, "scene_02")["instance_token"] = van_token


@defect("referential.attributes")
def two_attributes(disk: Disk) -> None:
    both = [a["token"] for a in disk.read("attribute")[:2]]
    with disk.box() as box:
        box["attribute_tokens"] = both


@defect("referential.lidar_top", channel="LIDAR_TOP")
def sample_without_lidar_top(disk: Disk) -> None:
    token = disk.data_token("LIDAR_TOP")
    with disk.rows("sample_data") as images:
        disk.take_out(images, next(image for image in images if image["token"] == token))


@defect("referential.keyframes", channel=LEFT)
def camera_missing_in_one_sample(disk: Disk) -> None:
    with disk.image_row(LEFT) as image:
        image["is_key_frame"] = False


@defect("referential.calibration", channel=LEFT)
def calibration_of_another_channel(disk: Disk) -> None:
    with disk.calibration(FRONT) as front, disk.image_row(LEFT) as left:
        left["calibrated_sensor_token"] = front["token"]


@defect("referential.map", sample=None)
def log_on_no_map(disk: Disk) -> None:
    log = disk.scene()["log_token"]
    with disk.rows("map") as maps:
        for row in maps:
            row["log_tokens"] = [t for t in row["log_tokens"] if t != log]


@defect("referential.name", scene=None)
def unknown_category(disk: Disk) -> None:
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
    with disk.row("sample", disk.sample()["token"]) as sample:
        sample["timestamp"] //= 1_000_000


@defect("temporal.tick", channel=BOTTOM)
def camera_late(disk: Disk) -> None:
    with disk.image_row(BOTTOM) as image:
        image["timestamp"] += 50_000


@defect("temporal.ego_pose", channel=FRONT)
def ego_pose_of_the_tick_before(disk: Disk) -> None:
    with disk.row("sample_data", disk.data_token(FRONT, 1)) as previous:
        pose = previous["ego_pose_token"]
    with disk.image_row(FRONT) as image:
        image["ego_pose_token"] = pose


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
        disk.take_out(samples, lost)


# ---------------------------------------------------------------------------------------------------- whole dataset
@defect("splits.leak", sample=None)
def scene_leaked(disk: Disk) -> None:
    splits = json.loads(disk.path("splits").read_text())
    splits["uav_val"].append(SCENE)
    disk.write("splits", splits)


@defect("splits.unknown", scene="scene_99", sample=None)
def split_names_an_unknown_scene(disk: Disk) -> None:
    splits = json.loads(disk.path("splits").read_text())
    splits["uav_val"].append("scene_99")
    disk.write("splits", splits)


@defect("coverage.spawned", sample=None)
def few_vehicles_spawned(disk: Disk) -> None:
    with disk.row("log", disk.scene()["log_token"]) as log:
        log["uav_vehicles_spawned"] = 3


@defect("coverage.empty", sample=None)
def scene_without_boxes(disk: Disk) -> None:
    sample_tokens = {row["token"] for row in disk.read("sample") if row["scene_token"] == disk.scene()["token"]}
    remaining = [box for box in disk.read("sample_annotation") if box["sample_token"] not in sample_tokens]
    tracks = {box["instance_token"] for box in remaining}
    disk.write("sample_annotation", remaining)
    disk.write("instance", [row for row in disk.read("instance") if row["token"] in tracks])


@defect("splits.name", scene="scene_00", sample=None)
def two_scenes_of_one_name(disk: Disk) -> None:
    with disk.row("scene", disk.scene()["token"]) as scene:
        scene["name"] = "scene_00"


@defect("temporal.devkit_gap", scene=None, sample=None)
def keyframes_two_seconds_apart(disk: Disk) -> None:
    first = min(row["timestamp"] for row in disk.read("sample"))
    for table in ("sample", "sample_data", "ego_pose"):
        with disk.rows(table) as rows:
            for row in rows:
                row["timestamp"] = first + 4 * (row["timestamp"] - first)


# ------------------------------------------------------------------------------------------------ rows of single images
@defect("files.path", channel=FRONT)
def image_outside_of_the_dataset(disk: Disk) -> None:
    with disk.image_row(FRONT) as image:
        image["filename"] = "samples/../../" + image["filename"]


@defect("files.shared", channel=LEFT)
def one_file_for_two_images(disk: Disk) -> None:
    with disk.image_row(LEFT) as image:
        image["filename"] = str(disk.image(FRONT).relative_to(disk.root))


@defect("motion.camera", channel=FRONT)
def camera_leaps_aside(disk: Disk) -> None:
    with disk.image_row(FRONT) as image, disk.row("ego_pose", image["ego_pose_token"]) as pose:
        pose["translation"][1] += 8.0


@defect("shape.intrinsic", sample=0, channel=LEFT)
def skewed_rows_in_the_intrinsic_matrix(disk: Disk) -> None:
    with disk.calibration(LEFT) as row:
        row["camera_intrinsic"][1][0] = 3.0


@defect("shape.lens", sample=0, channel=LEFT)
def lens_that_folds_back_in_the_image(disk: Disk) -> None:
    with disk.calibration(LEFT) as row:
        row |= {"uav_lens": "brown_conrady", "uav_distortion": [-2.0, 0.0, 0.0, 0.0]}


@defect("pixels.view", sample=0, channel=LEFT)
def lens_that_is_none(disk: Disk) -> None:
    with disk.calibration(LEFT) as row:
        row |= {"uav_lens": "brown_conrady", "uav_distortion": [0.3, 0.0, 0.0, 0.0]}
