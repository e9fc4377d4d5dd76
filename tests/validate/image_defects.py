"""Planted defects of files: images, masks, lidar, maps."""

import json

import numpy as np

from tests.validate.disk import Disk
from tests.validate.planting import BOTTOM, FRONT, FRONT_1, LEFT, Defects
from uavsim.images import codec

IMAGE_DEFECTS = defect = Defects()


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


@defect("visual.exposure", sample=0, channel=FRONT)
def first_image_a_stop_brighter(disk: Disk) -> None:
    """One stop multiplies the level by 2^(1 / 2.2) = 1.37."""
    bright = np.minimum(codec.decode_rgb(disk.image(FRONT, 0)) * 1.37, 255).astype(np.uint8)
    disk.replace(disk.image(FRONT, 0), codec.encode_png(bright))


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


@defect("files.link", channel=LEFT)
def image_behind_a_link_that_leads_out(disk: Disk) -> None:
    image = disk.image(LEFT)
    image.unlink()
    image.symlink_to("/etc/hostname")


@defect("files.name", scene=None)
def split_with_a_name_that_leads_out(disk: Disk) -> None:
    splits = json.loads(disk.path("splits").read_text())
    disk.replace(disk.path("splits"), json.dumps(splits | {"../../x": []}).encode())


@defect("files.format", channel=LEFT)
def format_reported_wrongly(disk: Disk) -> None:
    with disk.image_row(LEFT) as image:
        image["fileformat"] = "jpg"


@defect("pixels.unlabelled", channel=FRONT)
def car_without_box(disk: Disk) -> None:
    ids, tags = codec.mask_ids_and_tags(disk.mask(FRONT))
    ids[:4, :4], tags[:4, :4] = 0, 14
    disk.replace(disk.mask(FRONT), codec.encode_mask_ids(ids, tags))


@defect("pixels.view", channel=FRONT)
def mask_of_another_camera(disk: Disk) -> None:
    disk.replace(disk.mask(FRONT), disk.mask(BOTTOM).read_bytes())


@defect("pixels.view", channel=BOTTOM)
def mask_of_the_next_tick(disk: Disk) -> None:
    disk.replace(disk.mask(BOTTOM), disk.mask(BOTTOM, 3).read_bytes())


@defect("pixels.view", channel=BOTTOM)
def intrinsics_wrong(disk: Disk) -> None:
    with disk.calibration(BOTTOM) as row:
        row["camera_intrinsic"][0][0] *= 1.4
        row["camera_intrinsic"][1][1] *= 1.4
