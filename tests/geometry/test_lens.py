"""Lenses against OpenCV's and Kalibr's formulas, and laws for all lenses of rigs."""

import cv2
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.geometry.formulas import kalibr_project
from uavsim.errors import FrameError
from uavsim.geometry import pinhole
from uavsim.geometry.lens import Lens

SIZE = (160, 90)
BROWN = Lens("brown_conrady", (-0.28, 0.07, 0.002, -0.001, 0.003), (80.0, 81.0), (82.0, 43.0), SIZE)
FISHEYE = Lens("equidistant", (-0.01, 0.002, -0.001, 0.0002), (78.0, 79.0), (79.0, 46.0), SIZE)
FOLDING = Lens("brown_conrady", (-0.2, 0.0, 0.0, 0.0, 0.0), (110.0, 110.0), (80.0, 45.0), SIZE)
LENSES = [BROWN, FISHEYE, FOLDING]


@st.composite
def lenses(draw: st.DrawFn) -> Lens:
    def number(most: float) -> float:
        return draw(st.floats(-most, most))

    focal = draw(st.floats(70.0, 300.0))
    common = ((focal, focal * (1 + number(0.05))), (80 + number(10.0), 45 + number(8.0)), SIZE)
    if draw(st.booleans()):
        k = (number(0.3), number(0.1), number(0.005), number(0.005), number(0.02))
        return Lens("brown_conrady", k, *common)
    return Lens("equidistant", (number(0.1), number(0.05), number(0.02), number(0.01)), *common)


def is_valid(lens: Lens) -> bool:
    try:
        return lens.wide.width_px > 0
    except FrameError:
        return False


def pixels(n: int = 400) -> np.ndarray:
    return np.random.default_rng(1).uniform([0, 0], SIZE, (n, 2))


@pytest.mark.parametrize("lens", LENSES, ids=["brown", "fisheye", "folding"])
def test_projection_equals_opencv(lens: Lens) -> None:
    rays, still, k = lens.rays(pixels()), np.zeros(3), np.array(lens.coefficients)
    project = cv2.fisheye.projectPoints if lens.model == "equidistant" else cv2.projectPoints
    found = project(rays[:, None], still, still, lens.intrinsic, k)[0]
    np.testing.assert_allclose(found[:, 0], pixels(), atol=1e-6)
    np.testing.assert_allclose(lens.project(rays * 7.0), pixels(), atol=1e-6)


@pytest.mark.parametrize("lens", [FISHEYE, FOLDING], ids=["equidistant", "radtan"])
def test_projection_equals_kalibr(lens: Lens) -> None:
    found = kalibr_project(lens.rays(pixels()), lens.intrinsic, np.array(lens.coefficients))
    np.testing.assert_allclose(found, pixels(), atol=1e-6)


@given(lenses())
def test_project_inverts_rays(lens: Lens) -> None:
    assume(is_valid(lens))
    np.testing.assert_allclose(lens.project(lens.rays(pixels(50))), pixels(50), atol=1e-6)


@given(lenses())
def test_wide_image_holds_all_pixels_at_full_resolution(lens: Lens) -> None:
    assume(is_valid(lens))
    wide, places = lens.wide, lens.wide_px_of_centres
    assert (places >= 1.0).all()
    assert (places <= [wide.width_px - 1.0, wide.height_px - 1.0]).all()
    for axis in (0, 1):  # what stands askew takes a little more than the radius says
        assert np.linalg.norm(np.diff(places, axis=axis), axis=-1).min() > 0.9
    assert float(np.float32(wide.fov_deg)) == wide.fov_deg


@given(lenses(), st.floats(0.0, 6.28), st.floats(1.0, 40.0))
def test_points_beyond_the_edge_project_outside_the_image(lens: Lens, angle: float, times: float) -> None:
    assume(is_valid(lens))
    radius = lens.edge * (1.0 + 1e-6) * times
    point = np.array([radius * np.cos(angle), radius * np.sin(angle), 1.0])
    assert np.isnan(lens.project(point)).all()
    u, v = lens.project(point, beyond=True)
    assert not (1e-6 < u < SIZE[0] - 1e-6 and 1e-6 < v < SIZE[1] - 1e-6)


def test_folding_polynomial_is_cut_off() -> None:
    """OpenCV's polynomial projects a point 73 degrees off the axis to the image's centre."""
    point, k, still = np.array([[2.23, 0.0, 1.0]]), np.array(FOLDING.coefficients), np.zeros(3)
    (u, v) = cv2.projectPoints(point, still, still, FOLDING.intrinsic, k)[0][0, 0]
    assert 0 < u < SIZE[0]
    assert 0 < v < SIZE[1]
    assert np.isnan(FOLDING.project(point)).all()
    assert FOLDING.project(point, beyond=True)[0, 0] > SIZE[0]


def test_points_behind_the_lens_are_nan() -> None:
    assert np.isnan(BROWN.project(np.array([[0.1, 0.1, -1.0], [0.0, 0.0, 0.0]]), beyond=True)).all()


def test_lens_without_distortion_equals_pinhole() -> None:
    lens = Lens("brown_conrady", (0.0, 0.0, 0.0, 0.0), (80.0, 80.0), (80.0, 45.0), SIZE)
    matrix = pinhole.intrinsic(width_px=160, height_px=90, fov_deg=90.0)
    rays = pinhole.rays(pixels(), intrinsic=matrix)
    np.testing.assert_allclose(lens.rays(pixels()), rays, atol=1e-12)
    np.testing.assert_allclose(lens.project(rays), pixels(), atol=1e-9)


@pytest.mark.parametrize(
    ("lens", "why"),
    [
        (Lens("equidistant", (0.0,) * 4, (50.0, 50.0), (80.0, 45.0), SIZE), "more than 85 degrees off its axis"),
        (Lens("brown_conrady", (-0.5, 0.0, 0.0, 0.0), (80.0, 80.0), (80.0, 45.0), SIZE), "folds back"),
        (Lens("equidistant", (0.0,) * 4, (64.0, 64.0), (80.0, 45.0), SIZE), "limits are 16 times"),
        (Lens("brown_conrady", (0.0, 0.0, 2.0, 2.0), (80.0, 80.0), (80.0, 45.0), SIZE), "folds back"),
    ],
)
def test_lens_too_wide_for_a_pinhole_image_is_refused(lens: Lens, why: str) -> None:
    with pytest.raises(FrameError, match=why):
        _ = lens.wide
