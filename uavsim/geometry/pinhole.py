"""The pinhole camera: ``optical`` points (x right, y down, z forward, metres) to pixels; (0, 0) is the top left corner."""

import numpy as np

from uavsim.errors import FrameError
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray


def intrinsic(*, width_px: int, height_px: int, fov_deg: float) -> FloatArray:
    """Return the (3, 3) matrix of a camera with square pixels; the field of view is horizontal.

    Source: CARLA docs, "Sensors reference": ``fov``; 800x450 at 90 degrees gives f = 400, centre (400, 225).

    Raises:
        FrameError: a size that is not positive, or a field of view outside (0, 180).
    """
    if width_px <= 0 or height_px <= 0 or not 0.0 < fov_deg < 180.0:
        raise FrameError(f"no such camera: {width_px}x{height_px} px, {fov_deg} degrees")
    # tan(90/2) is not 1 to the last bit; rounding away 1e-9 px keeps the usual cameras' numbers clean
    focal_px = round(width_px / (2.0 * float(np.tan(np.radians(fov_deg) / 2.0))), 9)
    return np.array([[focal_px, 0.0, width_px / 2.0], [0.0, focal_px, height_px / 2.0], [0.0, 0.0, 1.0]])


def intrinsic_of_opencv(intrinsic: FloatArray) -> FloatArray:
    """Return the (3, 3) matrix for software whose (0, 0) is the middle of the first pixel, half a pixel from its corner.

    OpenCV has it so, and with it Kalibr, EuRoC's files and ROS's ``image_geometry``.
    """
    moved = np.array(intrinsic, dtype=np.float64)
    moved[:2, 2] -= 0.5
    return moved


def project(points_optical_m: FloatArray, *, intrinsic: FloatArray) -> FloatArray:
    """Project (..., 3) points to (..., 2) pixels (u, v); NaN for points that are not in front of the camera.

    ``intrinsic`` is (3, 3), or (N, 3, 3) for (N, K, 3) points of N cameras.
    """
    points = np.asarray(points_optical_m, dtype=np.float64)
    depth_m = np.where(points[..., 2:] > 0.0, points[..., 2:], np.nan)
    return np.asarray((points @ np.swapaxes(intrinsic, -1, -2))[..., :2] / depth_m)


def pixel_in_image(pixels: FloatArray, *, width_px: int, height_px: int) -> BoolArray:
    """Return for (..., 2) pixels whether they lie inside the image's rectangle; NaN does not."""
    u, v = pixels[..., 0], pixels[..., 1]
    return np.asarray((u >= 0.0) & (u <= width_px) & (v >= 0.0) & (v <= height_px))


def rays(pixels: FloatArray, *, intrinsic: FloatArray) -> FloatArray:
    """Return (..., 3) points at depth 1 m that project to (..., 2) pixels."""
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
    """Return (N, 4, 2) map points where the images' corners meet the ground.

    Args:
        map_SE3_optical: (N,) cameras.
        intrinsic: (3, 3).
        size_px: width, height.
        ground_z_m: height of the flat ground.
        reach_m: rays that meet the ground farther away than this, or never, end there.
    """
    w, h = size_px
    corners = rays(np.array([[0.0, 0.0], [w, 0.0], [w, h], [0.0, h]]), intrinsic=intrinsic)
    way = map_SE3_optical[:, None].rotate(corners)
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    centre_m = map_SE3_optical.translation_m
    drop_m = (centre_m[:, None, 2] - ground_z_m) * np.ones(4)
    falls = way[..., 2] < -1e-9
    along_m = np.where(falls, drop_m / np.where(falls, -way[..., 2], 1.0), np.inf)
    level = np.maximum(np.linalg.norm(way[..., :2], axis=-1), 1e-12)
    along_m = np.minimum(along_m, reach_m / level)
    return np.asarray(centre_m[:, None, :2] + along_m[..., None] * way[..., :2])
