"""Where a camera of the rig sits, worked out on paper."""

import numpy as np
import pytest

from uavsim.records.plan import CameraSpec

H = np.sqrt(0.5)


@pytest.mark.parametrize(
    ("rpy_deg", "ahead", "image_right"),
    [
        ((0.0, 0.0, 0.0), [1, 0, 0], [0, -1, 0]),
        ((0.0, -45.0, 0.0), [H, 0, -H], [0, -1, 0]),  # pitch -45 looks down
        ((0.0, 0.0, 90.0), [0, -1, 0], [-1, 0, 0]),  # yaw +90 looks right, and flu's y is left
        ((0.0, -90.0, 0.0), [0, 0, -1], [0, -1, 0]),
    ],
)
def test_mounts(rpy_deg: tuple[float, float, float], ahead: list[float], image_right: list[float]) -> None:
    spec = CameraSpec("ANY", (2.0, -0.5, 0.25), rpy_deg, 320, 180, 90.0)
    np.testing.assert_array_equal(spec.flu_SE3_optical.translation_m, [2.0, -0.5, 0.25])
    np.testing.assert_array_equal(spec.flu_SE3_camera.translation_m, [2.0, -0.5, 0.25])
    np.testing.assert_allclose(spec.flu_SE3_camera.rotate(np.array([1.0, 0, 0])), ahead, atol=1e-12)
    np.testing.assert_allclose(spec.flu_SE3_optical.rotate(np.array([0, 0, 1.0])), ahead, atol=1e-12)
    np.testing.assert_allclose(spec.flu_SE3_optical.rotate(np.array([1.0, 0, 0])), image_right, atol=1e-12)
