"""COLMAP's files, read by readers after its documentation: text equals binary, and points reproject."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uavsim
from tests.exports.test_lenses import BROWN, FISHEYE, with_lenses
from tests.other_python import printed_by
from tools.common.factories import matrix_of
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.colmap import export_colmap
from uavsim.images import codec


@pytest.fixture(scope="module")
def folder(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    (made,) = export_colmap(ExportRequest(strict, tmp_path_factory.mktemp("colmap"), split="uav_val"))
    return made


def read_images(data: bytes) -> dict[str, dict]:
    (count,), at, found = struct.unpack_from("<Q", data), 8, {}
    for _ in range(count):
        number, *pose, camera = struct.unpack_from("<i7di", data, at)
        at += 64
        end = data.index(b"\0", at)
        (points,) = struct.unpack_from("<Q", data, end + 1)
        rows = np.frombuffer(data, dtype="<f8, <f8, <i8", count=points, offset=end + 9)
        found[data[at:end].decode()] = {"number": number, "pose": pose, "camera": camera, "points": rows}
        at = end + 9 + 24 * points
    assert at == len(data)
    return found


def read_points(data: bytes) -> dict[int, tuple]:
    (count,), offset, found = struct.unpack_from("<Q", data), 8, {}
    for _ in range(count):
        number, x, y, z, *_rest, track, image, index = struct.unpack_from("<Q3d3BdQii", data, offset)
        assert track == 1
        found[number] = (np.array([x, y, z]), image, index)
        offset += struct.calcsize("<Q3d3BdQii")
    assert offset == len(data)
    return found


def test_every_point_projects_to_its_pixel(folder: Path) -> None:
    sparse = folder / "sparse/0"
    images, points = (
        read_images((sparse / "images.bin").read_bytes()),
        read_points((sparse / "points3D.bin").read_bytes()),
    )
    assert len(points) > 1000
    number, model, width, height, fx, fy, cx, cy = struct.unpack_from(
        "<iiQQ4d", (sparse / "cameras.bin").read_bytes(), 8
    )
    assert (number, model, width, height) == (1, 1, 160, 90)
    for image in images.values():
        rotation, move = matrix_of(image["pose"][:4]), np.array(image["pose"][4:])
        u, v, point_ids = (image["points"][field] for field in image["points"].dtype.names)
        assert [points[n][1:] for n in point_ids.tolist()] == [(image["number"], row) for row in range(len(point_ids))]
        x, y, z = rotation @ np.reshape([points[n][0] for n in point_ids.tolist()], (-1, 3)).T + move[:, None]
        np.testing.assert_allclose([fx * x / z + cx, fy * y / z + cy], [u, v], rtol=0, atol=1e-6)


def test_text_files_equal_binary_files(folder: Path) -> None:
    sparse = folder / "sparse/0"
    images, lines = read_images((sparse / "images.bin").read_bytes()), (sparse / "images.txt").read_text().split("\n")
    for head, points_line in zip(lines[0:-1:2], lines[1:-1:2], strict=True):
        number, *pose, camera, name = head.split()
        image = images.pop(name)
        assert (int(number), int(camera)) == (image["number"], image["camera"])
        np.testing.assert_allclose(np.array(pose, float), image["pose"], rtol=0, atol=1e-9)
        assert len(points_line.split()) == 3 * len(image["points"])
    assert not images
    points = read_points((sparse / "points3D.bin").read_bytes())
    rows = [line.split()[:4] for line in (sparse / "points3D.txt").read_text().splitlines()]
    points_m = np.array([points[int(number)][0] for number, *_ in rows])
    errors_m = np.abs(np.array([row[1:] for row in rows], float) - points_m)
    assert (errors_m <= np.maximum(1e-9, 1e-9 * np.abs(points_m))).all()


def test_moving_objects_are_black_in_masks_and_have_no_points(strict: Path, folder: Path) -> None:
    scene = uavsim.open(strict).scene("scene_01")
    moving = {t.instance_id for t in scene.tracks if np.ptp(t.map_SE3_box.translation_m, axis=0).max() >= 0.2}
    assert moving
    images, black = read_images((folder / "sparse/0/images.bin").read_bytes()), 0
    for image in (image for sample in scene for image in sample.images):
        name = f"{image.channel}__{image.timestamp_us}.png"
        mask = codec.decode_rgb(folder / "masks" / f"{name}.png")[..., 0]
        known = {track.instance_id for track in scene.tracks}
        ids, _ = image.mask()
        assert ((mask == 0) == (np.isin(ids, list(moving)) | ((ids > 0) & ~np.isin(ids, list(known))))).all()
        black += int((mask == 0).sum())
        assert all(mask[int(v), int(u)] == 255 for u, v, _ in images[name]["points"].tolist())
        assert (folder / "images" / name).is_file()
    assert black > 0


def test_dataset_without_depth_has_poses_and_no_points(tmp_path: Path) -> None:
    from tests.dataset_factory import make_dataset

    root = make_dataset(tmp_path / "d", scenes=1, samples=1, sweeps=0, drones=1)
    (made,) = export_colmap(ExportRequest(root, tmp_path / "out"))
    assert (made / "sparse/0/points3D.bin").read_bytes() == bytes(8)
    assert read_images((made / "sparse/0/images.bin").read_bytes())


JUDGE = """
import json, sys
import numpy as np, pycolmap
for form in sys.argv[2:]:
    scene = pycolmap.Reconstruction()
    getattr(scene, f'read_{form}')(sys.argv[1])
    off, seen = [], {}
    for image in scene.images.values():
        for point in image.points2D:
            place = scene.points3D[point.point3D_id].xyz
            off.append(float(np.linalg.norm(image.project_point(place) - point.xy)))
            z = (image.cam_from_world() * place)[2]
            seen.setdefault(image.name, []).append([*point.xy.tolist(), float(z)])
    models = sorted({camera.model_name for camera in scene.cameras.values()})
    found = {'models': models, 'points': scene.num_points3D(), 'median_px': float(np.median(off)), 'seen': seen}
    print(json.dumps(found))
