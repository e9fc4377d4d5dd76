"""EuRoC folders: published layout, and ground truth read by evo."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import uavsim
from tests.dataset_factory import make_dataset
from tests.other_python import printed_by
from tests.streams import add_streams
from uavsim.errors import InputError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.euroc import export_euroc
from uavsim.images import codec


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_dataset(
        tmp_path_factory.mktemp("imu") / "own", scenes=1, samples=2, sweeps=4, drones=2, size_px=(32, 18)
    )
    add_streams(folder, drones=2)
    return folder


@pytest.fixture(scope="module")
def mav0(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("euroc")
    assert export_euroc(ExportRequest(data, out)) == [out / "scene_00" / f"drone_{n}" / "mav0" for n in (0, 1)]
    return out / "scene_00/drone_1/mav0"


def table(path: Path) -> tuple[list[str], list[list[str]]]:
    head, *rows = csv.reader(path.read_text().splitlines())
    return head, rows


def about(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((path / "sensor.yaml").read_text())
    return found


def test_imu_rows_equal_the_stream_exactly(data: Path, mav0: Path) -> None:
    stream = next(s for s in uavsim.open(data).scene("scene_00").streams if s.channel == "IMU_id_1")
    found = stream.readings()
    head, rows = table(mav0 / "imu0/data.csv")
    assert head[:2] == ["#timestamp [ns]", "w_RS_S_x [rad s^-1]"]
    assert [int(row[0]) for row in rows] == (found["timestamp_us"] * 1000).tolist()
    values = np.array([row[1:] for row in rows], float)
    np.testing.assert_array_equal(values, np.hstack([found["gyroscope_radps"], found["accelerometer_mps2"]]))
    settings = about(mav0 / "imu0")
    assert (settings["rate_hz"], settings["gyroscope_noise_density"], settings["accelerometer_random_walk"]) == (
        200,
        1.6968e-4,
        3e-3,
    )
    assert np.array(settings["T_BS"]["data"]).reshape(4, 4).tolist() == np.eye(4).tolist()


def test_images_are_grey_and_named_by_time(data: Path, mav0: Path) -> None:
    images = uavsim.open(data).scene("scene_00").images_of("CAMERA_BACK_id_1")
    head, rows = table(mav0 / "cam1/data.csv")
    assert head == ["#timestamp [ns]", "filename"]
    assert rows == [[str(i.timestamp_us * 1000), f"{i.timestamp_us * 1000}.png"] for i in images]
    grey = codec.decode_rgb(mav0 / "cam1/data" / rows[0][1])[..., 0]
    np.testing.assert_array_equal(grey, codec.grey_of(images[0].pixels()))
    settings, focal_px = about(mav0 / "cam1"), images[0].intrinsic[0, 0]
    assert (settings["intrinsics"], settings["resolution"]) == ([focal_px, focal_px, 15.5, 8.5], [32, 18])
    assert settings["rate_hz"] == 10
    # T_BS takes the camera's points to the body: with the true state they are where the dataset has the camera
    _, state = table(mav0 / "state_groundtruth_estimate0/data.csv")
    w, x, y, z = map(float, state[0][4:8])
    turn = uavsim.SE3.from_quat_wxyz(np.array([w, x, y, z]), np.array(state[0][1:4], float))
    body_SE3_camera = np.array(settings["T_BS"]["data"]).reshape(4, 4)
    np.testing.assert_allclose(turn.matrix @ body_SE3_camera, images[0].map_SE3_optical.matrix, atol=1e-6)


def test_evo_reads_the_ground_truth(data: Path, mav0: Path) -> None:
    code = (
        "import sys, json; from evo.tools import file_interface as f; t = f.read_euroc_csv_trajectory(sys.argv[1]); "
        "print(json.dumps([t.positions_xyz.tolist(), t.orientations_quat_wxyz.tolist(), t.timestamps.tolist(), t.check()[0]]))"
    )
    path = mav0 / "state_groundtruth_estimate0/data.csv"
    places, turns, times_s, fine = json.loads(printed_by("readers", code, path))
    found = next(s for s in uavsim.open(data).scene("scene_00").streams if s.channel == "IMU_id_1").readings()
    np.testing.assert_array_equal(places, found["position_map_m"])
    np.testing.assert_array_equal(turns, found["quat_wxyz"])
    np.testing.assert_allclose(times_s, found["timestamp_us"] / 1e6, rtol=1e-15)
    assert fine


def test_dataset_without_an_imu_is_refused(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no IMU, which EuRoC requires; add flight_sensors: \{imu: \{\}\}"):
        export_euroc(ExportRequest(strict, tmp_path))
