"""AirV2X's layout: poses, depth, objects and bird's-eye layers."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PngImage

import uavsim
from tests.exports.renamed import rename_agent
from tools.common.factories import ue_matrix
from uavsim.access import Image
from uavsim.errors import InputError
from uavsim.exports.formats import ExportRequest, airv2x
from uavsim.exports.formats.airv2x import export_airv2x
from uavsim.geometry.se3 import SE3

NOW = "scene_00/timestamp_000001"
LAYERS = [f"map_dynamic_bev_layer_{number}.png" for number in range(7)]
STATIC = [f"map_static_{name}.png" for name in ("background", "lane", "road")]
POLE = ["back", "front", "left", "right"]


@pytest.fixture(scope="module")
def data(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rename_agent(strict, tmp_path_factory.mktemp("pole") / "data", "r0")


@pytest.fixture(scope="module")
def out(data: Path) -> Path:
    (folder,) = export_airv2x(ExportRequest(data, data.parent / "out"))
    return folder


def read(path: Path) -> Any:
    return pickle.loads(path.read_bytes())


def grey(path: Path) -> np.ndarray:
    return np.array(PngImage.open(path).convert("L"))


def world_from(pose: list[float]) -> np.ndarray:
    """Return the (4, 4) x_to_world of OpenCOOD of [x, y, z, roll, yaw, pitch], metres and degrees."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = ue_matrix(pose[3], pose[5], pose[4]), pose[:3]
    return found


def level(image: Image) -> SE3:
    """Return an agent's pose with heading only."""
    ahead = image.map_SE3_flu.rotation[:2, 0]
    half = np.arctan2(ahead[1], ahead[0]) / 2
    return SE3(np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), image.map_SE3_flu.translation_m)


def test_files_are_those_of_airv2xs_reader(out: Path) -> None:
    cameras = {"agent_000000": ["bev"], "agent_002000": POLE}
    assert {path.name for path in (out / NOW).iterdir()} == {"objects.pkl", *cameras}
    for agent, names in cameras.items():
        images = [f"{name}_{kind}.png" for name in names for kind in ("camera", "depth")]
        expected = {"metadata.pkl", "lidar.pcd", *images, *LAYERS, *STATIC}
        assert {path.name for path in (out / NOW / agent).iterdir()} == expected


def test_poses_add_up_and_extrinsic_maps_lidar_to_camera(data: Path, out: Path) -> None:
    sample = uavsim.open(data).scene("scene_00").samples[1]
    known = read(out / NOW / "agent_002000/metadata.pkl")
    assert known["agent_type"] == "rsu"
    ego_pose = np.array(known["odometry"]["ego_pos"])
    lidar = world_from((ego_pose + known["lidar"]["lidar_pose"]).tolist())
    for image in (image for image in sample.images if image.channel.endswith("_r0") and image.camera != "BOTTOM"):
        metadata = known[f"{image.camera.lower()}_camera"]
        camera = world_from((ego_pose + metadata["cords"]).tolist())
        np.testing.assert_allclose(camera[:3, 3] * [1, -1, 1], image.map_SE3_optical.translation_m, atol=1e-9)
        np.testing.assert_allclose(camera @ np.array(metadata["extrinsic"]), lidar, atol=1e-9)
        ahead = np.array([1.0, -1.0, 1.0]) * camera[:3, 0]  # x of Unreal's camera, in the map
        np.testing.assert_allclose(ahead, image.map_SE3_optical.rotation[:, 2], atol=1e-9)
        np.testing.assert_allclose(metadata["intrinsic"], image.intrinsic)


def test_depth_has_carlas_code(data: Path, out: Path) -> None:
    sample = uavsim.open(data).scene("scene_00").samples[1]
    image = next(image for image in sample.images if image.channel.endswith("BOTTOM_id_0"))
    low, middle, high = np.moveaxis(
        np.array(PngImage.open(out / NOW / "agent_000000/bev_depth.png")).astype(float), -1, 0
    )
    metres = (low + middle * 256 + high * 65536) / (256**3 - 1) * 1000
    np.testing.assert_allclose(metres, np.minimum(image.depth_m(), 1000.0), atol=1e-4)