"""


def test_pycolmap_projects_every_point_into_its_depth_image(strict: Path, folder: Path) -> None:
    scene = uavsim.open(strict).scene("scene_01")
    depths = {f"{i.channel}__{i.timestamp_us}.png": i.depth_m() for sample in scene for i in sample.images}
    for found in judged(folder, "text", "binary"):
        assert found["models"] == ["PINHOLE"]
        assert found["points"] > 1000
        assert found["median_px"] < 0.01
        for name, rows in found["seen"].items():
            u, v, z = np.array(rows).T
            np.testing.assert_allclose(z, depths[name][v.astype(int), u.astype(int)], rtol=1e-4)


FLAT_BROWN = BROWN | {"uav_distortion": [*BROWN["uav_distortion"][:4], 0.0]}


@pytest.mark.release
def test_pycolmap_reads_the_lenses(strict: Path, tmp_path: Path) -> None:
    def lens_of(channel: str) -> dict[str, Any]:
        if channel.endswith("0"):
            return FISHEYE
        return FLAT_BROWN if "BOTTOM" in channel else BROWN

    data = with_lenses(strict, tmp_path / "data", lens_of)
    (made,) = export_colmap(ExportRequest(data, tmp_path / "out", split="uav_val"))
    for found in judged(made, "text", "binary"):
        assert found["models"] == ["FULL_OPENCV", "OPENCV", "OPENCV_FISHEYE"]
        assert found["median_px"] < 0.01


def judged(folder: Path, *forms: str) -> list[dict[str, Any]]:
    """Return pycolmap's content of the files in each form."""
    found = [json.loads(line) for line in printed_by("readers", JUDGE, folder / "sparse/0", *forms).splitlines()]
    assert len(found) == len(forms)
    return found
