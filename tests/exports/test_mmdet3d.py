import pickle
from pathlib import Path

import numpy as np

import uavsim
from uavsim.dataset.tables import read_rows
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.agents import export_agents
from uavsim.exports.formats.mmdet3d import export_mmdet3d
from uavsim.records.classes import DETECTION_CLASSES


def corners(box: list[float]) -> np.ndarray:
    """Return (3, 8) corners of a box of centre x, y, z, l, w, h, metres, and yaw, radians."""
    x, y, z, length, width, height, yaw = box
    signs = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)]) / 2
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ (signs * [length, width, height]).T + np.array(
        [[x], [y], [z]]
    )


def test_boxes_project_to_their_pixels(strict: Path, tmp_path: Path) -> None:
    (path,) = export_mmdet3d(ExportRequest(strict, tmp_path))
    content = pickle.loads(path.read_bytes())
    assert content["metainfo"]["categories"]["car"] == 0
    assert len(content["data_list"]) == 4
    details = {row["sample_annotation_token"]: row for row in read_rows(strict / "v1.0-mini/visibility_detail.json")}
    rows = read_rows(strict / "v1.0-mini/sample_annotation.json")
    compared = 0
    for info in content["data_list"]:
        sample_rows = [row for row in rows if row["sample_token"] == info["token"]]
        for box, row in zip(info["instances"], sample_rows, strict=True):
            assert (box["num_lidar_pts"], box["bbox_3d_isvalid"]) == (row["num_lidar_pts"], row["num_lidar_pts"] > 0)
            if row["uav_euler_deg"][0] or row["uav_euler_deg"][1]:
                continue  # their boxes have no roll and pitch
            for view in details[row["token"]]["views"]:
                camera = info["images"][view["channel"]]
                if view["truncation"] or view["occlusion"] or view["visible_px"] < 30:
                    continue
                homogeneous = np.vstack([corners(box["bbox_3d"]), np.ones(8)])
                pixels = np.array(camera["cam2img"]) @ (np.array(camera["lidar2cam"]) @ homogeneous)[:3]
                pixels = pixels[:2] / pixels[2]
                bounds = [*pixels.min(axis=1), *pixels.max(axis=1)]
                np.testing.assert_allclose(bounds, view["visible_box"], atol=1.0)
                compared += 1
        assert (strict / info["lidar_points"]["lidar_path"]).stat().st_size % 20 == 0
    assert compared > 20


def test_labels_and_velocity_equal_the_dataset(strict: Path, tmp_path: Path) -> None:
    (path,) = export_mmdet3d(ExportRequest(strict, tmp_path, split="uav_train"))
    info = pickle.loads(path.read_bytes())["data_list"][0]
    assert [DETECTION_CLASSES[box["bbox_label_3d"]] for box in info["instances"][:8]] == [
        "car", "car", "car", "truck", "bus", "motorcycle", "bicycle", "pedestrian",
    ]  # fmt: skip
    assert np.hypot(*info["instances"][0]["velocity"]) - 5.0 < 1e-9


def test_boxes_of_an_agent_are_in_its_lidar_frame(strict: Path, tmp_path: Path) -> None:
    view, _ = export_agents(ExportRequest(strict, tmp_path / "alone"))
    (path,) = export_mmdet3d(ExportRequest(view, tmp_path))
    for info, sample in zip(pickle.loads(path.read_bytes())["data_list"], uavsim.open(view).samples(), strict=True):
        lidar2ego = np.array(info["lidar_points"]["lidar2ego"])
        np.testing.assert_allclose(lidar2ego[:2, 1], [1.0, 0.0], atol=1e-9)  # its y axis points ahead
        map_SE3_lidar = np.array(info["ego2global"]) @ lidar2ego
        centres = np.array([[*box["bbox_3d"][:3], 1.0] for box in info["instances"]]) @ map_SE3_lidar.T
        np.testing.assert_allclose(centres[:, :3], sample.boxes.map_SE3_box.translation_m, atol=1e-6)
        for camera in info["images"].values():
            np.testing.assert_allclose(lidar2ego, np.array(camera["cam2ego"]) @ camera["lidar2cam"], atol=1e-9)
