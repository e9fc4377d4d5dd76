"""EuRoC's layout: one sequence for each scene and agent with an IMU, for visual-inertial estimators.

Times are nanoseconds, images are grey, the pixel (0, 0) is the centre of the first pixel. The body is the agent's flu frame,
the world is the map frame; ``T_BS`` transforms points from the sensor to the body. Source: EuRoC's "ASL Dataset Format", and
the files of ``V1_01_easy``.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Image, Scene, SensorStream
from uavsim.errors import InputError
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.text import to_yaml, write_text
from uavsim.files.parquet import Records
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry.pinhole import intrinsic_of_opencv
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.records.channels import agent_of

_XYZ: Final = "xyz"
_IMU: Final = [
    *(f"w_RS_S_{axis} [rad s^-1]" for axis in _XYZ),
    *(f"a_RS_S_{axis} [m s^-2]" for axis in _XYZ),
]
_TRUTH: Final = [
    *(f"p_RS_R_{axis} [m]" for axis in _XYZ),
    *(f"q_RS_{axis} []" for axis in "wxyz"),
    *(f"v_RS_R_{axis} [m s^-1]" for axis in _XYZ),
    *(f"b_w_RS_S_{axis} [rad s^-1]" for axis in _XYZ),
    *(f"b_a_RS_S_{axis} [m s^-2]" for axis in _XYZ),
]
_BODY: Final = SE3.from_quat_wxyz(np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))


@exporter
def export_euroc(request: ExportRequest) -> list[Path]:
    """Write ``<scene>/<agent>/mav0`` of each agent with an IMU: cameras, IMU, and the true state at each reading.

    Raises:
        DatasetError: a file is missing.
        InputError: the dataset has no IMU, or a lens that EuRoC's files cannot describe.
        StorageError: a file cannot be written.
    """
    written = []
    out = ResultPath.open(request.out)
    for scene in request.scenes():
        for stream in (one for one in scene.streams if one.kind == "imu"):
            kind, number = agent_of(stream.channel)
            folder = out / scene.name / f"{kind}_{number}" / "mav0"
            _write(folder, scene, stream)
            written.append(folder.display_path)
    if not written:
        raise InputError(f"{request.root}: no IMU, which EuRoC requires; add flight_sensors: {{imu: {{}}}}")
    return written


def _write(folder: ResultPath, scene: Scene, stream: SensorStream) -> None:
    write_text(folder / "body.yaml", to_yaml({"comment": f"{scene.name} {stream.channel}"}))
    readings = stream.readings()
    _write_sensor(folder / "imu0", _imu_yaml(stream), _IMU, _csv(readings, "gyroscope_radps", "accelerometer_mps2"))
    state = ("position_map_m", "quat_wxyz", "velocity_map_mps", "gyroscope_bias_radps", "accelerometer_bias_mps2")
    truth = {"sensor_type": "visual-inertial", "comment": "exact, at each reading of the IMU", "T_BS": _matrix(_BODY)}
    _write_sensor(folder / "state_groundtruth_estimate0", truth, _TRUTH, _csv(readings, *state))
    for number, images in enumerate(_cameras(scene, stream)):
        camera = folder / f"cam{number}"
        names = [f"{image.timestamp_us * 1000}.png" for image in images]
        rows = [f"{name.removesuffix('.png')},{name}" for name in names]
        _write_sensor(camera, _camera_yaml(images), ["filename"], rows)
        for name, image in zip(names, images, strict=True):
            write_whole(camera / "data" / name, codec.encode_png(codec.grey_of(image.pixels())))


def _cameras(scene: Scene, stream: SensorStream) -> Iterator[list[Image]]:
    """Yield the images of each camera on the IMU's agent."""
    carrier = agent_of(stream.channel)
    for channel in dict.fromkeys(image.channel for image in scene.samples[0].images):
        if agent_of(channel) == carrier:
            yield scene.images_of(channel)


def _write_sensor(folder: ResultPath, about: dict[str, Any], columns: list[str], rows: list[str]) -> None:
    write_text(folder / "sensor.yaml", to_yaml(about))
    write_text(folder / "data.csv", "\n".join([f"#{','.join(['timestamp [ns]', *columns])}", *rows]) + "\n")


def _csv(readings: Records, *names: str) -> list[str]:
    """Return one line for each reading: its time and the exact values of some fields."""
    values = np.concatenate([readings[name] for name in names], axis=1).tolist()
    times_us = readings["timestamp_us"].tolist()
    return [f"{time_us * 1000},{','.join(map(repr, row))}" for time_us, row in zip(times_us, values, strict=True)]


def _imu_yaml(stream: SensorStream) -> dict[str, Any]:
    about = {"sensor_type": "imu", "comment": stream.channel, "T_BS": _matrix(_BODY), "rate_hz": stream.rate_hz}
    model = stream.model()
    for name in ("gyroscope", "accelerometer"):
        about |= {f"{name}_noise_density": model[name]["white"], f"{name}_random_walk": model[name]["random_walk"]}
    return about


def _camera_yaml(images: list[Image]) -> dict[str, Any]:
    first = images[0]
    span_us = images[-1].timestamp_us - first.timestamp_us
    k, lens = intrinsic_of_opencv(first.intrinsic), first.lens
    if lens and any(lens.coefficients[4:]):
        raise InputError(f"{first.channel}: EuRoC's radial-tangential model has no k3, but the lens has one")
    return {
        "sensor_type": "camera",
        "comment": first.channel,
        "T_BS": _matrix(first.flu_SE3_optical),
        "rate_hz": round((len(images) - 1) * 1e6 / span_us, 6) if span_us else 0.0,
        "resolution": list(first.size_px),
        "camera_model": "pinhole",
        "intrinsics": k[[0, 1, 0, 1], [0, 1, 2, 2]].tolist(),
        "distortion_model": "equidistant" if lens and lens.model == "equidistant" else "radial-tangential",
        "distortion_coefficients": [0.0, 0.0, 0.0, 0.0] if lens is None else list(lens.coefficients[:4]),
    }


def _matrix(pose: SE3) -> dict[str, Any]:
    return {"cols": 4, "rows": 4, "data": pose.matrix.ravel().tolist()}
