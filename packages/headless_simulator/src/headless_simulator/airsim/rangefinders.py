"""Distance sensors and lidars: rays looked up in depth images of the same renderer that draws the cameras."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from headless_simulator.airsim.imaging import DEPTH_PLANAR, ImageRequest
from headless_simulator.airsim.ned import (
    Quat,
    Vec3,
    quat_from_euler,
    quat_multiply,
    rotation_matrix,
    ue_pose,
)
from headless_simulator.airsim.settings import Capture
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64, Int32, RenderedImage

FACE_PX: Final = 512
NARROW: Final = Capture(9, 9, 0.5 + 0.5)
FACE: Final = Capture(FACE_PX, FACE_PX, 90.0)
MAX_POINTS: Final = 2_000_000
# Cube faces as (roll, pitch, yaw) degrees in sensor axes: front, right, back, left, down, up.
FACES: Final = ((0, 0, 0), (0, 0, 90), (0, 0, 180), (0, 0, -90), (0, -90, 0), (0, 90, 0))

RenderRequest = Callable[
    [ImageRequest], tuple[RenderedImage, Int32]
]  # a raster pass and the segmentation id of every pixel


def mount_of(options: Mapping[str, Any]) -> tuple[Vec3, Quat]:
    """Read where a sensor sits on its vehicle; what is missing is 0."""

    def number(key: str) -> float:
        value = options.get(key, 0.0)
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0

    turn = quat_from_euler(*(math.radians(number(key)) for key in ("Roll", "Pitch", "Yaw")))
    return (number("X"), number("Y"), number("Z")), turn


def distance_m(
    render: RenderRequest, pose: tuple[Vec3, Quat], origin_ue_m: Vec3, limits: tuple[float, float], *, without: int
) -> float:
    """Measure straight ahead, held to the sensor's limits."""
    request = ImageRequest(
        ue_pose(*pose, origin_ue_m=origin_ue_m), NARROW, DEPTH_PLANAR, as_float=True, compress=False, without=without
    )
    image, _ = render(request)
    ahead = float(image.depth_m[NARROW.height_px // 2, NARROW.width_px // 2])
    return min(max(ahead, limits[0]), limits[1])


def scan_directions(options: Mapping[str, Any]) -> Float64:
    """Give the unit vectors of one turn of a lidar in its own axes (forward, right, down), (N, 3).

    Measurements lie evenly on the whole turn, and those outside the horizontal field of view are left out, as in AirSim:
    from ``HorizontalFOVStart`` to ``HorizontalFOVEnd``, over 0 degrees where the end is not above the start.

    Raises:
        CallRefused: more points than ``MAX_POINTS``.
    """
    channels = int(options.get("NumberOfChannels", 16))
    turns = max(float(options.get("RotationsPerSecond", 10)), 0.1)
    per_channel = int(float(options.get("PointsPerSecond", 100_000)) / turns / max(channels, 1))
    if channels < 1 or per_channel < 1 or channels * per_channel > MAX_POINTS:
        raise CallRefused(f"a lidar of {channels} channels and {per_channel} points each a turn is not drawn here")
    upper, lower = float(options.get("VerticalFOVUpper", -15)), float(options.get("VerticalFOVLower", -45))
    begin, end = float(options.get("HorizontalFOVStart", 0)), float(options.get("HorizontalFOVEnd", 359))
    elevation = np.radians(np.linspace(upper, lower, channels))
    turned = 360.0 * np.arange(per_channel) / per_channel
    start, stop = (360.0 + begin) % 360.0, (360.0 + end) % 360.0
    seen = (start <= turned) & (turned <= stop) if start < stop else (start <= turned) | (turned <= stop)
    across, up = np.meshgrid(np.radians(turned[seen]), elevation)
    return np.stack(
        [np.cos(up) * np.cos(across), np.cos(up) * np.sin(across), -np.sin(up)],
        axis=-1,
    ).reshape(-1, 3)


def scan(
    render: RenderRequest,
    pose: tuple[Vec3, Quat],
    origin_ue_m: Vec3,
    directions: Float64,
    range_m: float,
    *,
    without: int,
) -> tuple[Float64, Int32]:
    """Find what rays hit.

    Args:
        render: takes a raster pass.
        pose: of the sensor, NED from the vehicle's origin.
        origin_ue_m: that origin in Unreal's axes.
        directions: (N, 3) unit vectors in sensor axes.
        range_m: farther hits are dropped.
        without: number of the vehicle's own body.

    Returns:
        (M, 3) points in sensor axes in the order of the rays, and (M,) segmentation ids.
    """
    points = np.full((len(directions), 3), np.nan)
    ids = np.zeros(len(directions), dtype=np.int32)
    face_of = _face_of(directions)
    for number, angles in enumerate(FACES):
        rows = np.flatnonzero(face_of == number)
        if not len(rows):
            continue
        turn = quat_from_euler(*(math.radians(angle) for angle in angles))
        local = directions[rows] @ rotation_matrix(turn)  # into the face's axes
        shot_pose = ue_pose(pose[0], quat_multiply(pose[1], turn), origin_ue_m=origin_ue_m)
        image, seen = render(
            ImageRequest(shot_pose, FACE, DEPTH_PLANAR, as_float=True, compress=False, without=without)
        )
        column = _pixel(local[:, 1] / local[:, 0])
        row = _pixel(local[:, 2] / local[:, 0])
        reach = image.depth_m[row, column].astype(np.float64) / local[:, 0]
        hit = np.isfinite(reach) & (reach <= range_m)
        points[rows[hit]] = directions[rows[hit]] * reach[hit, None]
        ids[rows[hit]] = seen[row[hit], column[hit]]
    found = np.isfinite(points[:, 0])
    return points[found], ids[found]


def _face_of(directions: Float64) -> Int32:
    """Say which cube face a ray leaves through."""
    x, y, z = directions.T
    ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
    side = np.where(ax >= ay, np.where(x > 0, 0, 2), np.where(y > 0, 1, 3))
    return np.where(az > np.maximum(ax, ay), np.where(z > 0, 4, 5), side).astype(np.int32)


def _pixel(slope: Float64) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.clip(((slope + 1) * FACE_PX / 2).astype(np.int64), 0, FACE_PX - 1)
