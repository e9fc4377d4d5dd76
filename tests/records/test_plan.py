"""Mounts of the rig's cameras, calculated by hand."""

import numpy as np
import pytest

from uavsim.records.sensors import CameraParams, SensorSpec

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
    spec = SensorSpec("ANY", (2.0, -0.5, 0.25), rpy_deg, CameraParams(320, 180, 90.0), ("rgb",))
    np.testing.assert_array_equal(spec.flu_SE3_sensor.translation_m, [2.0, -0.5, 0.25])
    np.testing.assert_array_equal(spec.flu_SE3_mount.translation_m, [2.0, -0.5, 0.25])
    np.testing.assert_allclose(spec.flu_SE3_mount.rotate(np.array([1.0, 0, 0])), ahead, atol=1e-12)
    np.testing.assert_allclose(spec.flu_SE3_sensor.rotate(np.array([0, 0, 1.0])), ahead, atol=1e-12)
    np.testing.assert_allclose(spec.flu_SE3_sensor.rotate(np.array([1.0, 0, 0])), image_right, atol=1e-12)
