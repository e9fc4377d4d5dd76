"""Camera images, lidar and radar scans: poses, and lazily read pixels and points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np

from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.geometry import pinhole
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.geometry.shutter import Shutter
from uavsim.images import codec, points, radar, resample
from uavsim.images.codec import Float32Image, ImageSource
from uavsim.images.points import PointArray
from uavsim.records.channels import split_channel
from uavsim.typing import FloatArray, IntArray, UInt8Array, UInt16Array

T = TypeVar("T")
NOTHING_IGNORED: Final = np.zeros((0, 4), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ShutterTicks:
    """A shutter and the poses of its camera.

    Attributes:
        shutter: exposure and readout.
        map_SE3_optical: (T,) camera poses from the image's own tick on, ``shutter.step_us`` apart.
    """

    shutter: Shutter
    map_SE3_optical: SE3


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """One camera image.

    Attributes:
        token: token of the row of ``sample_data``.
        channel: ``CAMERA_FRONT_id_0``.
        timestamp_us: time of the image.
        size_px: width, height.
        intrinsic: (3, 3), pixels; for a camera with a lens, applied after its distortion.
        lens: lens of the camera; None for a pinhole.
        shutter_ticks: shutter of the camera; None without one.
        map_SE3_flu: pose of the drone.
        flu_SE3_optical: mount of the camera.
        drone_velocity_map_mps: (3,) velocity of the drone in the map frame, m/s; NaN if unknown.
        filename: path in the dataset's folder.
        layers: kind (``instance``, ``depth``, ...) -> name of the file with the same pose and tick.
        ignored_px: (K, 4) regions with a road user without a box: x_min, y_min, x_max, y_max in pixel edges.
        reported: the image's row of ``agent_view``, the degraded report of its drone; {} without degradation.
    """

    token: str
    channel: str
    timestamp_us: int
    size_px: tuple[int, int]
    intrinsic: FloatArray
    map_SE3_flu: SE3
    flu_SE3_optical: SE3
    drone_velocity_map_mps: FloatArray
    filename: str
    files: DataFolder = field(repr=False)
    layers: Mapping[str, str] = field(default_factory=dict)
    ignored_px: IntArray = field(default_factory=lambda: NOTHING_IGNORED)
    reported: Mapping[str, Any] = field(default_factory=dict)
    lens: Lens | None = None
    shutter_ticks: ShutterTicks | None = None

    @property
    def drone_id(self) -> int:
        """The drone's number in the channel name; 0 without one."""
        return split_channel(self.channel)[1]

    @property
    def camera(self) -> str:
        """The camera's name on its drone: FRONT for ``CAMERA_FRONT_id_0``."""
        return split_channel(self.channel)[0]

    @property
    def map_SE3_optical(self) -> SE3:
        """Pose of the camera."""
        return self.map_SE3_flu @ self.flu_SE3_optical

    @property
    def exists(self) -> bool:
        """Whether the file exists; a dataset may be downloaded in part."""
        return self.files.fault(self.filename) is None

    def pixels(self) -> UInt8Array:
        """Read the image: (H, W, 3) uint8 RGB.

        Raises:
            DatasetError: the file is missing, no image, or has another size than its row.
        """
        return self._decoded(self.filename, codec.decode_rgb)

    def layer_bytes(self, kind: str) -> bytes:
        """Return the bytes of a layer's file.

        Raises:
            DatasetError: the image does not have the layer.
        """
        return self.files.read(self._layer(kind))

    def bytes(self) -> bytes:
        """Return the bytes of the file."""
        return self.files.read(self.filename)

    def mask(self) -> tuple[UInt16Array, UInt8Array]:
        """Read the instance mask: (H, W) uint16 instance ids, 0 for other pixels, and (H, W) uint8 semantic tags.

        Raises:
            DatasetError: the image has no mask.
        """
        return self.read_layer("instance", codec.mask_ids_and_tags)

    def depth_m(self) -> Float32Image:
        """Read the depth: (H, W) float32 metres along the optical axis, infinite for the sky.

        Raises:
            DatasetError: the image has no depth.
        """
        return self.read_layer("depth", codec.decode_depth)

    def project(self, points_map_m: FloatArray, *, beyond: bool = False) -> FloatArray:
        """Project map points to (..., 2) pixels, through the lens if there is one.

        Points behind the camera, or outside the lens's field of view, give NaN.

        Args:
            points_map_m: (..., 3) points in the map frame, metres.
            beyond: extrapolate the lens linearly outside its field of view, for outlines that extend beyond the image.
        """
        return self.project_from(self.map_SE3_optical, points_map_m, beyond=beyond)

    def project_from(self, map_SE3_optical: SE3, points_map_m: FloatArray, *, beyond: bool = False) -> FloatArray:
        """Project (..., 3) map points, metres, to (..., 2) pixels like ``project``, from another camera pose."""
        points_optical_m = map_SE3_optical.apply_inverse(points_map_m)
        if self.lens is not None:
            return self.lens.project(points_optical_m, beyond=beyond)
        return pinhole.project(points_optical_m, intrinsic=self.intrinsic)

    @property
    def shutter(self) -> ShutterImage:
        """The shutter image that begins at this image's timestamp.

        Raises:
            DatasetError: the camera has no shutter.
        """
        if self.shutter_ticks is None:
            raise DatasetError(f"{self.filename}: its camera has no shutter")
        return ShutterImage(self, self.shutter_ticks)

    def read_layer(self, kind: str, decode: Callable[[ImageSource], T]) -> T:
        """Read and decode the file of a layer of the same size.

        Raises:
            DatasetError: the image does not have the layer, or the file is damaged.
        """
        return self._decoded(self._layer(kind), decode)

    def rays(self, pixels: FloatArray) -> FloatArray:
        """Return the rays of (..., 2) pixels: (..., 3) points in the optical frame at depth 1 m."""
        return pinhole.rays(pixels, intrinsic=self.intrinsic) if self.lens is None else self.lens.rays(pixels)

    @property
    def pinhole(self) -> FloatArray:
        """The (3, 3) intrinsics of a camera without a lens.

        Raises:
            DatasetError: the camera has a lens.
        """
        if self.lens is not None:
            raise DatasetError(
                f"{self.channel} has a lens ({self.lens.model}), which a pinhole matrix cannot describe; "
                "use Image.undistorted()"
            )
        return self.intrinsic

    def undistorted(self) -> UInt8Array:
        """Read the image rectified to a pinhole with ``intrinsic``: (H, W, 3) uint8 RGB; black outside the field of view."""
        pixels = self.pixels()
        if self.lens is None:
            return pixels
        v, u = np.indices(pixels.shape[:2]) + 0.5
        rays = pinhole.rays(np.stack([u, v], axis=-1), intrinsic=self.intrinsic)
        return resample.colours_at(pixels, self.lens.project(rays))

    def points_map_m(self, *, every_px: int = 1) -> tuple[FloatArray, UInt8Array]:
        """Return (N, 3) map points of the depth image, metres, and their (N, 3) uint8 colours.

        Args:
            every_px: stride over rows and columns.
        """
        depth_m = self.depth_m()[::every_px, ::every_px]
        v, u = np.indices(depth_m.shape) * every_px + 0.5
        near = np.isfinite(depth_m) & (depth_m > 0.0)
        rays = self.rays(np.stack([u[near], v[near]], axis=1))
        colours = self.pixels()[::every_px, ::every_px][near]
        return self.map_SE3_optical.apply(rays * depth_m[near].astype(np.float64)[:, None]), colours

    def _decoded(self, name: str, decode: Callable[[ImageSource], T]) -> T:
        path = self.files.root / name
        data = codec.as_declared(self.files.read(name), self.size_px, name=path)
        try:
            return decode(data)
        except DatasetError as error:
            raise DatasetError(f"{path}: {error}") from error

    def _layer(self, kind: str) -> str:
        if kind not in self.layers:
            has = ", ".join(self.layers) or "none"
            raise DatasetError(f"{self.filename}: the dataset has no {kind} of this image (layers: {has})")
        return self.layers[kind]


