"""Lens images against scenes with a known colour for each ray."""

import numpy as np
import pytest

from tests.geometry.formulas import Formula, kalibr_project, opencv_project
from uavsim.geometry import pinhole
from uavsim.geometry.lens import Lens
from uavsim.records import through_lens
from uavsim.records.modalities import DEPTH, INSTANCE, RGB, Mask, modality
from uavsim.records.sensors import CameraParams
from uavsim.typing import FloatArray

BROWN = Lens("brown_conrady", (-0.28, 0.07, 0.002, -0.001, 0.0), (160.0, 160.0), (160.0, 90.0), (320, 180))
FISHEYE = Lens("equidistant", (-0.01, 0.002, -0.001, 0.0002), (160.0, 160.0), (160.0, 90.0), (320, 180))
both = pytest.mark.parametrize("lens", [BROWN, FISHEYE], ids=["brown", "fisheye"])
WAVES = 12.0


def colours(rays: FloatArray) -> FloatArray:
    """Return (..., 3) colours of (..., 3) rays: waves along both axes of the plane, and one across."""
    x, y = rays[..., 0], rays[..., 1]
    return 127.5 + 100.0 * np.stack([np.sin(WAVES * x), np.sin(WAVES * y), np.cos(0.7 * WAVES * (x + y))], axis=-1)


def wide_rays(lens: Lens) -> FloatArray:
    camera = CameraParams(320, 180, 90.0, lens).rendered
    v, u = np.indices((camera.height_px, camera.width_px)) + 0.5
    return pinhole.rays(np.stack([u, v], axis=-1), intrinsic=camera.intrinsic)


def lens_rays(lens: Lens, moved_px: tuple[float, float] = (0.0, 0.0)) -> FloatArray:
    v, u = np.indices((180, 320)) + 0.5
    return lens.rays(np.stack([u, v], axis=-1) + moved_px)


@both
def test_an_image_is_where_the_lens_puts_it_to_a_tenth_of_a_pixel(lens: Lens) -> None:
    """The best-fitting shift by the image's gradients is zero."""
    through = modality(RGB).through_lens
    assert through is not None
    rendered = through(np.rint(colours(wide_rays(lens))).astype(np.uint8), lens).astype(float)
    expected = colours(lens_rays(lens))
    slopes = [(colours(lens_rays(lens, m)) - expected).reshape(-1) / 0.1 for m in ((0.1, 0.0), (0.0, 0.1))]
    for rows in (slice(0, 60), slice(60, 120), slice(120, 180)):
        chosen = np.zeros(expected.shape, bool)
        chosen[rows] = True
        selected = np.flatnonzero(chosen)
        shift, *_ = np.linalg.lstsq(
            np.stack([s[selected] for s in slopes], axis=1), (rendered - expected).reshape(-1)[selected], rcond=None
        )
        assert np.abs(shift).max() < 0.02
    assert np.abs(rendered - expected).mean() < 3.0


@both
def test_numbers_are_those_of_the_pixel_that_each_ray_meets(lens: Lens) -> None:
    rays = wide_rays(lens)
    column = np.broadcast_to(np.arange(rays.shape[1], dtype=np.uint16), rays.shape[:2])
    line = np.broadcast_to((np.arange(rays.shape[0]) % 251).astype(np.uint8)[:, None], rays.shape[:2])
    through = modality(INSTANCE).through_lens
    assert through is not None
    found = through(Mask(column, line), lens)
    matrix = CameraParams(320, 180, 90.0, lens).rendered.intrinsic
    wide_px = pinhole.project(lens_rays(lens), intrinsic=matrix)
    np.testing.assert_array_equal(found.ids, np.floor(wide_px[..., 0]))
    np.testing.assert_array_equal(found.tags, np.floor(wide_px[..., 1]) % 251)
    assert (found.ids.dtype, found.tags.dtype) == (np.uint16, np.uint8)


@both
def test_depths_are_along_the_axis_and_never_mixed(lens: Lens) -> None:
    """A wall at 10 m is in front of a wall at 50 m: no depth is in between."""
    rays = wide_rays(lens)
    depth_m = np.where(rays[..., 0] + 0.3 * rays[..., 1] > 0.1, 10.0, 50.0).astype(np.float32)
    through = modality(DEPTH).through_lens
    assert through is not None
    found = through(depth_m, lens)
    assert set(np.unique(found).tolist()) == {10.0, 50.0}
    expected_rays = lens_rays(lens)
    wrong = found != np.where(expected_rays[..., 0] + 0.3 * expected_rays[..., 1] > 0.1, 10.0, 50.0)
    assert wrong.mean() < 0.005


