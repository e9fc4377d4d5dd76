"""The pinhole camera: projects ``optical`` points (x right, y down, z forward) to pixels; (0, 0) is the top left corner."""

import numpy as np

from uavsim.errors import FrameError
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray


def intrinsic(*, width_px: int, height_px: int, fov_deg: float) -> FloatArray:
    """Return the (3, 3) intrinsic matrix of a camera with square pixels; the field of view is horizontal.

    Source: CARLA docs, "Sensors reference": ``fov``; 800x450 at 90 degrees gives f = 400, centre (400, 225).

    Raises:
        FrameError: a size is not positive, or the field of view is outside (0, 180).
    """
    if width_px <= 0 or height_px <= 0 or not 0.0 < fov_deg < 180.0:
        raise FrameError(f"invalid camera: {width_px}x{height_px} px, field of view {fov_deg} degrees")
    # tan(90/2) is not exactly 1; rounding to 1e-9 px keeps the focal lengths of common cameras integral
    focal_px = round(width_px / (2.0 * float(np.tan(np.radians(fov_deg) / 2.0))), 9)
    return np.array([[focal_px, 0.0, width_px / 2.0], [0.0, focal_px, height_px / 2.0], [0.0, 0.0, 1.0]])


def intrinsic_of_opencv(intrinsic: FloatArray) -> FloatArray:
    """Shift a (3, 3) intrinsic matrix by half a pixel, for software with (0, 0) at the centre of the first pixel.

    OpenCV, Kalibr, EuRoC files and ROS ``image_geometry`` have this convention.
    """
    moved = np.array(intrinsic, dtype=np.float64)
    moved[:2, 2] -= 0.5
    return moved


def project(points_optical_m: FloatArray, *, intrinsic: FloatArray) -> FloatArray:
    """Project points into images.

    Args:
        points_optical_m: (..., 3) points in the optical frame, metres.
        intrinsic: (3, 3) matrix in pixels, or (N, 3, 3) for (N, K, 3) points of N cameras.

    Returns:
        (..., 2) pixels u, v; NaN for points that are not in front of the camera.
    """
    points = np.asarray(points_optical_m, dtype=np.float64)
    depth_m = np.where(points[..., 2:] > 0.0, points[..., 2:], np.nan)
    return np.asarray((points @ np.swapaxes(intrinsic, -1, -2))[..., :2] / depth_m)


def pixel_in_image(pixels: FloatArray, *, width_px: int, height_px: int) -> BoolArray:
    """Return (...) bool, True for (..., 2) pixels inside the image's rectangle; False for NaN."""
    u, v = pixels[..., 0], pixels[..., 1]
    return np.asarray((u >= 0.0) & (u <= width_px) & (v >= 0.0) & (v <= height_px))


def rays(pixels: FloatArray, *, intrinsic: FloatArray) -> FloatArray:
    """Back-project (..., 2) pixels by a (3, 3) matrix to (..., 3) points at depth 1 m in the optical frame."""
    pixels = np.asarray(pixels, dtype=np.float64)
    one = np.ones((*pixels.shape[:-1], 1))
    return np.asarray(np.concatenate([pixels, one], axis=-1) @ np.linalg.inv(intrinsic).T)


def ground_footprint(
    map_SE3_optical: SE3,
    *,
    intrinsic: FloatArray,
    size_px: tuple[int, int],
    ground_z_m: float,
    reach_m: float,
) -> FloatArray:
    """Intersect the rays of the image corners with flat ground.

    Args:
        map_SE3_optical: (N,) camera poses.
        intrinsic: (3, 3) intrinsic matrix of all cameras, pixels.
        size_px: width, height of the images.
        ground_z_m: height of the ground in the map frame.
        reach_m: horizontal limit: rays that meet the ground farther away, or never, end there.

    Returns:
            (N, 4, 2) x, y in the map frame, metres: top left, top right, bottom right, bottom left corner.
    """
    w, h = size_px
    corners = rays(np.array([[0.0, 0.0], [w, 0.0], [w, h], [0.0, h]]), intrinsic=intrinsic)
    direction = map_SE3_optical[:, None].rotate(corners)
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    centre_m = map_SE3_optical.translation_m
    drop_m = (centre_m[:, None, 2] - ground_z_m) * np.ones(4)
    falls = direction[..., 2] < -1e-9
    along_m = np.where(falls, drop_m / np.where(falls, -direction[..., 2], 1.0), np.inf)
    level = np.maximum(np.linalg.norm(direction[..., :2], axis=-1), 1e-12)
    along_m = np.minimum(along_m, reach_m / level)
    return np.asarray(centre_m[:, None, :2] + along_m[..., None] * direction[..., :2])