@dataclass(frozen=True, slots=True, eq=False)
class ShutterImage:
    """A shutter image; masks and depths show the middle of each row's exposure.

    Attributes:
        image: image of the first tick.
        ticks: shutter and poses of the camera.
    """

    image: Image
    ticks: ShutterTicks

    def pixels(self) -> UInt8Array:
        """Read the image: (H, W, 3) uint8 RGB.

        Raises:
            DatasetError: the file is missing, no image, or has another size.
        """
        return self.image.read_layer("shutter", codec.decode_rgb)

    def mask(self) -> tuple[UInt16Array, UInt8Array]:
        """Read (H, W) uint16 instance ids and (H, W) uint8 semantic tags; see ``Image.mask``."""
        return self.image.read_layer("shutter_instance", codec.mask_ids_and_tags)

    def depth_m(self) -> Float32Image:
        """Read (H, W) float32 metres like ``Image.depth_m``, along the optical axis at the tick of each row."""
        return self.image.read_layer("shutter_depth", codec.decode_depth)

    @property
    def row_times_us(self) -> FloatArray:
        """(H,) microseconds from the image's timestamp to the middle of each row's exposure, not rounded to steps."""
        shutter = self.ticks.shutter
        return shutter.row_times_us(self.image.size_px[1]) + shutter.exposure_us / 2

    def project(self, points_map_m: FloatArray, *, velocity_map_mps: FloatArray | float = 0.0) -> FloatArray:
        """Project map points to (..., 2) pixels, each at the tick that exposes the point's row.

        If several ticks expose it, the first one counts; if none does, because the point jumps over its row, the nearest one.
        Points behind the camera give NaN.

        Args:
            points_map_m: (..., 3) points in the map frame at the image's timestamp, metres.
            velocity_map_mps: (..., 3) constant velocities of the points, m/s.

        Raises:
            DatasetError: the dataset does not have all poses of the camera.
        """
        points = np.asarray(points_map_m, dtype=np.float64)
        shutter, height = self.ticks.shutter, self.image.size_px[1]
        middle = shutter.middle_ticks(height)
        poses = self.ticks.map_SE3_optical
        if len(poses) <= middle[-1]:
            raise DatasetError(f"{self.image.filename}: its shutter has {len(poses)} ticks, expected {middle[-1] + 1}")
        found = np.full((*points.shape[:-1], 2), np.nan)
        nearest_px = np.full(points.shape[:-1], np.inf)
        for tick in np.unique(middle).tolist():
            rows = np.flatnonzero(middle == tick)
            first_px = float(rows[0]) if rows[0] else -np.inf
            end_px = rows[-1] + 1.0 if rows[-1] < height - 1 else np.inf
            moved = points + np.asarray(velocity_map_mps) * (tick * shutter.step_us / 1e6)
            pixels = self.image.project_from(poses[tick], moved)
            off_px = np.maximum(np.maximum(first_px - pixels[..., 1], pixels[..., 1] - end_px), 0.0)
            here = off_px < nearest_px  # never where the pixel is NaN
            found[here], nearest_px[here] = pixels[here], off_px[here]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class LidarScan:
    """One revolution of a lidar.

    Attributes:
        token: token of the row of ``sample_data``.
        channel: ``LIDAR_id_0``, ``LIDAR_TOP``.
        timestamp_us: time of the scan.
        map_SE3_flu: pose of the drone; for LIDAR_TOP the reference pose on the ground of nuScenes' detectors.
        flu_SE3_sensor: mount of the sensor.
        filename: path in the dataset's folder.
    """

    token: str
    channel: str
    timestamp_us: int
    map_SE3_flu: SE3
    flu_SE3_sensor: SE3
    filename: str
    files: DataFolder = field(repr=False)

    @property
    def drone_id(self) -> int:
        """The drone's number in the channel name; 0 without one."""
        return split_channel(self.channel)[1]

    @property
    def map_SE3_sensor(self) -> SE3:
        """Pose of the sensor."""
        return self.map_SE3_flu @ self.flu_SE3_sensor

    @property
    def exists(self) -> bool:
        """Whether the file exists; a dataset may be downloaded in part."""
        return self.files.fault(self.filename) is None

    def points(self) -> PointArray:
        """Read (N, 5) float32 rows: x, y, z in the sensor's frame, metres, intensity, ring.

        Raises:
            DatasetError: the file is missing or damaged.
        """
        return points.decode_points(self.files.read(self.filename))

    def points_map_m(self) -> FloatArray:
        """Read (N, 3) points in the map frame, metres."""
        return self.map_SE3_sensor.apply(self.points()[:, :3].astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class RadarScan(LidarScan):
    """One measurement of a radar; its points are its detections."""

    def detections(self) -> radar.Detections:
        """Read (N,) rows of ``images.radar.DETECTION``: position, RCS and speeds along the ray, in the sensor's frame.

        Raises:
            DatasetError: the file is missing or damaged.
        """
        return radar.decode_radar(self.files.read(self.filename))

    def points(self) -> PointArray:
        """Read (N, 5) float32 rows: x, y, z in the sensor's frame, metres, RCS in dBsm, 0."""
        found = self.detections()
        columns = [found["x"], found["y"], found["z"], found["rcs"], np.zeros(len(found))]
        return np.stack(columns, axis=1).astype(np.float32)
