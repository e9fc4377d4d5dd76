"""The uav3d dialect by the formulas of UAV3D's code, in the simulator's frame."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dataset_factory import table
from tools.common.factories import UE_TO_OPTICAL, camera_pose_ue, make_plan, shape_of, street, ue_matrix
from uavsim.dataset.dialects.uav3d.format import sweep_folder
from uavsim.dataset.dialects.uav3d.from_strict import _origins
from uavsim.dataset.euler_safe import ned_quaternions, uav3d_euler_deg
from uavsim.geometry import frames, unreal


def test_every_image_has_its_own_global_pose(uav3d: Path) -> None:
    images, sensors = table(uav3d, "sample_data"), table(uav3d, "calibrated_sensor")
    assert len({row["calibrated_sensor_token"] for row in images}) == len(images) == len(sensors)
    specs = {spec.name: spec for spec in make_plan().rig}
    sensor_of = {row["token"]: row for row in sensors}
    first = min(row["timestamp"] for row in images)
    compared = 0
    for row in images[: 2 * 15]:
        sensor = sensor_of[row["calibrated_sensor_token"]]
        channel = row["filename"].split("/")[2]
        at, matrix = camera_pose_ue(specs[channel.split("_")[1]], int(channel[-1]), (row["timestamp"] - first) / 1e6)
        np.testing.assert_allclose(sensor["translation"], at, atol=1e-9)
        roll, pitch, yaw = uav3d_euler_deg(np.array([sensor["rotation"]]))[0]
        np.testing.assert_allclose(ue_matrix(roll, pitch, yaw), matrix, atol=2e-6)
        compared += 1
    assert compared == 30


def test_ego_poses_are_identity_and_images_lie_where_uav3d_has_them(uav3d: Path) -> None:
    for pose in table(uav3d, "ego_pose"):
        assert pose["translation"] == [0, 0, 0]
        assert pose["rotation"] == [1, 0, 0, 0]
    for row in table(uav3d, "sample_data"):
        folder, town_row, channel, name = row["filename"].split("/")
        assert (folder, town_row) == ("sweeps", "town10_row1")
        assert channel.startswith("CAMERA_")
        assert name == f"{row['timestamp'] * 1000}.png"
        assert (uav3d / row["filename"]).is_file()
    assert {row["modality"] for row in table(uav3d, "sensor")} == {"camera"}


def test_boxes_are_actor_origins_with_length_first(uav3d: Path) -> None:
    cast = street()
    category = {row["token"]: row["name"] for row in table(uav3d, "category")}
    name_of = {row["token"]: category[row["category_token"]] for row in table(uav3d, "instance")}
    stamp = {row["token"]: row["timestamp"] for row in table(uav3d, "sample")}
    first = min(stamp.values())
    for row in table(uav3d, "sample_annotation"):
        if stamp[row["sample_token"]] > first + 10_000_000:
            continue  # the second scene
        mover = cast[row["uav_instance_id"] - 1]
        time_s = (stamp[row["sample_token"]] - first) / 1e6
        heading = np.radians(mover.rpy[2])
        at = np.array(mover.at) + mover.speed * time_s * np.array([np.cos(heading), np.sin(heading), 0])
        np.testing.assert_allclose(row["translation"], at, atol=1e-9)
        if any(mover.half):
            np.testing.assert_allclose(row["size"], 2 * shape_of(mover)[0], atol=1e-12)
        roll, pitch, yaw = uav3d_euler_deg(np.array([row["rotation"]]))[0]
        np.testing.assert_allclose([roll, pitch], mover.rpy[:2], atol=1e-5)
        assert np.cos(np.radians(yaw - mover.rpy[2] - mover.yaw_rate * time_s)) == pytest.approx(1.0, abs=1e-12)
        if mover.blueprint == "vehicle.lincoln.mkz_2020":
            assert name_of[row["instance_token"]] == "vehicle.lincoln.mkz2017"


def test_boxes_without_recorded_origin_stand_on_their_lower_face() -> None:
    rows: list[Any] = [{"size": [2.0, 4.0, 3.0]}, {"size": [2.0, 4.0, 3.0]}]
    upside_down = [0.0, 1.0, 0.0, 0.0]
    origins_map_m = _origins(rows, np.array([[1.0, 2.0, 5.0]] * 2), np.array([[1.0, 0.0, 0.0, 0.0], upside_down]))
    np.testing.assert_allclose(origins_map_m, [[1.0, 2.0, 3.5], [1.0, 2.0, 6.5]])


def test_their_projection_puts_the_box_on_its_pixels(uav3d: Path, strict: Path) -> None:
    """visualization/functions.py: corners of the box on its origin, K [[0,1,0],[0,0,-1],[1,0,0]] T^-1."""
    tight = {
        (row["sample_annotation_token"], view["sample_data_token"]): view
        for row in table(strict, "visibility_detail")
        for view in row["views"]
        if view["truncation"] == 0 and view["occlusion"] == 0 and view["visible_px"] > 30
    }
    sensors = {row["token"]: row for row in table(uav3d, "calibrated_sensor")}
    boxes = {row["token"]: row for row in table(uav3d, "sample_annotation")}
    offset = {row["token"]: row["uav_bbox_offset"] for row in table(strict, "sample_annotation")}
    compared = 0
    for (box_token, image_token), view in tight.items():
        box, sensor = boxes[box_token], sensors[image_token]
        turn = ue_matrix(*uav3d_euler_deg(np.array([box["rotation"]]))[0])
        x, y, z = offset[box_token]
        signs = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)])
        corners = np.array(box["translation"])[:, None] + turn @ (signs * np.array(box["size"]) / 2 + [x, -y, z]).T
        camera = ue_matrix(*uav3d_euler_deg(np.array([sensor["rotation"]]))[0])
        optical = UE_TO_OPTICAL @ camera.T @ (corners - np.array(sensor["translation"])[:, None])
        pixels = (np.array(sensor["camera_intrinsic"]) @ optical / optical[2])[:2]
        bounds = [*pixels.min(axis=1), *pixels.max(axis=1)]
        np.testing.assert_allclose(bounds, view["visible_box"], atol=1.0)  # drawn boxes fill their pixels
        compared += 1
    assert compared > 20


@settings(max_examples=200, deadline=None)
@given(st.floats(-180, 180), st.floats(-180, 180), st.integers(0, 16), st.floats(-1e-6, 1e-6))
def test_cameras_that_look_straight_down_survive_their_euler_angles(
    yaw: float, other: float, digits: int, roll: float
) -> None:
    euler = np.array([[roll, -90.0 + 10.0**-digits, yaw], [0.0, -90.0, yaw], [0.0, -45.0, other]])
    read = uav3d_euler_deg(ned_quaternions(euler))
    for (r, p, y), (tr, tp, ty) in zip(read, euler, strict=True):
        np.testing.assert_allclose(ue_matrix(r, p, y), ue_matrix(tr, tp, ty), atol=3e-6)


def test_the_plain_quaternion_would_not_survive() -> None:
    """The adjustment is needed: many attitudes 1e-12 degrees from the pole are read wrongly."""
    rng = np.random.default_rng(0)
    euler = np.stack([np.zeros(500), np.full(500, -90 + 1e-12), rng.uniform(-180, 180, 500)], axis=1)
    plain = frames.quat_ned_from_map(unreal.map_q_flu_from_ue_euler(euler))
    wrong = [
        np.abs(ue_matrix(*read) - ue_matrix(*true)).max()
        for read, true in zip(uav3d_euler_deg(plain), euler, strict=True)
    ]
    assert max(wrong) > 1e-2


@pytest.mark.parametrize(
    ("log", "folder"),
    [
        ({"location": "Town10HD", "uav_route": "row3_col2"}, "town10_row3"),
        ({"location": "Town03", "uav_route": "r5c1"}, "town03_row5"),
        ({"location": "Town07_Opt", "uav_route": "loop east"}, "town07_loop_east"),
        ({"location": "My Town", "logfile": "x"}, "my_town_x"),
    ],
)
def test_sweep_folders(log: Any, folder: str) -> None:
    assert sweep_folder(log) == folder
