"""Clips for Cosmos: decoded frames against the dataset's layers, and Cosmos' own contracts if available."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import uavsim
from tests.dataset_factory import files_of, make_dataset
from uavsim.errors import InputError, UnknownNameError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.cosmos import clips_of, export_cosmos
from uavsim.exports.formats.cosmos_controls import MapLines, hdmap_bbox
from uavsim.exports.formats.cosmos_models import AV_VIEWS, MODELS, view_name
from uavsim.exports.formats.encode_video import decode_mp4
from uavsim_benchmarks.labels.pixels import grey, psnr_db

CHANNEL = "CAMERA_BOTTOM_id_0"
JUDGE = Path(__file__).with_name("cosmos_judge.py")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset with six images at ten per second."""
    sensors = ("rgb", "instance", "depth")
    root = tmp_path_factory.mktemp("clip") / "own"
    return make_dataset(root, scenes=1, samples=2, sweeps=4, drones=2, size_px=(160, 91), sensors=sensors)


@pytest.fixture(scope="module")
def clip(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    first, second = export_cosmos(ExportRequest(data, tmp_path_factory.mktemp("cosmos") / "own"))
    assert (first.name, second.name) == ("scene_00__drone_0", "scene_00__drone_1")
    return first


@pytest.fixture(scope="module")
def images(data: Path) -> list[uavsim.Image]:
    return uavsim.open(data).scene("scene_00").images_of(CHANNEL)


def frames(clip: Path, kind: str) -> list[np.ndarray]:
    return list(decode_mp4((clip / f"{kind}_{CHANNEL}.mp4").read_bytes()))


def test_manifest_lists_videos_and_cameras(clip: Path, images: list[uavsim.Image]) -> None:
    manifest = json.loads((clip / "manifest.json").read_text())
    assert (manifest["format_version"], manifest["fps"], manifest["frames"]) == (1, 10, 6)
    assert manifest["aovs"] == ["depth", "edge", "mask", "rgb", "seg", "semantic"]
    assert len(manifest["videos"]) == 5 * 6
    assert {clip / name for name in manifest["videos"].values()} == set(clip.glob("*.mp4"))
    camera = next(c for c in manifest["rig"]["cameras"] if c["name"] == CHANNEL)
    assert (camera["width"], camera["height"]) == (160, 90)  # H.264 has no odd height
    assert camera["hfov"] == pytest.approx(2 * np.degrees(np.arctan(80 / images[0].intrinsic[0, 0])))
    assert camera["t_flu"] == pytest.approx(images[0].flu_SE3_optical.translation_m.tolist())
    roll, pitch, yaw = np.radians(camera["rpy_flu"])
    ahead = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), -np.sin(pitch)])
    np.testing.assert_allclose(ahead, images[0].flu_SE3_optical.matrix[:3, 2], atol=1e-6)
    assert roll == pytest.approx(0, abs=1e-6)
    assert camera["attach_ue"]["yaw"] == -camera["rpy_flu"][2]


def test_cameras_without_sweeps_are_in_no_clip(data: Path) -> None:
    scene = uavsim.open(data).scene("scene_00")
    sweeps = scene._rows["sample_data"]
    filmed = [row for row in sweeps if row["is_key_frame"] or "FRONT_id_1" not in row["filename"]]
    scene._rows["sample_data"] = filmed
    assert {name: len(channels) for name, channels in clips_of(scene)} == {
        "scene_00__drone_0": 5,
        "scene_00__drone_1": 4,
    }


def test_rgb_video_shows_the_images(clip: Path, images: list[uavsim.Image]) -> None:
    for frame, image in zip(frames(clip, "rgb"), images, strict=True):
        assert psnr_db(grey(frame), grey(image.pixels()[:90])) > 35  # colours are halved


