"""The pinhole camera, against CARLA's transform and hand-computed angles."""

import carla
import numpy as np
import pytest
from headless_simulator.render.camera import NEAR_M, axes, pack
from headless_simulator.scene import View
from hypothesis import given
from hypothesis import strategies as st

DEGREES = st.floats(-180, 180)


@given(DEGREES, DEGREES, DEGREES)
def test_the_axes_are_the_columns_of_carlas_matrix(pitch, yaw, roll):
    matrix = carla.Transform(carla.Location(), carla.Rotation(pitch, yaw, roll)).get_matrix()
    np.testing.assert_allclose(axes(pitch, yaw, roll), np.array(matrix)[:3, :3], atol=2e-6)


def project(view, point):
    """Project a point by hand: its offset along right, down and forward."""
    numbers = pack(view)
    x, y, z = (np.dot(np.asarray(point) - numbers[:3], axis) for axis in (numbers[3:6], numbers[6:9], numbers[9:12]))
    return numbers[13] + numbers[12] * x / z, numbers[14] + numbers[12] * y / z


def test_a_right_angle_sees_45_degrees_to_each_side():
    view = View((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 800, 450, 90.0)
    assert project(view, (10, 10, 0)) == pytest.approx((800, 225))  # to the right (y) is the right edge
    assert project(view, (10, -10, 0)) == pytest.approx((0, 225))
    assert project(view, (10, 0, 5)) == pytest.approx((400, 25))  # up is up


def test_straight_down_forward_is_up_in_the_image():
    view = View((5.0, 0.0, 60.0, -90.0, 0.0, 0.0), 800, 450, 90.0)
    assert project(view, (5, 0, 0)) == pytest.approx((400, 225))
    assert project(view, (5 + 30, 0, 0)) == pytest.approx((400, 25))
    assert pack(view)[15] == NEAR_M


@pytest.mark.parametrize(
    ("size", "fov", "why"), [((8, 8), 0.5, "field of view 0.5"), ((8, 8), 180.0, "1..179"), ((0, 8), 90.0, "0 x 8")]
)
def test_invalid_cameras_are_refused(size, fov, why):
    with pytest.raises(ValueError, match=why):
        pack(View((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), size[0], size[1], fov))