@both
def test_objects_cover_as_many_pixels_as_their_area_in_the_image(lens: Lens) -> None:
    """Pixel counts of discs in the whole field of view equal the areas of their projected outlines."""
    rays, angle, rng = wide_rays(lens), np.linspace(0.0, 2.0 * np.pi, 721)[:-1], np.random.default_rng(3)
    counted, areas = [], []
    for x, y in rng.uniform([-0.75, -0.4], [0.75, 0.4], (100, 2)).tolist():
        disc = np.hypot(rays[..., 0] - x, rays[..., 1] - y) < 0.1
        counted.append(int(through_lens.values(disc.astype(np.uint16), lens).sum()))
        edge = np.stack([x + 0.1 * np.cos(angle), y + 0.1 * np.sin(angle), np.ones_like(angle)], axis=1)
        u, v = lens.project(edge).T
        areas.append(abs(float(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1)))) / 2)
    assert sum(counted) == pytest.approx(sum(areas), rel=0.003)  # a disc's own, a hundredth: the grid
    np.testing.assert_allclose(counted, areas, rtol=0.06)


@pytest.mark.parametrize("formula", [opencv_project, kalibr_project], ids=["OpenCV", "Kalibr"])
@both
def test_each_disc_lies_where_the_formulas_put_its_outline_to_a_tenth_of_a_pixel(lens: Lens, formula: Formula) -> None:
    """Brightness centroids of antialiased white discs in the whole wide image lie at the projected centroids."""
    through = modality(RGB).through_lens
    assert through is not None
    rays, angle = wide_rays(lens), np.linspace(0.0, 2.0 * np.pi, 361)[:-1]
    pixel = rays[0, 1, 0] - rays[0, 0, 0]
    v, u = np.indices((180, 320)) + 0.5
    errors_px = []
    for x, y in np.random.default_rng(5).uniform([-0.85, -0.45], [0.85, 0.45], (60, 2)).tolist():
        within = (0.04 - np.hypot(rays[..., 0] - x, rays[..., 1] - y)) / pixel
        light = np.rint(255.0 * np.clip(within + 0.5, 0.0, 1.0)).astype(np.uint8)
        rendered = through(np.repeat(light[..., None], 3, axis=2), lens)[..., 0].astype(float)
        outline = np.stack([x + 0.04 * np.cos(angle), y + 0.04 * np.sin(angle), np.ones_like(angle)], axis=1)
        expected_px = polygon_middle(formula(outline, lens.intrinsic, np.array(lens.coefficients)))
        centroid_px = np.array([(rendered * u).sum(), (rendered * v).sum()]) / rendered.sum()
        errors_px.append(np.linalg.norm(centroid_px - expected_px))
    assert max(errors_px) < 0.1


def polygon_middle(outline: FloatArray) -> FloatArray:
    """Return (2,) the centroid of the area inside of an (N, 2) outline."""
    ahead = np.roll(outline, -1, axis=0)
    cross = outline[:, 0] * ahead[:, 1] - outline[:, 1] * ahead[:, 0]
    return np.asarray(((outline + ahead) * cross[:, None]).sum(axis=0) / (3.0 * cross.sum()))


def test_a_lens_that_does_nothing_changes_nothing() -> None:
    lens = Lens("brown_conrady", (0.0,) * 5, (160.0, 160.0), (160.0, 90.0), (320, 180))
    wide = CameraParams(320, 180, 90.0, lens).rendered
    image = np.random.default_rng(0).integers(0, 255, (wide.height_px, wide.width_px, 3), dtype=np.uint8)
    column = np.broadcast_to(np.arange(wide.width_px), image.shape[:2])
    np.testing.assert_array_equal(
        through_lens.values(column, lens), np.broadcast_to(np.arange(320) + (wide.width_px - 320) // 2, (180, 320))
    )
    smooth = np.rint(colours(wide_rays(lens))).astype(np.uint8)
    assert np.abs(through_lens.colours(smooth, lens).astype(float) - colours(lens_rays(lens))).max() < 2.0
