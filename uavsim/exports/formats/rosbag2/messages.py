"""A dataset's content as ROS 2 messages in REP 103's axes and units."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from uavsim.access import Boxes, Image, LidarScan, RadarScan
from uavsim.geometry.pinhole import intrinsic_of_opencv
from uavsim.geometry.se3 import SE3
from uavsim.typing import AnyArray, FloatArray

Message: TypeAlias = tuple[str, Any]
"""Type and content."""

VISION_MESSAGES: Final = {
    "vision_msgs/msg/ObjectHypothesis": "string class_id\nfloat64 score",
    "vision_msgs/msg/ObjectHypothesisWithPose": "ObjectHypothesis hypothesis\ngeometry_msgs/PoseWithCovariance pose",
    "vision_msgs/msg/BoundingBox3D": "geometry_msgs/Pose center\ngeometry_msgs/Vector3 size",
    "vision_msgs/msg/Detection3D": (
        "std_msgs/Header header\nObjectHypothesisWithPose[] results\nBoundingBox3D bbox\nstring id"
    ),
    "vision_msgs/msg/Detection3DArray": "std_msgs/Header header\nDetection3D[] detections",
    "vision_msgs/msg/Point2D": "float64 x\nfloat64 y",
    "vision_msgs/msg/Pose2D": "Point2D position\nfloat64 theta",
    "vision_msgs/msg/BoundingBox2D": "Pose2D center\nfloat64 size_x\nfloat64 size_y",
    "vision_msgs/msg/Detection2D": (
        "std_msgs/Header header\nObjectHypothesisWithPose[] results\nBoundingBox2D bbox\nstring id"
    ),
    "vision_msgs/msg/Detection2DArray": "std_msgs/Header header\nDetection2D[] detections",
}
"""Definitions that are not in the core of a ROS distribution. Source: ros-perception/vision_msgs 4."""

_UNKNOWN: Final = 1e6  # variance of unknown values
_POINT: Final = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2")])
_RADAR: Final = ("x", "y", "z", "rcs", "vx", "vy", "vx_comp", "vy_comp")
_DATATYPE: Final = {"<u2": 4, "<f4": 7}  # PointField's constants


class RosMessages:
    """Creates messages with the types of a rosbags store."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        """Store the message classes by name."""
        self._types = types

    def clock(self, time_us: int) -> Message:
        """Return the simulated time."""
        return self._message("rosgraph_msgs/msg/Clock", self._time(time_us))

    def transforms(self, time_us: int, frames: Sequence[tuple[str, str, SE3]]) -> Message:
        """Return the transforms of parent, child and ``parent_SE3_child``."""
        stamped = [
            self._new(
                "geometry_msgs/msg/TransformStamped",
                self._header(time_us, parent),
                child,
                self._new("geometry_msgs/msg/Transform", self._vector(pose.translation_m), self._turn(pose)),
            )
            for parent, child, pose in frames
        ]
        return self._message("tf2_msgs/msg/TFMessage", stamped)

    def odometry(self, image: Image | LidarScan, *, agent: str, velocity_map_mps: FloatArray) -> Message:
        """Return the exact pose in ``map`` and (3,) velocity in the agent's frame (REP 105); turning rates are unknown."""
        pose = self._new("geometry_msgs/msg/PoseWithCovariance", self._pose(image.map_SE3_flu), np.zeros(36))
        is_known = bool(np.isfinite(velocity_map_mps).all())
        velocity = image.map_SE3_flu.inverse().rotate(velocity_map_mps) if is_known else np.zeros(3)
        variance = np.diag([0.0 if is_known else _UNKNOWN] * 3 + [_UNKNOWN] * 3).ravel()
        twist = self._new("geometry_msgs/msg/Twist", self._vector(velocity), self._vector(np.zeros(3)))
        with_variance = self._new("geometry_msgs/msg/TwistWithCovariance", twist, variance)
        return self._message(
            "nav_msgs/msg/Odometry", self._header(image.timestamp_us, "map"), agent, pose, with_variance
        )

    def compressed(self, image: Image, frame: str, data: bytes) -> Message:
        """Return the bytes of an image file as a message."""
        kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
        pixels = np.frombuffer(data, np.uint8)
        return self._message("sensor_msgs/msg/CompressedImage", self._header(image.timestamp_us, frame), kind, pixels)

    def depth(self, image: Image, frame: str) -> Message:
        """Return depth along the optical axis in metres, float32, infinite in the sky (REP 118)."""
        depth_m = np.ascontiguousarray(image.depth_m(), "<f4")
        height, width = depth_m.shape
        header, data = self._header(image.timestamp_us, frame), depth_m.reshape(-1).view(np.uint8)
        return self._message("sensor_msgs/msg/Image", header, height, width, "32FC1", 0, 4 * width, data)

    def camera_info(self, image: Image, frame: str) -> Message:
        """Return intrinsics and lens; the origin is the centre of the first pixel, as in ROS."""
        k, (width, height) = intrinsic_of_opencv(image.intrinsic), image.size_px
        region = self._new("sensor_msgs/msg/RegionOfInterest", 0, 0, 0, 0, False)
        p = np.hstack([k, np.zeros((3, 1))]).ravel()
        lens = image.lens
        model = "equidistant" if lens and lens.model == "equidistant" else "plumb_bob"
        d = np.array([*lens.coefficients, 0.0][: 5 if model == "plumb_bob" else 4]) if lens else np.zeros(5)
        header, r = self._header(image.timestamp_us, frame), np.eye(3).ravel()
        return self._message(
            "sensor_msgs/msg/CameraInfo", header, height, width, model, d, k.ravel(), r, p, 0, 0, region
        )

    def lidar(self, scan: LidarScan, frame: str) -> Message:
        """Return points in the sensor's frame, metres, with intensity and ring."""
        rows = scan.points()
        points = np.empty(len(rows), _POINT)
        for n, name in enumerate(_POINT.names or ()):
            points[name] = rows[:, n]
        return self._cloud(scan.timestamp_us, frame, points)

    def radar(self, scan: RadarScan, frame: str) -> Message:
        """Return detections in the sensor's frame: RCS, measured and ego-compensated velocity."""
        detections = scan.detections()
        points = np.empty(len(detections), [(name, "<f4") for name in _RADAR])
        for name in _RADAR:
            points[name] = detections[name]
        return self._cloud(scan.timestamp_us, frame, points)

    def stream(self, kind: str, row: Any, frame: str) -> Message:
        """Return one reading of a flight sensor; covariances are zero, which means unknown (REP 145).

        Args:
            kind: kind of the ``SensorStream``.
            row: a reading of the stream.
            frame: frame of the agent.
        """
        header = self._header(int(row["timestamp_us"]), frame)
        if kind == "imu":
            turn = self._turn(SE3.from_quat_wxyz(row["quat_wxyz"], row["position_map_m"]))
            turning, force = self._vector(row["gyroscope_radps"]), self._vector(row["accelerometer_mps2"])
            return self._message(
                "sensor_msgs/msg/Imu", header, turn, np.zeros(9), turning, np.zeros(9), force, np.zeros(9)
            )
        if kind == "gnss":
            status = self._new("sensor_msgs/msg/NavSatStatus", 0, 1)  # a fix, by GPS
            position = row["lat_lon_deg_height_m"].tolist()
            return self._message("sensor_msgs/msg/NavSatFix", header, status, *position, np.zeros(9), 0)
        if kind == "barometer":
            return self._message("sensor_msgs/msg/FluidPressure", header, float(row["pressure_pa"]), 0.0)
        field_t = self._vector(row["field_ut"] * 1e-6)
        return self._message("sensor_msgs/msg/MagneticField", header, field_t, np.zeros(9))

    def boxes(self, time_us: int, boxes: Boxes) -> Message:
        """Return the boxes in ``map``; sizes are length, width, height along the box's axes."""
        header, labels = self._header(time_us, "map"), []
        for n, token in enumerate(boxes.instance_tokens):
            pose = self._pose(boxes.map_SE3_box[n])
            box = self._new("vision_msgs/msg/BoundingBox3D", pose, self._vector(boxes.size_lwh_m[n]))
            labels.append(self._new("vision_msgs/msg/Detection3D", header, [self._result(boxes, n, pose)], box, token))
        return self._message("vision_msgs/msg/Detection3DArray", header, labels)

    def detections(self, image: Image, boxes: Boxes, frame: str) -> Message:
        """Return labels of the objects in an image: bounds of visible pixels, and the box in the optical frame."""
        header, labels = self._header(image.timestamp_us, frame), []
        optical_SE3_box = image.map_SE3_optical.inverse() @ boxes.map_SE3_box
        for n, views in enumerate(boxes.views):
            for view in views:
                if view["sample_data_token"] == image.token and view["visible_px"] > 0:
                    x0, y0, x1, y1 = map(float, view["visible_box"])
                    middle = self._new("vision_msgs/msg/Point2D", (x0 + x1) / 2, (y0 + y1) / 2)
                    centre = self._new("vision_msgs/msg/Pose2D", middle, 0.0)
                    bounds = self._new("vision_msgs/msg/BoundingBox2D", centre, x1 - x0, y1 - y0)
                    result = self._result(boxes, n, self._pose(optical_SE3_box[n]))
                    token = boxes.instance_tokens[n]
                    labels.append(self._new("vision_msgs/msg/Detection2D", header, [result], bounds, token))
        return self._message("vision_msgs/msg/Detection2DArray", header, labels)

    def _result(self, boxes: Boxes, n: int, pose: Any) -> Any:
        hypothesis = self._new("vision_msgs/msg/ObjectHypothesis", boxes.categories[n], 1.0)
        exact_pose = self._new("geometry_msgs/msg/PoseWithCovariance", pose, np.zeros(36))
        return self._new("vision_msgs/msg/ObjectHypothesisWithPose", hypothesis, exact_pose)

    def _cloud(self, time_us: int, frame: str, points: AnyArray) -> Message:
        fields = [
            self._new("sensor_msgs/msg/PointField", name, offset, _DATATYPE[kind.str], 1)
            for name, (kind, offset, *_) in (points.dtype.fields or {}).items()
        ]
        data = np.frombuffer(points.tobytes(), np.uint8)
        step, size, header = points.dtype.itemsize, len(points), self._header(time_us, frame)
        return self._message(
            "sensor_msgs/msg/PointCloud2", header, 1, size, fields, False, step, step * size, data, True
        )

    def _message(self, name: str, *values: Any) -> Message:
        return name, self._new(name, *values)

    def _new(self, name: str, *values: Any) -> Any:
        return self._types[name](*values)

    def _time(self, time_us: int) -> Any:
        return self._new("builtin_interfaces/msg/Time", time_us // 1_000_000, time_us % 1_000_000 * 1000)

    def _header(self, time_us: int, frame: str) -> Any:
        return self._new("std_msgs/msg/Header", self._time(time_us), frame)

    def _vector(self, xyz: FloatArray) -> Any:
        return self._new("geometry_msgs/msg/Vector3", *xyz.tolist())

    def _turn(self, pose: SE3) -> Any:
        w, x, y, z = pose.quat_wxyz.tolist()
        return self._new("geometry_msgs/msg/Quaternion", x, y, z, w)

    def _pose(self, pose: SE3) -> Any:
        point = self._new("geometry_msgs/msg/Point", *pose.translation_m.tolist())
        return self._new("geometry_msgs/msg/Pose", point, self._turn(pose))
