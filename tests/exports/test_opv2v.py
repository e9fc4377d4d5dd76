import struct
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.exports.renamed import rename_agent
from tools.common.factories import camera_pose_ue, drone_pose, make_plan, street, ue_matrix
from uavsim.dataset.tables import read_rows
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.opv2v import export_opv2v


def matrix(pose: list[float]) -> np.ndarray:
    """Return the (4, 4) x_to_world of OpenCOOD of [x, y, z, roll, yaw, pitch], metres and degrees."""
    x, y, z, roll, yaw, pitch = pose
    full = np.eye(4)
    full[:3, :3], full[:3, 3] = ue_matrix(roll, pitch, yaw), (x, y, z)
    return full


def test_poses_cameras_and_vehicles_are_in_simulator_axes(strict: Path, tmp_path: Path) -> None:
    (folder,) = export_opv2v(ExportRequest(strict, tmp_path, split="uav_train"))
    specs = make_plan().rig
    assert sorted(path.name for path in (folder / "scene_00").iterdir()) == ["0", "1"]
    for drone in (0, 1):
        for number in (0, 1):
            content = yaml.safe_load((folder / f"scene_00/{drone}/{number:06d}.yaml").read_text())
            drone_position_m, rpy = drone_pose(drone, number * 0.5)
            np.testing.assert_allclose(content["lidar_pose"][:3], drone_position_m, atol=1e-6)
            np.testing.assert_allclose(content["lidar_pose"][3:], [rpy[0], rpy[2], rpy[1]], atol=1e-6)
            for n, spec in enumerate(specs):
                camera = content[f"camera{n}"]
                position_m, turn = camera_pose_ue(spec, drone, number * 0.5)
                np.testing.assert_allclose(matrix(camera["cords"])[:3, :3], turn, atol=1e-6)
                np.testing.assert_allclose(camera["cords"][:3], position_m, atol=1e-6)
                back = matrix(content["lidar_pose"]) @ np.array(camera["extrinsic"])
                np.testing.assert_allclose(back, matrix(camera["cords"]), atol=1e-6)
                assert (folder / f"scene_00/{drone}/{number:06d}_camera{n}.png").is_file()
            first = content["vehicles"][1]
            mover = street()[0]
            np.testing.assert_allclose(first["extent"], mover.half, atol=1e-9)
            np.testing.assert_allclose(first["angle"], [mover.rpy[0], mover.rpy[2], mover.rpy[1]], atol=1e-5)
            assert abs(first["speed"] - 5.0 * 3.6) < 1e-9
            np.testing.assert_allclose(
                np.add(first["location"], first["center"]),
                np.array(first["location"]) + ue_matrix(*mover.rpy) @ mover.box_offset,
                atol=1e-6,
            )


def test_points_are_on_the_ground_or_on_objects(strict: Path, tmp_path: Path) -> None:
    (folder,) = export_opv2v(ExportRequest(strict, tmp_path, split="uav_val"))
    data = (folder / "scene_01/1/000000.pcd").read_bytes()
    head, _, body = data.partition(b"DATA binary\n")
    count = int(head.split(b"POINTS ")[1].split()[0])
    points = np.frombuffer(body, "<f4").reshape(count, 4)[:, :3]
    assert b"FIELDS x y z rgb\n" in head  # OpenCOOD takes the intensity from the red
    assert set(np.frombuffer(body, "<u4").reshape(count, 4)[:, 3]) == {0xFFFFFF}
    assert struct.calcsize("<4f") * count == len(body)
    drone_position_m, rpy = drone_pose(1, 0.0)
    world = points @ ue_matrix(*rpy).T + drone_position_m
    near = np.linalg.norm(points, axis=1) < 60
    assert near.sum() > 200
    assert np.quantile(np.abs(world[near, 2]), 0.5) < 0.02  # most of it is the plane z = 0
    assert world[near, 2].min() > -0.1
    assert world[near, 2].max() < 8.1  # the higher house
    assert len(read_rows(strict / "v1.0-mini/scene.json")) == 2


@pytest.mark.parametrize(("agent", "name"), [("v0", "1000"), ("r0", "-1"), ("r1", "2001")])
def test_drone_0_is_the_ego_among_all_agents(strict: Path, tmp_path: Path, agent: str, name: str) -> None:
    root = rename_agent(strict, tmp_path / "data", agent)
    (folder,) = export_opv2v(ExportRequest(root, tmp_path / "out", split="uav_train"))
    names = sorted(path.name for path in (folder / "scene_00").iterdir())
    assert set(names) == {"0", name}
    if int(names[0]) < 0:  # as OpenCOOD's basedataset.py sorts them
        names = names[1:] + names[:1]
    assert names[0] == "0"
