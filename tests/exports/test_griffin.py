"""Griffin's raw layout: boxes of both sides agree in the map and project to their pixels."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.exports.renamed import rename_agent
from uavsim.errors import InputError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.griffin import export_griffin
from uavsim.images import codec


@pytest.fixture
def with_car(strict: Path, tmp_path: Path) -> Path:
    """Return a dataset in which drone 1 is vehicle v0."""
    root = rename_agent(strict, tmp_path / "data", "v0")
    sensors = root / "v1.0-mini/sensor.json"
    sensors.write_text(sensors.read_text().replace("CAMERA_", "CAM_"))
    detail = root / "v1.0-mini/visibility_detail.json"
    detail.write_text(detail.read_text().replace("_id_1", "_id_v0"))
    return root


def matrix(values: dict[str, float] | list[float]) -> np.ndarray:
    """Return the (4, 4) matrix of x, y, z, roll, pitch, yaw as Griffin's space_utils.py does."""
    x, y, z, *euler_deg = values.values() if isinstance(values, dict) else values
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler("xyz", euler_deg, degrees=True).as_matrix()
    found[:3, 3] = x, y, z
    return found


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def labels(side: Path, frame: str) -> dict[str, np.ndarray]:
    rows = [line.split() for line in (side / f"label/{frame}.txt").read_text().splitlines()]
    pose = matrix(read(side / f"pose/{frame}.json"))
    return {row[10]: pose @ matrix([float(row[n]) for n in (1, 2, 3, 7, 8, 9)]) for row in rows}


def test_boxes_of_both_sides_agree_in_the_map(with_car: Path, tmp_path: Path) -> None:
    (release,) = export_griffin(ExportRequest(with_car, tmp_path / "out"))
    (one, other, *_), shared = read(release / "vehicle-side/scene_infos.json"), 0
    assert read(release / "drone-side/scene_infos.json")[0] == one
    assert [int(frame) % 5 for frame in one["info"]["frames"]] == [0] * len(one["info"]["frames"])
    for frame in one["info"]["frames"]:
        car, drone = (labels(release / side, frame) for side in ("vehicle-side", "drone-side"))
        for ident in set(car) & set(drone):
            np.testing.assert_allclose(car[ident], drone[ident], atol=1e-4)
            shared += 1
    assert shared > 0
    ids = [{i for f in info["info"]["frames"] for i in labels(release / "drone-side", f)} for info in (one, other)]
    assert min(map(len, ids)) > 0
    assert not ids[0] & ids[1]


def test_box_centres_project_to_their_pixels(with_car: Path, tmp_path: Path) -> None:
    (release,) = export_griffin(ExportRequest(with_car, tmp_path / "out"))
    side = release / "drone-side"
    calibration = read(side / "calib/bottom.json")
    optical_T_flu, hits = np.linalg.inv(calibration["extrinsic"]), []
    for label in sorted((side / "label").glob("*.txt")):
        ids, _ = codec.mask_ids_and_tags(side / f"camera/instance_bottom/{label.stem}.png")
        pose = np.linalg.inv(matrix(read(side / f"pose/{label.stem}.json")))
        for ident, box_pose in labels(side, label.stem).items():
            u, v, w = np.array(calibration["intrinsic"]) @ (optical_T_flu @ pose @ box_pose)[:3, 3]
            column, line = int(u // w), int(v // w)
            if 0 <= line < ids.shape[0] and 0 <= column < ids.shape[1]:
                hits.append(ids[line, column] == int(ident) % 65536)
    assert len(hits) > 3
    assert np.mean(hits) > 0.9


def test_cameras_and_types_are_griffins(with_car: Path, tmp_path: Path) -> None:
    (release,) = export_griffin(ExportRequest(with_car, tmp_path / "out"))
    cameras = {path.name for path in (release / "drone-side/camera").iterdir()}
    assert {"front", "back", "left", "right", "bottom"} <= cameras
    assert not (release / "vehicle-side/camera/bottom").exists()
    names = {line.split()[0] for p in release.glob("*/label/*.txt") for line in p.read_text().splitlines()}
    assert names <= {"car", "truck", "bus", "pedestrian", "bicycle", "motorcycle"}


def test_received_frame_has_older_image_and_pose_and_current_boxes(with_car: Path, tmp_path: Path) -> None:
    """Messages to v0 take one keyframe period, so that each frame has the drone's image of the previous frame."""
    tables = with_car / "v1.0-mini"
    scenes, agents = [row["token"] for row in read(tables / "scene.json")], ["0", "1", "v0"]
    clocks = [
        {"scene_token": scene, "agent": agent, "drift_ppm": 0, "offset_us": 0} for scene in scenes for agent in agents
    ]
    images = [row for row in read(tables / "sample_data.json") if row["width"]]
    samples = read(tables / "sample.json")
    readings = [{"sample_data_token": row["token"], "agent_timestamp": row["timestamp"]} for row in images]
    messages = [{"scene_token": sample["scene_token"], "sender": "0", "receiver": "v0", "timestamp": sample["timestamp"],
                 "arrival": after["timestamp"]} for sample, after in itertools.pairwise(samples)]  # fmt: skip
    for name, rows in (("clock", clocks), ("clock_reading", readings), ("message", messages)):
        (tables / f"{name}.json").write_text(json.dumps([{"token": f"{name}{n}", **row} for n, row in enumerate(rows)]))

    plain, late = (export_griffin(ExportRequest(with_car, tmp_path / name, received=name == "late"))[0]
                   for name in ("plain", "late"))  # fmt: skip

    frames = read(plain / "vehicle-side/scene_infos.json")[0]["info"]["frames"]
    assert read(late / "drone-side/scene_infos.json")[0]["info"]["frames"] == frames[1:]
    for before, frame in itertools.pairwise(frames):
        for file in ("camera/bottom/{}.png", "camera/instance_bottom/{}.png", "pose/{}.json"):
            drone = late / "drone-side" / file.format(frame)
            assert drone.read_bytes() == (plain / "drone-side" / file.format(before)).read_bytes()
        current, delayed = (labels(release / "drone-side", frame) for release in (plain, late))
        assert current.keys() == delayed.keys()
        for ident, box_pose in current.items():
            np.testing.assert_allclose(delayed[ident], box_pose, atol=1e-4)
    for path in (late / "vehicle-side").glob("*/**/*.*"):
        assert path.read_bytes() == (plain / path.relative_to(late)).read_bytes()


def test_dataset_without_a_car_is_refused(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"add vehicles: {count: 1, rig: griffin_car}"):
        export_griffin(ExportRequest(strict, tmp_path / "out"))
