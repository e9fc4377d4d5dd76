"""MCAP with Foxglove's schemas: one file for each scene, for Foxglove and ROS 2 tools.

Topics: ``/tf`` (map to drones, drones to cameras and lidars), ``/<CHANNEL>/image``, ``/<CHANNEL>/calibration``,
``/<CHANNEL>/points``, ``/boxes`` (cubes with class and instance). Frame ids are ``map``, ``drone_<id>`` and channels;
a camera's frame is optical. Messages have the samples' time stamps.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Image, LidarScan, Sample, Scene
from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.exports.formats.deferred_errors import deferred_errors
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.files.results import ResultPath
from uavsim.geometry.pinhole import intrinsic_of_opencv
from uavsim.geometry.se3 import SE3
from uavsim.images import draw

_COLOURS: Final = 251
_POINT_BYTES: Final = 20  # x, y, z, intensity, ring


@exporter
def export_mcap(request: ExportRequest) -> list[Path]:
    """Write ``<scene>.mcap`` for each scene.

    Raises:
        InputError: foxglove-sdk is not installed.
        DatasetError: an image is missing.
        StorageError: a file cannot be written.
    """
    try:
        import foxglove
    except ImportError as error:
        raise InputError(f"--format mcap needs Foxglove's library: {install_line('ros')}") from error
    written = []
    out = ResultPath.open(request.out)
    for scene in request.scenes():
        path = out / f"{scene.name}.mcap"
        context = foxglove.Context()
        with deferred_errors(path) as file, foxglove.open_mcap(file, context=context):
            _Topics(foxglove, context).write(scene)
        written.append(path.display_path)
    return written


class _Topics:
    """The channels of one file."""

    def __init__(self, foxglove: Any, context: Any) -> None:
        self._channels, self._messages = foxglove.channels, foxglove.messages
        self._context = context
        self._open: dict[str, Any] = {}

    def write(self, scene: Scene) -> None:
        for sample in scene:
            self._log("/tf", "FrameTransforms", self._transforms(sample), sample.timestamp_us)
            self._log("/boxes", "SceneUpdate", self._boxes(sample), sample.timestamp_us)
            for image in sample.images:
                self._log(f"/{image.channel}/image", "CompressedImage", self._image(image), image.timestamp_us)
                self._log(f"/{image.channel}/calibration", "CameraCalibration", self._camera(image), image.timestamp_us)
            for scan in sample.lidars:
                if scan.exists:
                    self._log(f"/{scan.channel}/points", "PointCloud", self._cloud(scan), scan.timestamp_us)

    def _log(self, topic: str, schema: str, message: Any, timestamp_us: int) -> None:
        if topic not in self._open:
            self._open[topic] = getattr(self._channels, f"{schema}Channel")(topic, context=self._context)
        self._open[topic].log(message, log_time=timestamp_us * 1000)

    def _stamp(self, timestamp_us: int) -> Any:
        return self._messages.Timestamp(timestamp_us // 1_000_000, timestamp_us % 1_000_000 * 1000)

    def _transforms(self, sample: Sample) -> Any:
        return self._messages.FrameTransforms(
            transforms=[
                self._messages.FrameTransform(
                    timestamp=self._stamp(sample.timestamp_us),
                    parent_frame_id=parent,
                    child_frame_id=child,
                    translation=self._vector(pose.translation_m),
                    rotation=self._quaternion(pose.quat_wxyz),
                )
                for parent, child, pose in _frames(sample)
            ]
        )

    def _boxes(self, sample: Sample) -> Any:
        boxes, palette, messages = sample.boxes, draw.palette(_COLOURS), self._messages
        entities = []
        for n, token in enumerate(boxes.instance_tokens):
            r, g, b = palette[int(boxes.instance_id[n]) % _COLOURS]
            length, width, height = boxes.size_lwh_m[n].tolist()
            pose = boxes.map_SE3_box[n]
            cube = messages.CubePrimitive(
                pose=messages.Pose(
                    position=self._vector(pose.translation_m), orientation=self._quaternion(pose.quat_wxyz)
                ),
                size=messages.Vector3(x=length, y=width, z=height),
                color=messages.Color(r=r / 255, g=g / 255, b=b / 255, a=0.6),
            )
            metadata = {"category": boxes.categories[n], "instance_id": str(int(boxes.instance_id[n]))}
            entities.append(
                messages.SceneEntity(
                    timestamp=self._stamp(sample.timestamp_us),
                    frame_id="map",
                    id=token,
                    metadata=[messages.KeyValuePair(key=key, value=value) for key, value in metadata.items()],
                    cubes=[cube],
                )
            )
        deletion = messages.SceneEntityDeletion(
            timestamp=self._stamp(sample.timestamp_us), type=messages.SceneEntityDeletionType.All
        )
        return messages.SceneUpdate(deletions=[deletion], entities=entities)

    def _image(self, image: Image) -> Any:
        kind = "png" if image.filename.endswith(".png") else "jpeg"
        return self._messages.CompressedImage(
            timestamp=self._stamp(image.timestamp_us), frame_id=image.channel, data=image.bytes(), format=kind
        )

    def _camera(self, image: Image) -> Any:
        k, lens = intrinsic_of_opencv(image.intrinsic), image.lens
        return self._messages.CameraCalibration(
            timestamp=self._stamp(image.timestamp_us),
            frame_id=image.channel,
            width=image.size_px[0],
            height=image.size_px[1],
            distortion_model="kannala_brandt" if lens and lens.model == "equidistant" else "plumb_bob",
            D=[0.0] * 5 if lens is None else [*lens.coefficients, 0.0][: 4 if lens.model == "equidistant" else 5],
            K=k.ravel().tolist(),
            R=np.eye(3).ravel().tolist(),
            P=np.hstack([k, np.zeros((3, 1))]).ravel().tolist(),
        )

    def _cloud(self, scan: LidarScan) -> Any:
        messages = self._messages
        float32 = messages.PackedElementFieldNumericType.Float32
        fields = [
            messages.PackedElementField(name=name, offset=4 * n, type=float32)
            for n, name in enumerate(("x", "y", "z", "intensity", "ring"))
        ]
        identity = messages.Pose(position=messages.Vector3(), orientation=messages.Quaternion(w=1.0))
        return messages.PointCloud(
            timestamp=self._stamp(scan.timestamp_us),
            frame_id=scan.channel,
            pose=identity,
            point_stride=_POINT_BYTES,
            fields=fields,
            data=scan.points().astype("<f4").tobytes(),
        )

    def _vector(self, values: Any) -> Any:
        x, y, z = (float(v) for v in values)
        return self._messages.Vector3(x=x, y=y, z=z)

    def _quaternion(self, quat_wxyz: Any) -> Any:
        w, x, y, z = (float(v) for v in quat_wxyz)
        return self._messages.Quaternion(x=x, y=y, z=z, w=w)


def _frames(sample: Sample) -> Iterator[tuple[str, str, SE3]]:
    """Yield parent, child and ``parent_SE3_child`` of every frame."""
    drones: set[int] = set()
    for image in sample.images:
        if image.drone_id not in drones:
            drones.add(image.drone_id)
            yield "map", f"drone_{image.drone_id}", image.map_SE3_flu
        first = next(i for i in sample.images if i.drone_id == image.drone_id)
        # ego poses of one drone differ by the simulator's rounding; this keeps the camera's map pose exact
        yield f"drone_{image.drone_id}", image.channel, first.map_SE3_flu.inverse() @ image.map_SE3_optical
    for scan in sample.lidars:
        yield "map", scan.channel, scan.map_SE3_sensor