def test_depth_is_inverse_with_one_scale_per_clip(clip: Path, images: list[uavsim.Image]) -> None:
    inverse = [1 / image.depth_m() for image in images]
    low, high = min(i.min() for i in inverse), max(i.max() for i in inverse)
    for frame, near in zip(frames(clip, "depth"), inverse, strict=True):
        assert np.ptp(frame, axis=2).max() <= 2
        np.testing.assert_allclose(frame[..., 0], (near[:90] - low) / (high - low) * 255, atol=2)


def test_each_object_has_its_own_colour_in_all_frames(clip: Path, images: list[uavsim.Image]) -> None:
    colours: dict[int, list[np.ndarray]] = {}
    for frame, image in zip(frames(clip, "seg"), images, strict=True):
        ids = image.mask()[0][:90]
        for number in np.unique(ids[ids > 0]).tolist():
            colours.setdefault(number, []).extend(frame[ids == number].astype(int))
    assert len(colours) > 1
    assert all(np.ptp(found, axis=0).max() <= 4 for found in colours.values())
    means = np.array([np.mean(found, axis=0) for found in colours.values()])
    apart = np.abs(means[:, None] - means[None]).max(axis=2) + 255 * np.eye(len(means))
    assert apart.min() > 20


def test_semantics_have_cityscapes_colours_and_sky_has_no_edges(clip: Path, images: list[uavsim.Image]) -> None:
    colours = {1: (128, 64, 128), 14: (0, 0, 142), 12: (220, 20, 60), 11: (70, 130, 180)}
    compared_px = 0
    for frame, edges, image in zip(frames(clip, "semantic"), frames(clip, "edge"), images, strict=True):
        tags = image.mask()[1][:90]
        for tag, colour in colours.items():
            compared_px += (tags == tag).sum()
            assert np.abs(frame[tags == tag].astype(int) - colour).max(initial=0) <= 3
        assert edges[tags == 11].max(initial=0) <= 2
    assert compared_px > 1000


def test_mask_is_white_only_around_small_objects(clip: Path, images: list[uavsim.Image]) -> None:
    small = 0
    for frame, image in zip(frames(clip, "mask"), images, strict=True):
        ids, white = image.mask()[0][:90], frame[..., 0] > 127
        for number, count in zip(*np.unique(image.mask()[0], return_counts=True), strict=True):
            if 0 < count < 1024 and number > 0:
                small += 1
                assert white[ids == number].all()
        rows, columns = np.nonzero(white)
        for row, column in zip(rows[::97], columns[::97], strict=True):
            assert (ids[max(row - 4, 0) : row + 5, max(column - 4, 0) : column + 5] > 0).any()
    assert small > 0


def test_equal_datasets_give_equal_bytes(data: Path, clip: Path, tmp_path: Path) -> None:
    export_cosmos(ExportRequest(data, tmp_path))
    assert files_of(tmp_path / clip.name) == files_of(clip)


@pytest.mark.parametrize(
    ("model", "have", "takes"),
    [
        ("cosmos3", 3, 5), ("cosmos3", 93, 93), ("cosmos3", 400, 300),
        ("cosmos3-wsm", 50, 101), ("cosmos3-wsm", 250, 202), ("cosmos3-wsm", 500, 303),
        ("transfer2.5", 92, 93), ("transfer2.5", 200, 186),
        ("transfer2.5-av", 91, 87), ("transfer2.5-av", 171, 171), ("transfer2.5-av", 170, 87),
    ],
)  # fmt: skip
def test_clip_length_is_cut_or_padded_to_the_models_lengths(model: str, have: int, takes: int) -> None:
    assert MODELS[model].frames_of(have) == takes


def test_short_clip_repeats_its_last_frame(data: Path, tmp_path: Path) -> None:
    (made, _) = export_cosmos(ExportRequest(data, tmp_path, model="cosmos3-wsm"))
    manifest = json.loads((made / "manifest.json").read_text())
    assert (manifest["frames"], manifest["uavsim"]["recorded_frames"]) == (101, 6)
    decoded = list(decode_mp4((made / "seg_CAMERA_BACK_id_0.mp4").read_bytes()))
    assert len(decoded) == 101
    assert all((decoded[5] == frame).all() for frame in decoded[6:])


