"""The example of docs/frames.md, calculated by hand, against all exports with a camera's pose.

A drone hovers level at (100, 50, 60) m and faces map y. Its camera RIGHT looks straight to its right, which is map x. In the
image, right is map -y and down is map -z. A car's centre at (120, 45, 58) is 20 m ahead, 5 m to the right, 2 m below: with
400 px focal length and centre (400, 225) that is pixel (500, 265). The tables are written by hand, in plain nuScenes.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rerun.chunk import RrdReader

import uavsim
from tests.other_python import printed_by
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.mcap import export_mcap
from uavsim.exports.formats.nerfstudio import export_nerfstudio
from uavsim.exports.publish.parquet import rows_of
from uavsim.images import codec
from uavsim.viewing.view import ViewRequest, write_recording

HALF = float(np.sqrt(0.5))
PLACE = [100.0, 50.0, 60.0]
FACES_MAP_Y = [HALF, 0.0, 0.0, HALF]  # 90 degrees about z
LOOKS_RIGHT = [0.0, 0.0, HALF, -HALF]  # half a turn about (0, 1, -1): x to -x, y to -z, z to -y
MAP_FROM_OPTICAL = [0.5, -0.5, 0.5, -0.5]
CAMERA_AXES_IN_MAP = np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]])  # columns: right -y, down -z, ahead x


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("paper")
    name = "samples/CAMERA_RIGHT_id_0/a.png"
    (root / name).parent.mkdir(parents=True)
    (root / name).write_bytes(codec.encode_png(np.full((450, 800, 3), 90, dtype=np.uint8)))
    shared: dict[str, Any] = {"prev": "", "next": ""}
    tables: dict[str, list[dict[str, Any]]] = {
        "category": [{"token": "car", "name": "vehicle.car", "description": ""}],
        "attribute": [],
        "visibility": [{"token": "4", "level": "v80-100", "description": ""}],
        "instance": [
            {
                "token": "i",
                "category_token": "car",
                "nbr_annotations": 1,
                "first_annotation_token": "box",
                "last_annotation_token": "box",
            }
        ],
        "sensor": [{"token": "s", "channel": "CAMERA_RIGHT_id_0", "modality": "camera"}],
        "calibrated_sensor": [
            {
                "token": "c",
                "sensor_token": "s",
                "translation": [0.0, 0.0, 0.0],
                "rotation": LOOKS_RIGHT,
                "camera_intrinsic": [[400.0, 0.0, 400.0], [0.0, 400.0, 225.0], [0.0, 0.0, 1.0]],
            }
        ],
        "ego_pose": [{"token": "d", "timestamp": 1_000_000, "translation": PLACE, "rotation": FACES_MAP_Y}],
        "log": [{"token": "l", "logfile": "", "vehicle": "", "date_captured": "", "location": "paper"}],
        "scene": [
            {
                "token": "sc",
                "log_token": "l",
                "nbr_samples": 1,
                "first_sample_token": "sa",
                "last_sample_token": "sa",
                "name": "paper",
                "description": "",
            }
        ],
        "sample": [{"token": "sa", "timestamp": 1_000_000, "scene_token": "sc"} | shared],
        "sample_data": [
            {
                "token": "d",
                "sample_token": "sa",
                "ego_pose_token": "d",
                "calibrated_sensor_token": "c",
                "timestamp": 1_000_000,
                "fileformat": "png",
                "is_key_frame": True,
                "height": 450,
                "width": 800,
                "filename": name,
            }
            | shared
        ],
        "sample_annotation": [
            {
                "token": "box",
                "sample_token": "sa",
                "instance_token": "i",
                "visibility_token": "4",
                "attribute_tokens": [],
                "translation": [120.0, 45.0, 58.0],
                "size": [2.0, 4.0, 1.5],
                "rotation": [1.0, 0.0, 0.0, 0.0],
                "num_lidar_pts": 9,
                "num_radar_pts": 0,
            }
            | shared
        ],
        "map": [],
    }
    (root / "v1.0-mini").mkdir()
    for table, rows in tables.items():
        (root / "v1.0-mini" / f"{table}.json").write_text(json.dumps(rows))
    return root


def test_python_interface_has_the_worked_pose(paper: Path) -> None:
    image = uavsim.open(paper).scene("paper").samples[0].images[0]
    np.testing.assert_allclose(image.map_SE3_optical.translation_m, PLACE, atol=1e-12)
    np.testing.assert_allclose(image.map_SE3_optical.quat_wxyz, MAP_FROM_OPTICAL, atol=1e-12)
    np.testing.assert_allclose(image.map_SE3_optical.apply(np.eye(3)) - PLACE, CAMERA_AXES_IN_MAP.T, atol=1e-12)
    np.testing.assert_allclose(image.project(np.array([120.0, 45.0, 58.0])), [500.0, 265.0], atol=1e-9)


def test_parquet_has_the_worked_pose(paper: Path) -> None:
    (row,) = rows_of(uavsim.open(paper).scene("paper").samples[0], log={})
    assert (row["channel"], row["drone_id"]) == ("CAMERA_RIGHT_id_0", 0)
    np.testing.assert_allclose(row["camera_center_m"], PLACE, atol=1e-12)
    np.testing.assert_allclose(row["camera_rotation_wxyz"], MAP_FROM_OPTICAL, atol=1e-12)
    np.testing.assert_allclose(row["drone_center_m"], PLACE, atol=1e-12)
    np.testing.assert_allclose(row["drone_rotation_wxyz"], FACES_MAP_Y, atol=1e-12)
    (box,) = row["objects"]
    assert box["center_m"] == [120.0, 45.0, 58.0]
    assert box["size_lwh_m"] == [4.0, 2.0, 1.5]


def test_nerfstudio_has_the_worked_pose(paper: Path, tmp_path: Path) -> None:
    (folder,) = export_nerfstudio(ExportRequest(paper, tmp_path))
    (frame,) = json.loads((folder / "transforms.json").read_text())["frames"]
    assert (frame["fl_x"], frame["cx"], frame["cy"], frame["w"], frame["h"]) == (400, 400, 225, 800, 450)
    right, up, back = [0, -1, 0], [0, 0, 1], [-1, 0, 0]  # OpenGL's axes in the map
    expected = np.column_stack([right, up, back, PLACE])
    np.testing.assert_allclose(frame["transform_matrix"], np.vstack([expected, [0, 0, 0, 1]]), atol=1e-12)


def test_mcap_has_the_worked_pose(paper: Path, tmp_path: Path) -> None:
    (path,) = export_mcap(ExportRequest(paper, tmp_path))
    script = (
        "import sys, json\n"
        "from mcap_protobuf.reader import read_protobuf_messages\n"
        "found = {}\n"
        "for m in read_protobuf_messages(sys.argv[1], topics=['/tf', '/boxes', '/CAMERA_RIGHT_id_0/calibration']):\n"
        "    p = m.proto_msg\n"
        "    for t in getattr(p, 'transforms', ()):\n"
        "        r, v = t.rotation, t.translation\n"
        "        found[t.parent_frame_id + ' ' + t.child_frame_id] = [[v.x, v.y, v.z], [r.w, r.x, r.y, r.z]]\n"
        "    for e in getattr(p, 'entities', ()):\n"
        "        c = e.cubes[0]; at, size = c.pose.position, c.size\n"
        "        found['box'] = [at.x, at.y, at.z, size.x, size.y, size.z]\n"
        "    if hasattr(p, 'K'): found['K'] = list(p.K); found['frame'] = p.frame_id\n"
        "print(json.dumps(found))\n"
    )
    poses = json.loads(printed_by("readers", script, path))
    np.testing.assert_allclose(poses["map drone_0"][0], PLACE, atol=1e-12)
    np.testing.assert_allclose(poses["map drone_0"][1], FACES_MAP_Y, atol=1e-12)
    np.testing.assert_allclose(poses["drone_0 CAMERA_RIGHT_id_0"][0], [0, 0, 0], atol=1e-12)
    same_turn = np.abs(np.dot(poses["drone_0 CAMERA_RIGHT_id_0"][1], LOOKS_RIGHT))  # q and -q are one rotation
    np.testing.assert_allclose(same_turn, 1.0, atol=1e-12)
    # A CameraCalibration's K is OpenCV's, with (0, 0) at the first pixel's centre, not its corner: half a pixel less.
    assert (poses["frame"], poses["K"]) == ("CAMERA_RIGHT_id_0", [400, 0, 399.5, 0, 400, 224.5, 0, 0, 1])
    assert poses["box"] == [120, 45, 58, 4, 2, 1.5]


def test_recording_has_the_worked_pose(paper: Path, tmp_path: Path) -> None:
    write_recording(uavsim.open(paper), tmp_path / "a.rrd", ViewRequest(image_width_px=400))

    def value(entity: str, component: str) -> Any:
        for chunk in RrdReader(tmp_path / "a.rrd").stream():
            batch = chunk.to_record_batch()
            if str(chunk.entity_path) == entity and component in batch.schema.names:
                return np.array(batch.column(component).to_pylist()[0][0], dtype=np.float64)
        raise AssertionError(f"no {component} at {entity}")

    drone, camera = "/world/drones/0", "/world/drones/0/CAMERA_RIGHT_id_0"
    np.testing.assert_allclose(value(drone, "Transform3D:translation"), PLACE, atol=1e-5)
    np.testing.assert_allclose(value(drone, "Transform3D:quaternion"), [0, 0, HALF, HALF], atol=1e-6)  # x, y, z, w
    turn = value(camera, "Transform3D:quaternion")
    np.testing.assert_allclose(np.abs(np.dot(turn, [0, HALF, -HALF, 0])), 1.0, atol=1e-6)
    pinhole = np.reshape(value(camera, "Pinhole:image_from_camera"), (3, 3)).T  # column by column
    np.testing.assert_allclose(pinhole, np.array([[200, 0, 200], [0, 200, 112.5], [0, 0, 1]]), atol=1e-4)
    strip = value(f"{camera}/boxes", "LineStrips2D:strips")
    np.testing.assert_allclose((strip.min(axis=0) + strip.max(axis=0)) / 2, [250.0, 132.5], atol=2.0)
