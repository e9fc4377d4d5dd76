import json
from pathlib import Path

import numpy as np

import uavsim
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.nerfstudio import export_nerfstudio
from uavsim.images import codec


def read_ply(path: Path) -> tuple[np.ndarray, np.ndarray]:
    head, _, body = path.read_bytes().partition(b"end_header\n")
    rows = np.frombuffer(body, dtype=np.dtype([("place", "<f4", 3), ("colour", "u1", 3)]))
    assert f"element vertex {len(rows)}".encode() in head
    return rows["place"].astype(np.float64), rows["colour"]


def test_seed_points_have_the_colours_of_their_pixels(strict: Path, tmp_path: Path) -> None:
    folders = export_nerfstudio(ExportRequest(strict, tmp_path, split="uav_val"))
    assert [folder.name for folder in folders] == ["scene_01"]
    content = json.loads((folders[0] / "transforms.json").read_text())
    points, colours = read_ply(folders[0] / content["ply_file_path"])
    assert len(points) > 1000
    frame = content["frames"][4]
    pixels = codec.decode_rgb(folders[0] / frame["file_path"])
    # OpenGL's camera looks along -z with y up: worked out here without uavsim's geometry
    camera = (np.linalg.inv(np.array(frame["transform_matrix"])) @ np.column_stack([points, np.ones(len(points))]).T).T
    ahead = camera[:, 2] < -0.5
    u = frame["fl_x"] * camera[ahead, 0] / -camera[ahead, 2] + frame["cx"]
    v = frame["cy"] - frame["fl_y"] * camera[ahead, 1] / -camera[ahead, 2]
    inside = (u >= 0) & (u < frame["w"]) & (v >= 0) & (v < frame["h"])
    same = (
        np.abs(pixels[v[inside].astype(int), u[inside].astype(int)].astype(int) - colours[ahead][inside]).max(axis=1)
        < 12
    )
    assert inside.sum() > 100
    assert same.mean() > 0.7  # other cameras see more, and objects move


def test_both_dialects_give_equal_transforms(strict: Path, uav3d: Path, tmp_path: Path) -> None:
    (first, _), (other, _) = (export_nerfstudio(ExportRequest(f, tmp_path / f.name)) for f in (strict, uav3d))
    assert (first / "transforms.json").read_text() == (other / "transforms.json").read_text()
    assert len(json.loads((first / "transforms.json").read_text())["frames"]) == len(
        [i for s in uavsim.open(strict).scene("scene_00") for i in s.images]
    )