def test_model_refuses_other_rates_and_names_its_cameras(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"transfer2\.5"):
        export_cosmos(ExportRequest(data, tmp_path / "out", model="transfer25"))
    with pytest.raises(InputError, match=r"transfer2.5 needs 16 frames per second, not 10; captures: \{clip: "):
        export_cosmos(ExportRequest(data, tmp_path / "out", model="transfer2.5"))
    assert view_name("FRONT_WIDE_120FOV", "CAM_FRONT_WIDE_120FOV_id_v0") == AV_VIEWS[0]
    assert view_name("FRONT", CHANNEL) == CHANNEL


def test_hdmap_shows_visible_lines_and_filled_boxes(data: Path, images: list[uavsim.Image]) -> None:
    """A lane line crosses 3 m ahead of the camera; another one is behind a surface."""
    image, scene = images[0], uavsim.open(data).scene("scene_00")
    across = image.map_SE3_optical.apply(np.array([[-1.0, 0.0, 3.0], [1.0, 0.0, 3.0]]))
    town: Any = SimpleNamespace(shapes_map_m=lambda layer: {"a": [across]} if layer == "lane_divider" else {})
    boxes = scene.boxes_at(image.timestamp_us)
    canvas = hdmap_bbox(image, MapLines.of(town), boxes.pick(np.zeros(len(boxes), dtype=bool)))
    rows, columns = np.nonzero(canvas.any(axis=2))
    assert rows.mean() == pytest.approx(45, abs=0.3)
    assert np.ptp(rows) <= 4
    assert columns.min() == pytest.approx(80 - image.intrinsic[0, 0] / 3, abs=3)
    far = image.map_SE3_optical.apply(np.array([[-1.0, 0.0, 900.0], [1.0, 0.0, 900.0]]))
    hidden: Any = SimpleNamespace(shapes_map_m=lambda layer: {"a": [far]} if layer == "lane_divider" else {})
    canvas = hdmap_bbox(image, MapLines.of(hidden), boxes)
    ids = image.mask()[0]
    covered = canvas.any(axis=2)
    assert (ids > 0).sum() > 50
    assert covered[np.isin(ids, boxes.instance_id)].mean() > 0.9
    assert (canvas == hdmap_bbox(image, MapLines({}), boxes)).all()


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="no ffprobe here")
def test_ffprobe_counts_the_frames(clip: Path) -> None:
    entries = "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames"
    for kind, pixels in (("rgb", "yuv420p"), ("depth", "yuv444p"), ("seg", "yuv444p")):
        command = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", entries, "-of", "json"]
        run = subprocess.run(
            [*command, str(clip / f"{kind}_{CHANNEL}.mp4")], capture_output=True, text=True, check=True
        )
        (stream,) = json.loads(run.stdout)["streams"]
        found = [stream[key] for key in ("codec_name", "width", "height", "pix_fmt", "r_frame_rate", "nb_read_frames")]
        assert found == ["h264", 160, 90, pixels, "10/1", "6"]


def test_cosmos_contracts_accept_a_clip(data: Path, clip: Path, tmp_path: Path) -> None:
    if "UAVSIM_COSMOS_FOLDER" not in os.environ:
        pytest.skip(
            "UAVSIM_COSMOS_FOLDER names no client of CARLA's ue58-dev (PythonAPI/examples/nvidia/cosmos/client)"
        )
    made = export_cosmos(ExportRequest(data, tmp_path, model="cosmos3-wsm"))
    command = [sys.executable, str(JUDGE), os.environ["UAVSIM_COSMOS_FOLDER"], str(clip), str(made[0])]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == {
        clip.name: {"clip": [], "cosmos3-nano": [], "cosmos3-super": []},
        made[0].name: {"clip": [], "cosmos3-nano": [], "cosmos3-super": []},
    }
