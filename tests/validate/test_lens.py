"""The validator's lenses against OpenCV; a wrong calibration is found by pixels."""

import re

import cv2
import numpy as np
import pytest

from uavsim.typing import FloatArray
from uavsim.validate.image_kernels import count_instances
from uavsim.validate.lens import Lens, lens_faults

SIZE = (120, 80)
MATRIX = np.array([[70.0, 0.0, 61.0], [0.0, 71.0, 38.0], [0.0, 0.0, 1.0]])
BROWN = np.array([-0.28, 0.07, 0.002, -0.001, 0.004])
FISHEYE = np.array([-0.01, 0.002, -0.001, 0.0002, np.nan])
both = pytest.mark.parametrize(
    "lens", [Lens.of("brown_conrady", BROWN, MATRIX), Lens.of("equidistant", FISHEYE, MATRIX)], ids=["brown", "fisheye"]
)


def opencv(points: FloatArray, lens: Lens) -> FloatArray:
    project = cv2.fisheye.projectPoints if lens.model == "equidistant" else cv2.projectPoints
    return np.asarray(project(points[:, None], np.zeros(3), np.zeros(3), MATRIX, np.array(lens.k))[0][:, 0])


@both
def test_rays_agree_with_opencv(lens: Lens) -> None:
    rays = lens.rays(*SIZE)
    v, u = np.indices(SIZE[::-1]) + 0.5
    points = np.concatenate([rays, np.ones((*rays.shape[:2], 1))], axis=-1).reshape(-1, 3)
    expected_px = np.stack([u, v], axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(opencv(points, lens), expected_px, atol=1e-6)
    np.testing.assert_allclose(lens.pixels(points * 5.0), expected_px, atol=1e-6)
    assert list(lens_faults(lens, *SIZE)) == []


@both
def test_slopes_are_the_derivatives_of_the_distortion(lens: Lens) -> None:
    x, y = np.random.default_rng(2).uniform(-0.6, 0.6, (2, 50))
    *_, a, b, c = lens._bend(x, y)
    step = 1e-6
    for (dx, dy), slopes in (((step, 0.0), (a, b)), ((0.0, step), (b, c))):
        ahead, behind = lens._bend(x + dx, y + dy), lens._bend(x - dx, y - dy)
        for n in (0, 1):
            np.testing.assert_allclose((ahead[n] - behind[n]) / (2 * step), slopes[n], atol=1e-8)


@pytest.mark.parametrize(
    ("model", "k", "fault"),
    [
        ("kannala", FISHEYE, "lens 'kannala' is none of brown_conrady, equidistant"),
        ("equidistant", BROWN, "equidistant with 5 coefficients"),
        ("brown_conrady", BROWN[:3], "brown_conrady with 3 coefficients"),
        ("brown_conrady", np.array([-0.5, 0.0, 0.0, 0.0]), r"the lens shows nothing in 51\.9% of its image"),
    ],
)
def test_invalid_lens_is_reported(model: str, k: FloatArray, fault: str) -> None:
    (found,) = lens_faults(Lens.of(model, k, MATRIX), *SIZE)
    assert re.match(fault, found)


@both
def test_pixels_are_held_against_boxes_by_bent_rays(lens: Lens) -> None:
    """A ball's box is far off the axis: all pixels are inside by the lens, none by the matrix only."""
    rays = lens.rays(*SIZE)
    met = (np.abs(rays[..., 0] - 0.8) < 0.05) & (np.abs(rays[..., 1] - 0.4) < 0.05)
    box_of_id = np.full(65536, -1, np.int64)
    box_of_id[1] = 0
    eye, half = np.array([[-8.0, -4.0, -10.0]]), np.array([[0.52, 0.52, 0.001]])
    for table, inside in ((rays, met.sum()), (np.zeros((0, 0, 2)), 0)):
        found, _ = count_instances(met.astype(np.uint16), box_of_id, np.eye(3)[None], eye, half, MATRIX, table)
        assert found[0, :2].tolist() == [met.sum(), inside]
    assert met.sum() > 8
