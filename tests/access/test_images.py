"""Images have the size of their row, or are refused by name before decoding."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import uavsim
from uavsim.access import Image
from uavsim.access.box_selection import visible_boxes
from uavsim.access.images import ShutterImage, ShutterTicks
from uavsim.errors import DatasetError
from uavsim.geometry import quaternion
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.geometry.shutter import Shutter
from uavsim.images import codec


@pytest.fixture
def root(strict: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(strict, tmp_path / "set"))


def first_image(root: Path) -> Image:
    return next(uavsim.open(root).samples()).images[0]


@pytest.mark.parametrize("width", [2**70, 2**25, 0, -5, True, "160", 160.0, None, [160]])
def test_implausible_image_size_is_refused(root: Path, width: object) -> None:
    table = root / "v1.0-mini/sample_data.json"
    rows = json.loads(table.read_text())
    for row in rows:
        row["width"] = width
    table.write_text(json.dumps(rows))
    with pytest.raises(DatasetError, match=r"its row says .* pixels; an image has 33,554,432 at most$"):
        first_image(root)


@pytest.mark.parametrize("kind", ["rgb", "instance", "depth"])
def test_image_with_another_size_than_its_row_is_not_decoded(
    root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = first_image(root)
    name = image.filename if kind == "rgb" else image.layers[kind]
    (root / name).write_bytes(codec.encode_png(np.zeros((900, 1600, 3), np.uint8)))
    monkeypatch.setattr(codec, "_decode", lambda *_: pytest.fail("it was decoded"))
    read = {"rgb": image.pixels, "instance": image.mask, "depth": image.depth_m}[kind]
    with pytest.raises(DatasetError, match=rf"{name}: 1600 x 900 pixels, its dataset declares 160 x 90"):
        read()


@pytest.mark.parametrize("kind", ["rgb", "instance", "depth"])
def test_a_damaged_image_is_named(root: Path, kind: str) -> None:
    image = first_image(root)
    name = image.filename if kind == "rgb" else image.layers[kind]
    whole = (root / name).read_bytes()
    (root / name).write_bytes(whole[:-30])
    read = {"rgb": image.pixels, "instance": image.mask, "depth": image.depth_m}[kind]
    with pytest.raises(DatasetError, match=rf"{name}: .*not a readable image"):
        read()


def test_point_is_projected_at_the_tick_that_exposes_its_row(strict: Path) -> None:
    """The camera moves to its right, 0.1 m per tick; a point 10 m ahead moves to the left."""
    image = next(uavsim.open(strict).samples()).images[0]
    right_m = np.arange(5)[:, None] * [0.1, 0.0, 0.0]
    poses = image.map_SE3_optical @ SE3(quaternion.IDENTITY, right_m)
    rolled = ShutterImage(image, ShutterTicks(Shutter(exposure_us=0, readout_us=40_000, step_us=10_000), poses))
    pixels = np.array([[200.0, share * image.size_px[1]] for share in (0.05, 0.25, 0.5, 0.75, 0.95)])
    points_map_m = image.map_SE3_optical.apply(image.rays(pixels) * 10.0)
    moved_px = image.intrinsic[0, 0] * right_m[:, :2] / 10.0
    np.testing.assert_allclose(rolled.project(points_map_m), pixels - moved_px, atol=1e-6)


def test_boxes_that_extend_out_of_a_lenss_view_are_visible(strict: Path) -> None:
    """The lens has no distortion, and its view ends at the centre of the box nearest to the axis."""
    first = next(uavsim.open(strict).samples())
    boxes, image = first.boxes, first.images[0]
    visible = visible_boxes(boxes, image)
    optical_m = image.map_SE3_optical.apply_inverse(boxes.map_SE3_box.translation_m[visible])
    focal_px = image.intrinsic[0, 0]
    side_px = int(np.hypot(*(optical_m[:, :2] / optical_m[:, 2:]).T).min() * focal_px * np.sqrt(2.0))
    lens = Lens("brown_conrady", (0.0,) * 4, (focal_px, focal_px), (side_px / 2, side_px / 2), (side_px, side_px))
    seen_through = replace(image, lens=lens)
    assert np.isnan(seen_through.project(boxes.corners_map_m[visible])).any(axis=(1, 2)).all()
    assert len(visible) > 1
    assert visible_boxes(boxes, seen_through).tolist() == visible.tolist()
