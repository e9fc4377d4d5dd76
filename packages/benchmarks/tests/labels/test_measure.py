"""Occluders in a hand-drawn mask: a near object covers half of a far one."""

from dataclasses import replace

import numpy as np
import pytest

from labels.samples import INTRINSIC, LOOKS_DOWN, SIZE_PX
from uavsim.config.events import EventThresholds
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim_benchmarks.labels.jobs import ImageJob, SampleJob, SampleViews
from uavsim_benchmarks.labels.measure import measure_images
from uavsim_benchmarks.labels.rows import image_row, label_sample


def job_of(folder, *, covered: float) -> SampleJob:
    """Return a sample seen from 40 m above: a box of 8 m on the ground, and one 20 m above a part of it."""
    width, height = SIZE_PX
    ids = np.zeros((height, width), np.uint16)
    low = np.array([360.0, 185.0, 440.0, 265.0])  # 8 m at 40 m with f = 400
    ids[185:265, 360:440] = 1
    ids[185:265, 360 : 360 + int(80 * covered)] = 2
    visible = int((ids == 1).sum())
    mask, image = folder / "mask.png", folder / "image.png"
    mask.write_bytes(codec.encode_mask_ids(ids, np.full((height, width), 1, np.uint8)))
    image.write_bytes(codec.encode_png(np.full((height, width, 3), 120, np.uint8)))
    boxes = np.array([[low, [200, 145, 360 + 80 * covered, 305]]], dtype=np.float64)
    views = SampleViews(
        in_view=np.ones((1, 2), bool), visible_px=np.array([[visible, 9000]]), amodal_px=np.array([[6400, 9000]]),
        occlusion=np.array([[1 - visible / 6400, 0.0]]), truncation=np.zeros((1, 2)), amodal_box_px=boxes,
        away_m=np.zeros((1, 2)),
    )  # fmt: skip
    camera = ImageJob("image", "CAMERA_BOTTOM_id_0", "BOTTOM", 0, SIZE_PX, INTRINSIC,
                      SE3(LOOKS_DOWN.quat_wxyz, np.array([0.0, 0, 40])), "i.png", image, None, mask, False)  # fmt: skip
    places = SE3.from_quat_wxyz(np.tile([1.0, 0, 0, 0], (2, 1)), np.array([[0.0, 0, -0.5], [-8, 0, 20]]))
    half_m = np.array([[4.0, 4, 0.5], [4, 4, 0.5]])
    return SampleJob("s", 0, "sample", 0, True, (camera,), ("a", "b"), ("A", "B"), ("car", "truck"), np.array([1, 2]),
                     places, half_m, views)  # fmt: skip


def test_the_actor_in_front_is_named_with_its_pixels(tmp_path) -> None:
    found = measure_images(job_of(tmp_path, covered=0.5), EventThresholds(), tags=True)[0]
    assert found.occluder.tolist() == [1, -1]
    assert 0.9 * 3200 <= found.covered_px[0] <= 3200
    assert found.tag_share[1] == 1.0
    assert found.measured["luminance"] == 120.0


def test_nobody_is_named_for_what_is_not_hidden(tmp_path) -> None:
    found = measure_images(job_of(tmp_path, covered=0.1), EventThresholds())[0]
    assert found.occluder.tolist() == [-1, -1]


@pytest.mark.parametrize(("twin_grey", "proven"), [(140, True), (18, False)])
def test_bad_light_is_proven_by_a_twin_in_another_weather(tmp_path, twin_grey: int, proven: bool) -> None:
    """An image of twenty grey levels is too dark; the twin shows the town by day, or slightly darker."""
    job = job_of(tmp_path, covered=0.1)
    (night, twin) = (_chequered(tmp_path / name, grey) for name, grey in (("night.png", 20), ("twin.png", twin_grey)))
    image = replace(job.images[0], file=night, twins=(("weather-clear_noon", twin),))
    labelled = label_sample(replace(job, images=(image,)), EventThresholds())
    row = image_row(labelled, 0, EventThresholds())
    assert (row["quality"], row["quality_by"]) == (2, "dark")
    (proof,) = row["twins"]
    assert proof["luminance"] == pytest.approx(twin_grey, abs=0.1)
    assert (proof["twin"], proof["proven"]) == ("weather-clear_noon", proven)


def _chequered(path, grey: int):
    width, height = SIZE_PX
    squares = (np.indices((height, width)) // 10).sum(axis=0) % 2
    apart = min(grey - 5, 60)
    pixels = np.where(squares, grey + apart, grey - apart).astype(np.uint8)
    path.write_bytes(codec.encode_png(np.repeat(pixels[..., None], 3, axis=2)))
    return path


def test_a_good_image_needs_no_twin(tmp_path) -> None:
    job = job_of(tmp_path, covered=0.1)
    image = replace(
        job.images[0], file=_chequered(tmp_path / "day.png", 80), twins=(("weather-night", tmp_path / "none.png"),)
    )
    labelled = label_sample(replace(job, images=(image,)), EventThresholds())
    assert labelled.images[0].twins == {}
