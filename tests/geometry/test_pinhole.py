import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.errors import FrameError
from uavsim.geometry import pinhole, unreal
from uavsim.geometry.se3 import SE3

K = np.array([[400.0, 0, 400], [0, 400, 225], [0, 0, 1]])


def test_uav3d_camera():
    np.testing.assert_array_equal(pinhole.intrinsic(width_px=800, height_px=450, fov_deg=90.0), K)


@pytest.mark.parametrize(("w", "h", "fov"), [(0, 450, 90), (800, -1, 90), (800, 450, 0), (800, 450, 180)])
def test_no_such_camera(w, h, fov):
    with pytest.raises(FrameError, match="invalid camera"):
        pinhole.intrinsic(width_px=w, height_px=h, fov_deg=fov)


@given(st.integers(1, 4000), st.floats(1, 170))
def test_field_of_view_ends_at_the_image_edge(width, fov):
    k = pinhole.intrinsic(width_px=width, height_px=100, fov_deg=fov)
    edge = np.array([np.tan(np.radians(fov / 2)), 0.0, 1.0])
    assert pinhole.project(edge, intrinsic=k)[0] == pytest.approx(width, abs=1e-5)


def test_opencv_intrinsic_counts_from_the_first_pixels_centre():
    first = pinhole.rays(np.array([0.5, 0.5]), intrinsic=K)
    pixels_opencv = cv2.projectPoints(first, np.zeros(3), np.zeros(3), pinhole.intrinsic_of_opencv(K), None)[0]
    np.testing.assert_allclose(pixels_opencv.ravel(), [0.0, 0.0], atol=1e-9)


def test_projection_worked_on_paper():
    points = np.array([[0.0, 0, 10], [5, -2.5, 10], [1, 1, 0], [1, 1, -5]])
    pixels = pinhole.project(points, intrinsic=K)
    np.testing.assert_allclose(pixels[:2], [[400, 225], [600, 125]])
    assert np.isnan(pixels[2:]).all()
    inside = pinhole.pixel_in_image(pixels, width_px=800, height_px=450)
    assert inside.tolist() == [True, True, False, False]


@given(st.floats(-100, 900), st.floats(-100, 600), st.floats(0.1, 500))
def test_rays_project_back(u, v, depth):
    ray = pinhole.rays(np.array([[u, v]]), intrinsic=K)
    np.testing.assert_allclose(pinhole.project(ray * depth, intrinsic=K), [[u, v]], atol=1e-9)


def test_nadir_footprint_worked_on_paper():
    # 60 m up, 90 degrees wide: 120 m x 67.5 m on the ground; the image's top is ahead (+x), its left is +y
    q = unreal.map_q_optical_from_ue_euler(np.array([[0.0, -90.0, 0.0]]))
    corners = pinhole.ground_footprint(
        SE3(q, np.array([[10.0, 20.0, 61.0]])),
        intrinsic=K,
        size_px=(800, 450),
        ground_z_m=1.0,
        reach_m=500.0,
    )
    np.testing.assert_allclose(
        corners[0], [[10 + 33.75, 80], [10 + 33.75, -40], [10 - 33.75, -40], [10 - 33.75, 80]], atol=1e-9
    )


def test_footprint_towards_the_horizon_ends_at_reach():
    q = unreal.map_q_optical_from_ue_euler(np.array([[0.0, -20.0, 0.0]]))
    corners = pinhole.ground_footprint(
        SE3(q, np.array([[0.0, 0.0, 60.0]])),
        intrinsic=K,
        size_px=(800, 450),
        ground_z_m=0.0,
        reach_m=300.0,
    )
    far_m = np.linalg.norm(corners[0], axis=1)
    assert far_m[:2] == pytest.approx([300.0, 300.0])  # upper edge looks over the horizon
    assert (far_m[2:] < 100).all()
