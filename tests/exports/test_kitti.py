import json
import shutil
from pathlib import Path

import numpy as np

from uavsim.dataset.tables import read_rows
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.kitti import export_kitti, flu_euler_deg


def turn(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll), degrees."""
    r, p, y = np.radians([roll, pitch, yaw])
    rx = np.array([[1, 0, 0], [0, np.cos(r), -np.sin(r)], [0, np.sin(r), np.cos(r)]])
    ry = np.array([[np.cos(p), 0, np.sin(p)], [0, 1, 0], [-np.sin(p), 0, np.cos(p)]])
    rz = np.array([[np.cos(y), -np.sin(y), 0], [np.sin(y), np.cos(y), 0], [0, 0, 1]])
    return rz @ ry @ rx


def of_quaternion(q: list[float]) -> np.ndarray:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_boxes_of_a_drone_come_back_to_the_map(strict: Path, tmp_path: Path) -> None:
    (folder,) = export_kitti(ExportRequest(strict, tmp_path, split="uav_train"))
    rows = read_rows(strict / "v1.0-mini/sample_annotation.json")
    samples = [row["token"] for row in read_rows(strict / "v1.0-mini/sample.json")]
    for drone in (0, 1):
        own = folder / f"drone_{drone}"
        for number in (0, 1):
            pose = json.loads((own / f"pose/scene_00_{number:06d}.json").read_text())
            body = of_quaternion(pose["rotation_wxyz"])
            truth = {row["uav_instance_id"]: row for row in rows if row["sample_token"] == samples[number]}
            lines = (own / f"label/scene_00_{number:06d}.txt").read_text().splitlines()
            assert len(lines) == len(truth)
            for line in lines:
                name, *numbers = line.split()
                x, y, z, length, width, height, roll, pitch, yaw, ident, share = map(float, numbers)
                row = truth[int(ident)]
                assert name.split(".")[0] in {"vehicle", "human"}
                np.testing.assert_allclose(body @ [x, y, z] + pose["translation"], row["translation"], atol=1e-5)
                np.testing.assert_allclose(body @ turn(roll, pitch, yaw), of_quaternion(row["rotation"]), atol=1e-6)
                np.testing.assert_allclose([width, length, height], row["size"], atol=1e-6)
                assert 0 <= share <= 1
    assert len(list((folder / "drone_0/camera").glob("*/*.png"))) == 10
    assert len(list((folder / "drone_0/calib").glob("*.json"))) == 5


def test_regions_without_a_box_are_dont_care_of_their_image(strict: Path, tmp_path: Path) -> None:
    shutil.copytree(strict, root := tmp_path / "set")
    version = root / "v1.0-mini"
    rows = json.loads((version / "sample_data.json").read_text())
    image = next(row for row in rows if row["is_key_frame"] and "CAMERA_FRONT_id_1" in row["filename"])
    region = {"token": "r", "sample_data_token": image["token"], "semantic_tag": 14, "box": [3, 2, 9, 5], "pixels": 18}
    (version / "ignore_region.json").write_text(json.dumps([region]))

    (folder,) = export_kitti(ExportRequest(root, tmp_path / "kitti", split="uav_train"))

    (path,) = folder.rglob("dont_care/*/*.txt")
    assert path.relative_to(folder).parts[:3] == ("drone_1", "dont_care", "FRONT")
    (line,) = path.read_text().splitlines()
    name, truncated, occluded, alpha, *box = line.split()[:8]
    assert (name, truncated, occluded, alpha) == ("DontCare", "-1", "-1", "-10")
    assert [float(edge) for edge in box] == [3, 2, 9, 5]
    assert len(line.split()) == 15  # as many as a line of label_2 has


def test_a_class_with_blanks_stays_one_field(strict: Path, tmp_path: Path) -> None:
    root = shutil.copytree(strict, tmp_path / "set")
    table = root / "v1.0-mini/category.json"
    table.write_text(json.dumps([{**row, "name": f"{row['name']} of others"} for row in read_rows(table)]))
    export_kitti(ExportRequest(root, tmp_path / "out"))
    for path in (tmp_path / "out").rglob("label/*.txt"):
        for line in path.read_text().splitlines():
            assert len(line.split(" ")) == (15 if line.startswith("DontCare") else 12)
            assert line.startswith("DontCare") or "_of" in line.split(" ")[0]


def test_pitch_lowers_the_nose_and_yaw_turns_left() -> None:
    nose_down = np.array([[np.cos(np.radians(5)), 0, np.sin(np.radians(5)), 0]])  # 10 degrees about +y (left)
    np.testing.assert_allclose(flu_euler_deg(nose_down), [[0, 10, 0]], atol=1e-12)
    left = np.array([[np.cos(np.radians(15)), 0, 0, np.sin(np.radians(15))]])
    np.testing.assert_allclose(flu_euler_deg(left), [[0, 0, 30]], atol=1e-12)
