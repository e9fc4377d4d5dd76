"""LeRobot's dataset: its layout, and ``LeRobotDataset`` in a separate environment."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import uavsim
from tests.dataset_factory import make_dataset
from uavsim.errors import InputError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.encode_video import decode_mp4
from uavsim.exports.formats.lerobot import ACTION, STATE, export_lerobot
from uavsim.geometry import quaternion

READ = Path(__file__).parents[2] / "tools/environments/readers/read_lerobot.py"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("episodes") / "own"
    return make_dataset(root, samples=2, sweeps=4, drones=2, size_px=(64, 35), sensors=("rgb", "instance"))


@pytest.fixture(scope="module")
def made(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("lerobot") / "own"
    assert export_lerobot(ExportRequest(data, out)) == [out]
    return out


def test_each_drones_flight_is_an_episode(data: Path, made: Path) -> None:
    info = json.loads((made / "meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"]) == ("v3.0", 10)
    assert (info["total_episodes"], info["total_frames"], info["splits"]) == (4, 24, {"train": "0:4"})
    assert info["features"]["observation.images.bottom"]["shape"] == [34, 64, 3]
    episodes = pq.read_table(made / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [(e["scene"], e["drone"], e["dataset_from_index"], e["length"]) for e in episodes] == [
        ("scene_00", 0, 0, 6),
        ("scene_00", 1, 6, 6),
        ("scene_01", 0, 12, 6),
        ("scene_01", 1, 18, 6),
    ]
    assert episodes[3]["tasks"] == [uavsim.open(data).scene("scene_01").description]


def test_action_leads_from_state_to_next_state(data: Path, made: Path) -> None:
    rows = pq.read_table(made / "data/chunk-000/file-001.parquet")
    state, action = (np.array(rows[name].to_pylist()) for name in ("observation.state", "action"))
    assert (state.shape, action.shape) == ((6, len(STATE)), (6, len(ACTION)))
    images = uavsim.open(data).scene("scene_00").images_of("CAMERA_FRONT_id_1")
    np.testing.assert_allclose(state[:, :3], [i.map_SE3_flu.translation_m for i in images], rtol=1e-6)
    np.testing.assert_allclose(state[:, 7:], [i.drone_velocity_map_mps for i in images], rtol=1e-6)
    flown = state[:-1, :3] + quaternion.rotate(state[:-1, 3:7], action[:-1, :3]) / 10
    np.testing.assert_allclose(flown, state[1:, :3], atol=1e-5)
    angle = np.linalg.norm(action[:-1, 3:], axis=1, keepdims=True) / 10
    step = np.hstack([np.cos(angle / 2), np.sin(angle / 2) * action[:-1, 3:] / 10 / angle])
    turned = quaternion.multiply(state[:-1, 3:7], step)
    np.testing.assert_allclose(np.abs((turned * state[1:, 3:7]).sum(axis=1)), 1, atol=1e-6)
    assert rows["timestamp"].to_pylist() == pytest.approx(np.arange(6) / 10)


def test_videos_show_the_images_and_stats_match(data: Path, made: Path) -> None:
    video = (made / "videos/observation.images.left/chunk-000/file-003.mp4").read_bytes()
    images = uavsim.open(data).scene("scene_01").images_of("CAMERA_LEFT_id_1")
    frames = list(decode_mp4(video))
    assert len(frames) == 6
    errors = [
        np.abs(frame.astype(float) - image.pixels()[:34]).mean() for frame, image in zip(frames, images, strict=True)
    ]
    assert max(errors) < 12  # H.264 with half the colours, of images of hard edges
    stats = json.loads((made / "meta/stats.json").read_text())["observation.images.left"]
    scenes, channels = uavsim.open(data).scenes(), ("CAMERA_LEFT_id_0", "CAMERA_LEFT_id_1")
    every = [image.pixels() for scene in scenes for channel in channels for image in scene.images_of(channel)]
    mean = np.mean(every, axis=(0, 1, 2)) / 255
    np.testing.assert_allclose(np.ravel(stats["mean"]), mean, atol=0.02)
    assert (np.shape(stats["std"]), stats["count"]) == ((3, 1, 1), [24])


def test_lerobot_dataset_class_reads_it(data: Path, made: Path) -> None:
    python = os.environ.get("UAVSIM_LEROBOT_PYTHON")
    if not python:
        pytest.skip("UAVSIM_LEROBOT_PYTHON names no Python that has lerobot")
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(made / "cache")}
    command = [python, "-W", "ignore", str(READ), str(made)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert (found["fps"], found["lengths"], len(found["rows"])) == (10, [6] * 4, 24)
    assert found["cameras"] == [f"observation.images.{name}" for name in ("front", "back", "left", "right", "bottom")]
    scene, image_colours = uavsim.open(data).scene("scene_01"), []
    for number, row in enumerate(found["rows"][18:]):
        images = [scene.images_of(f"CAMERA_{key.rpartition('.')[2].upper()}_id_1")[number] for key in found["cameras"]]
        assert (row["episode"], row["task"], row["time_s"]) == (3, scene.description, pytest.approx(number / 10))
        np.testing.assert_allclose(row["state"][:3], images[0].map_SE3_flu.translation_m, rtol=1e-6)
        assert row["shapes"] == [[3, 34, 64]] * 5
        image_colours.append([image.pixels()[:34].mean(axis=(0, 1)) / 255 for image in images])
    of_video, of_images = np.array([row["colours"] for row in found["rows"][18:]]), np.array(image_colours)
    np.testing.assert_allclose(of_video, of_images, atol=0.03)
    changes = (of_video - of_video.mean(axis=0))[:, None] - (of_images - of_images.mean(axis=0))
    errors = np.abs(changes).mean(axis=(2, 3))
    assert errors.argmin(axis=1).tolist() == list(range(6))  # the frame of each instant, not a neighbour's
    actions = np.array(pq.read_table(made / "data/chunk-000/file-003.parquet")["action"].to_pylist())
    np.testing.assert_allclose([row["next_action"] for row in found["rows"][18:23]], actions[1:], rtol=1e-6)


def test_single_image_is_refused(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "one", scenes=1, samples=1, sweeps=0, drones=1, size_px=(32, 18))
    with pytest.raises(InputError, match="has one image of CAMERA_FRONT_id_0"):
        export_lerobot(ExportRequest(folder, tmp_path / "out"))
