"""Exports opened with their target tools; skipped without ``scripts/setup --torch-readers``."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uavsim
from tests.exports.renamed import rename_agent
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.airv2x import export_airv2x
from uavsim.exports.formats.mmdet3d import export_mmdet3d
from uavsim.exports.formats.nerfstudio import export_nerfstudio
from uavsim.exports.formats.opv2v import export_opv2v

ROOT = Path(__file__).parents[2]


def read(script: str, *arguments: object) -> Any:
    python = ROOT / ".venv-torch/bin/python"
    if not python.exists():
        pytest.skip("no .venv-torch here; scripts/setup --torch-readers makes it")
    command = [str(python), "-W", "ignore", str(ROOT / "tools/environments/readers" / script), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


def test_mmdet3d_dataset_class_reads_infos(strict: Path, tmp_path: Path) -> None:
    (infos,) = export_mmdet3d(ExportRequest(strict, tmp_path))
    loaded = read("read_mmdet3d.py", strict, infos)
    samples = list(uavsim.open(strict).samples())
    assert [info["token"] for info in loaded] == [sample.token for sample in samples]
    for info, sample in zip(loaded, samples, strict=True):
        visible = sample.boxes.pick(sample.boxes.lidar_points > 0)  # use_valid_flag drops invisible boxes
        top = next(scan for scan in sample.lidars if scan.channel == "LIDAR_TOP").map_SE3_sensor
        np.testing.assert_allclose(info["centres"], top.apply_inverse(visible.map_SE3_box.translation_m), atol=1e-4)
        np.testing.assert_allclose(info["sizes"], visible.size_lwh_m, atol=1e-5)
        assert {f"{c}" for c in info["classes"]} <= {"car", "truck", "bus", "motorcycle", "bicycle", "pedestrian"}
        assert Path(info["lidar"]).is_file()
        assert set(info["images"]) == {image.channel for image in sample.images}
        assert all(Path(path).is_file() for path in info["images"].values())


def test_nerfstudio_parser_reads_transforms(strict: Path, tmp_path: Path) -> None:
    folder, _ = export_nerfstudio(ExportRequest(strict, tmp_path))
    loaded = read("read_nerfstudio.py", folder)
    images = [image for sample in uavsim.open(strict).scene("scene_00") for image in sample.images]
    assert all(Path(path).is_file() for path in loaded["images"])
    of_name = dict(zip([Path(path).name for path in loaded["images"]], loaded["camera_to_worlds"], strict=True))
    assert len(of_name) == len(images)
    for sample in uavsim.open(strict).scene("scene_00"):
        for image in sample.images:
            pose = image.map_SE3_optical.matrix[:3] * [1.0, -1.0, -1.0, 1.0]  # OpenGL's y and z
            np.testing.assert_allclose(of_name[f"{image.channel}__{image.timestamp_us}.png"], pose, atol=1e-5)
    points = np.array(loaded["points"])
    assert len(points) > 1000
    assert np.quantile(np.abs(points[:, 2]), 0.4) < 0.1  # much of it is the ground


def test_opencood_reads_opv2v(strict: Path, tmp_path: Path) -> None:
    checkout = os.environ.get("UAVSIM_OPENCOOD_FOLDER")
    if not checkout:
        pytest.skip("UAVSIM_OPENCOOD_FOLDER names no checkout of OpenCOOD")
    (folder,) = export_opv2v(ExportRequest(strict, tmp_path, split="uav_train"))
    loaded = read("read_opv2v.py", checkout, folder)
    samples = uavsim.open(strict).scene("scene_00").samples
    assert len(loaded) == len(samples)
    for drones, sample in zip(loaded, samples, strict=True):
        assert {name: found["ego"] for name, found in drones.items()} == {"0": True, "1": False}
        for name, found in drones.items():
            body = next(i for i in sample.images if i.drone_id == int(name)).map_SE3_flu
            centres = body.apply_inverse(sample.boxes.map_SE3_box.translation_m) * [1.0, -1.0, 1.0]  # left-handed
            for number, box in found["boxes"].items():
                n = sample.boxes.instance_id.tolist().index(int(number))
                np.testing.assert_allclose(box[:3], centres[n], atol=1e-3)
                np.testing.assert_allclose(box[3:6], sample.boxes.size_lwh_m[n], atol=0.3)  # theirs lose the tilt
            assert len(found["boxes"]) == len(sample.boxes)
            points = np.array(found["points"])
            assert points.shape[0] > 200
            assert set(points[:, 3]) == {1.0}


def test_airv2x_reader_reads_airv2x(strict: Path, tmp_path: Path) -> None:
    checkout = os.environ.get("UAVSIM_AIRV2X_FOLDER")
    if not checkout:
        pytest.skip("UAVSIM_AIRV2X_FOLDER names no checkout of AirV2X-Perception")
    root = rename_agent(strict, tmp_path / "data", "r0")
    (folder,) = export_airv2x(ExportRequest(root, tmp_path / "out", split="uav_train"))
    loaded = read("read_airv2x.py", checkout, folder, "rsu")
    scene, left_handed = uavsim.open(root).scene("scene_00"), np.array([1.0, -1.0, 1.0])
    assert len(loaded) == len(scene)
    for agents, sample in zip(loaded, scene, strict=True):
        assert {name: (found["kind"], found["ego"]) for name, found in agents.items()} == {
            "2000": ("rsu", True),
            "0": ("drone", False),
        }
        pole = next(i for i in sample.images if i.channel.endswith("_r0")).map_SE3_flu
        centres = pole.apply_inverse(sample.boxes.map_SE3_box.translation_m) * left_handed
        for found in agents.values():
            for number, box in found["boxes"].items():
                n = sample.boxes.instance_id.tolist().index(int(number))
                np.testing.assert_allclose(box[:3], centres[n], atol=1e-3)
            assert len(found["boxes"]) == sum("human" not in name for name in sample.boxes.categories)
            points = np.array(found["points"])[:, :3] @ np.array(found["ego_from_lidar"])[:3, :3].T
            ground_m = pole.apply((points + np.array(found["ego_from_lidar"])[:3, 3]) * left_handed)[:, 2]
            assert np.quantile(np.abs(ground_m), 0.4) < 0.1  # much of it is the ground
            assert np.shape(found["dynamic"]) == np.shape(found["static"]) == (128, 128)