def test_objects_and_layers_match_the_boxes(data: Path, out: Path) -> None:
    sample = uavsim.open(data).scene("scene_00").samples[1]
    boxes, found = sample.boxes, read(out / NOW / "objects.pkl")
    assert set(found) == set(boxes.instance_id.tolist())
    image = next(image for image in sample.images if image.drone_id == 0)
    layers = [grey(out / NOW / "agent_000000" / name) for name in LAYERS]
    inside = 0
    for row, number in enumerate(boxes.instance_id.tolist()):
        entry = found[number]
        centre_m = (np.array(entry["location"][:3]) + entry["center"]) * [1, -1, 1]
        np.testing.assert_allclose(centre_m, boxes.map_SE3_box.translation_m[row], atol=1e-9)
        np.testing.assert_allclose(np.array(entry["extent"]) * 2, boxes.size_lwh_m[row])
        ahead_m, left_m, _ = level(image).apply_inverse(boxes.map_SE3_box.translation_m[row])
        line, column = int(256 - ahead_m / 0.25), int(256 - left_m / 0.25)  # AirV2X: ahead is up
        if 0 <= line < 512 and 0 <= column < 512:
            assert layers[entry["class"]][line, column] == 255
            inside += 1
    assert inside > 3
    areas_m2 = sum((layer > 127).sum() for layer in layers) * 0.25**2
    assert areas_m2 < 2 * np.prod(boxes.size_lwh_m[:, :2], axis=1).sum()


def test_road_layer_is_the_map_mask_and_lane_layer_the_vector_map(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(data, root)
    dataset = uavsim.open(root)
    sample = dataset.scene("scene_00").samples[1]
    body = level(next(image for image in sample.images if image.drone_id == 0))
    ends_m = body.apply(np.array([[0.0, -20.0, 0.0], [0.0, -20.0, 0.0], [40.0, -20.0, 0.0]]))[[0, 2]]
    nodes = [{"token": str(n), "x": x, "y": y} for n, (x, y, _) in enumerate(ends_m.tolist())]
    tables = {"node": nodes, "line": [{"token": "line", "node_tokens": ["0", "1"]}], "road_divider": []}
    lines = root / f"maps/expansion/{dataset.scene('scene_00').town}.json"
    lines.parent.mkdir(parents=True)
    lines.write_text(json.dumps({**tables, "lane_divider": [{"line_token": "line"}]}))
    (folder,) = export_airv2x(ExportRequest(root, tmp_path / "out"))
    background, lane, road = (grey(folder / NOW / "agent_000000" / name) > 127 for name in STATIC)
    assert (background.astype(int) + lane + road == 1).all()
    line, column = np.nonzero(lane)
    assert abs(column.mean() - (256 + 20 / 0.25)) < 2  # 20 m to the right
    assert abs((255 - line.min()) * 0.25 - 40) < 1
    town = dataset.maps[dataset.scene("scene_00").town]
    ahead_m, left_m = (256 - np.argwhere(road).T - 0.5) * 0.25
    places_m = body.apply(np.stack([ahead_m, left_m, np.zeros(len(left_m))], axis=1))[:, :2]
    cells = np.floor((places_m - town.origin_map_m) / town.metres_per_px).astype(int)
    mask = town.drivable()
    assert mask[mask.shape[0] - 1 - cells[:, 1], cells[:, 0]].all()


def test_missing_camera_or_depth_is_refused_with_a_remedy(strict: Path, tmp_path: Path) -> None:
    car = rename_agent(strict, tmp_path / "car", "v0")
    with pytest.raises(
        InputError, match=r"scene_00: vehicle v0 has no camera FRONT_LEFT, .* a rig like airv2x_car has it$"
    ):
        export_airv2x(ExportRequest(car, tmp_path / "out"))
    flat = rename_agent(strict, tmp_path / "flat", "r0")
    (flat / "v1.0-mini/layer.json").write_text("[]")
    with pytest.raises(
        InputError,
        match=r"CAMERA_BOTTOM_id_0 has no depth .* airv2x_drone, or .* replay .*flat --out .*flat-depth --sensors \+depth",
    ):
        export_airv2x(ExportRequest(flat, tmp_path / "out"))


def test_a_kind_of_agent_that_airv2x_lacks_is_refused(
    strict: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(airv2x._KINDS, "drone")
    with pytest.raises(InputError, match=r"scene_00: AirV2X has no agents of kind drone, only vehicle, roadside$"):
        export_airv2x(ExportRequest(strict, tmp_path / "out"))
