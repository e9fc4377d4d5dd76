"""Formats with lens support write OpenCV's and ROS's names; others refuse lenses in one line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uavsim
from tests.dataset_factory import in_uav3d
from tests.other_python import printed_by
from uavsim.dataset.dialects.uav3d.infos import write_uav3d_infos
from uavsim.dataset.tables import read_rows, write_rows
from uavsim.errors import DatasetError, InputError
from uavsim.exports.formats import EXPORTERS, ExportRequest

BROWN = {"uav_lens": "brown_conrady", "uav_distortion": [-0.05, 0.01, 0.002, -0.001, 0.003]}
FISHEYE = {"uav_lens": "equidistant", "uav_distortion": [-0.01, 0.002, -0.001, 0.0002]}
CHANNELS = [f"CAMERA_{name}_id_{drone}" for name in ("FRONT", "BACK", "LEFT", "RIGHT", "BOTTOM") for drone in (0, 1)]
READ = (
    "import sys, json\n"
    "from mcap.reader import make_reader\n"
    "from mcap_ros2.decoder import DecoderFactory as Ros\n"
    "from mcap_protobuf.decoder import DecoderFactory as Foxglove\n"
    "found = {}\n"
    "with open(sys.argv[1], 'rb') as file:\n"
    "    for schema, channel, _, m in make_reader(file, decoder_factories=[Ros(), Foxglove()]).iter_decoded_messages():\n"
    "        if schema.name.endswith(('CameraInfo', 'CameraCalibration')):\n"
    "            found[channel.topic] = [m.distortion_model, list(getattr(m, 'd', None) or m.D)]\n"
    "print(json.dumps(found))\n"
)


def with_lenses(data: Path, folder: Path, lens_of: Callable[[str], dict[str, Any]]) -> Path:
    """Copy a dataset and give its cameras lenses, by channel."""
    shutil.copytree(data, folder)
    channel_of = {row["token"]: row["channel"] for row in read_rows(folder / "v1.0-mini/sensor.json")}
    rows = read_rows(folder / "v1.0-mini/calibrated_sensor.json")
    for row in rows:
        if row["camera_intrinsic"]:
            row |= lens_of(channel_of[row["sensor_token"]])
    write_rows(folder / "v1.0-mini/calibrated_sensor.json", rows)
    return folder


@pytest.fixture(scope="module")
def lenses(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset with fisheyes on drone 0 and Brown-Conrady lenses on drone 1."""
    return with_lenses(
        strict, tmp_path_factory.mktemp("lenses") / "own", lambda channel: FISHEYE if channel.endswith("0") else BROWN
    )


@pytest.mark.parametrize(
    ("kind", "topic", "fisheye"),
    [
        ("mcap", "/CAMERA_BOTTOM_id_{}/calibration", "kannala_brandt"),
        ("rosbag2", "/airsim_node/drone_{}/bottom/Scene/camera_info", "equidistant"),
    ],
)
def test_ros_messages_hold_the_lens(kind: str, topic: str, fisheye: str, lenses: Path, tmp_path: Path) -> None:
    EXPORTERS.pick(kind)(ExportRequest(lenses, tmp_path, split="uav_val"))
    (path,) = tmp_path.rglob("*.mcap")
    found = json.loads(printed_by("readers", READ, path))
    assert found[topic.format(0)] == [fisheye, FISHEYE["uav_distortion"]]
    assert found[topic.format(1)] == ["plumb_bob", BROWN["uav_distortion"]]


def test_nerfstudio_refuses_two_camera_models(strict: Path, lenses: Path, tmp_path: Path) -> None:
    export = EXPORTERS.pick("nerfstudio")
    with pytest.raises(InputError, match="one camera model per file"):
        export(ExportRequest(lenses, tmp_path / "both"))
    for name, lens, model, keys in (
        ("fisheye", FISHEYE, "OPENCV_FISHEYE", ("k1", "k2", "k3", "k4")),
        ("brown", BROWN, "OPENCV", ("k1", "k2", "p1", "p2", "k3")),
    ):
        data = with_lenses(strict, tmp_path / name, dict.fromkeys(CHANNELS, lens).__getitem__)
        folder = export(ExportRequest(data, tmp_path / f"{name}-out"))[0]
        content = json.loads((folder / "transforms.json").read_bytes())
        assert content["camera_model"] == model
        assert [content["frames"][0][key] for key in keys] == lens["uav_distortion"]


@pytest.mark.parametrize("kind", ["airv2x", "mmdet3d", "opv2v"])
def test_pinhole_formats_refuse_lenses(kind: str, lenses: Path, tmp_path: Path) -> None:
    with pytest.raises(
        DatasetError, match=r"CAMERA_\w+_id_\d has a lens \(\w+\), which a pinhole matrix cannot describe; "
    ):
        EXPORTERS.pick(kind)(ExportRequest(lenses, tmp_path, split="uav_val"))


def test_uav3d_keeps_lenses_and_its_infos_refuse_them(lenses: Path, tmp_path: Path) -> None:
    folder = in_uav3d(lenses, tmp_path / "uav3d")
    with pytest.raises(DatasetError, match="UAV3D's info files cannot represent the lens"):
        write_uav3d_infos(folder, tmp_path / "infos")
    for one, other in zip(uavsim.open(lenses), uavsim.open(folder), strict=True):
        for image, converted in zip(one.samples[0].images, other.samples[0].images, strict=True):
            assert image.lens == converted.lens is not None


def test_projection_uses_the_lens(strict: Path, lenses: Path) -> None:
    """An unknown lens is refused by name."""
    plain, bent = (uavsim.open(folder).scene("scene_00").samples[0].images[4] for folder in (strict, lenses))
    places = plain.map_SE3_optical.apply(bent.rays(np.array([[10.0, 80.0], [150.0, 5.0]])) * 20.0)
    np.testing.assert_allclose(bent.project(places), [[10.0, 80.0], [150.0, 5.0]], atol=1e-6)
    assert np.abs(plain.project(places) - bent.project(places)).min() > 1.0
    assert plain.lens is None
    np.testing.assert_array_equal(plain.undistorted(), plain.pixels())
    assert bent.undistorted().shape == bent.pixels().shape


def test_unknown_lens_is_refused(strict: Path, tmp_path: Path) -> None:
    unknown = {"uav_lens": "kannala", "uav_distortion": [0.0] * 4}
    with pytest.raises(
        DatasetError, match="unknown lens 'kannala' with 4 coefficients; known: brown_conrady, equidistant"
    ):
        _ = uavsim.open(with_lenses(strict, tmp_path / "own", lambda _: unknown)).scene("scene_00").samples[0].images
