"""Generation from the command line, from YAML to dataset, with the real clients."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from headless_simulator.testing import RunningSimulator

from tests.e2e.command import succeed, uavsim
from tests.e2e.flights import RIG
from tests.validate.unreal_view import corners_ue, load, project_ue
from tools.common.leftovers import dataset_files
from uavsim.images import codec
from uavsim.validate.devkit_process import run_judge

pytestmark = pytest.mark.usefixtures("named_server")

DATASET = """\
seed: 11
version: v1.0-mini
towns:
  Town10HD: {routes: [town10_row3_col3], first_scene: 0, scenes: 1, most_scenes: 10}
samples: 4
keyframe_s: 0.5
formation: FORMATION
rig: RIG
weather: clear_noon
traffic: {vehicles: 40}
splits: {rule: uav3d}
settle: false
"""
FORMATION = """\
drones: 5
shape: cross
spacing_m: 20
altitude_m: 60
yaw_offsets_deg: [3.3, 17.31, -33.17, 90.7, 141.9]
"""


@pytest.fixture(scope="module")
def dataset_yaml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("yaml")
    (folder / "rig.yaml").write_text(RIG)
    (folder / "turned.yaml").write_text(FORMATION)
    path = folder / "tiny.yaml"
    text = DATASET.replace("RIG", str(folder / "rig.yaml")).replace("FORMATION", str(folder / "turned.yaml"))
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def made(dataset_yaml: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset made without a Prefect server; other runs use the tests' server and give the same bytes."""
    out = tmp_path_factory.mktemp("made") / "out"
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_API_")}
    succeed("generate", "--dataset", dataset_yaml, "--out", out, env=env)
    return out


def without(folder: Path, *modules: str) -> dict[str, str]:
    """Shadow modules by ones that exit on import; returns the environment variables that make them importable."""
    for name in modules:
        (folder / f"{name}.py").write_text(f"raise SystemExit('this run imports {name}')\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


def test_requested_samples_and_images_exist(made: Path) -> None:
    scenes = json.loads((made / "v1.0-mini/scene.json").read_text())
    images = [r for r in json.loads((made / "v1.0-mini/sample_data.json").read_text()) if r["fileformat"] == "png"]
    assert [s["nbr_samples"] for s in scenes] == [4]
    assert len(images) == 4 * 5 * 3
    for row in images:
        assert codec.image_size(made / row["filename"]) == (320, 180)


def test_images_show_a_town_and_masks_show_cars(made: Path) -> None:
    """The bottom and slanted views show at least ten cars, road and buildings, in several colours."""
    tags: set[int] = set()
    cars: set[int] = set()
    for path in sorted((made / "masks").rglob("*.png")):
        ids, tag = codec.mask_ids_and_tags(path)
        tags |= set(np.unique(tag).tolist())
        cars |= set(np.unique(ids).tolist()) - {0}
    assert {1, 3, 9, 24} <= tags  # road, building, vegetation, road lines
    assert len(cars) >= 10
    for path in sorted((made / "samples/CAMERA_FRONT_id_0").glob("*.png")):
        assert codec.decode_rgb(path).std() > 15


def test_the_devkit_accepts_it_and_projects_as_carla_does(made: Path, tmp_path: Path) -> None:
    """The unmodified devkit reads a flight of yawed drones; its corners equal CARLA's formula."""
    file = tmp_path / "corners.npz"
    report = run_judge(
        "devkit_check", str(made), "v1.0-mini", "--corners", str(file), "--corner-samples", "2", "--all-boxes"
    )
    assert {name: check["ok"] for name, check in report["checks"].items()} == dict.fromkeys(report["checks"], True)
    assert report["checks"]["detection"]["mean_ap_present"] == pytest.approx(1.0, abs=1e-9)
    corners = np.load(file)
    boxes, cameras = load(made, "v1.0-mini", "sample_annotation"), load(made, "v1.0-mini", "camera_pose")
    images, calibrations = load(made, "v1.0-mini", "sample_data"), load(made, "v1.0-mini", "calibrated_sensor")
    worst, compared = 0.0, 0
    for box, image, uv_depth in zip(corners["annotation"], corners["sample_data"], corners["uv_depth"], strict=True):
        k = np.array(calibrations[images[image]["calibrated_sensor_token"]]["camera_intrinsic"])
        pixels, depth = project_ue(corners_ue(boxes[box]), cameras[image], k)
        ahead = depth > 1.0
        worst = max(worst, np.abs(uv_depth[ahead, :2] - pixels[ahead]).max(initial=0.0))
        compared += int(ahead.sum())
    assert compared > 1000
    assert worst < 1e-6


def test_the_same_seed_gives_the_same_bytes(
    made: Path, dataset_yaml: Path, tmp_path: Path, simulator: RunningSimulator
) -> None:
    """With a Prefect server and a running simulator; equal bytes need no second check."""
    attached = ("--simulator", simulator.carla, "--no-check")
    succeed("generate", "--dataset", dataset_yaml, "--out", tmp_path / "again", *attached)
    assert dataset_files(tmp_path / "again") == dataset_files(made)


def test_a_second_start_finds_everything_done(made: Path, dataset_yaml: Path) -> None:
    """Without a Prefect server: neither a server nor a simulator is started."""
    before = dataset_files(made)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_API_")}
    succeed("generate", "--dataset", dataset_yaml, "--out", made, env=env)
    assert dataset_files(made) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dataset", "smoke", "--town", "Town11"], ["Town11", "did you mean 'Town10HD'"]),
        (["--dataset", "smok"], ["smok", "'smoke'"]),
        (["--dataset", "smoke", "--formation", "crss"], ["crss", "'cross'"]),
        (["--dataset", "smoke", "--weather", "clear_non"], ["clear_non", "clear_noon"]),
        (["--dataset", "smoke", "--simulator", "127.0.0.1:notaport"], ["notaport"]),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    env = os.environ | without(tmp_path, "prefect", "numba")  # either import takes longer than the refusal
    command = [sys.executable, "-m", "uavsim", "generate", *arguments, "--out", str(out)]  # with its own imports
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    for word in words:
        assert word in done.stderr
    assert not out.exists()


def test_a_simulator_that_is_not_there_is_exit_3(tmp_path: Path) -> None:
    done = uavsim(
        "generate", "--dataset", "smoke", "--town", "Town10HD", "--simulator", "127.0.0.1:9", "--out", tmp_path / "out"
    )
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_sigterm_while_the_simulator_starts_is_exit_130(dataset_yaml: Path, tmp_path: Path) -> None:
    words = ("--dataset", dataset_yaml, "--scenes", "0", "--out", tmp_path / "out")
    command = [sys.executable, "-m", "uavsim", "generate", *map(str, words)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_API_")}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        while not list(tmp_path.glob("out/.uavsim/logs/*")):  # the simulator's log
            assert run.poll() is None
            time.sleep(0.02)
        run.terminate()
        _, stderr = run.communicate(timeout=120)
    assert run.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert not (tmp_path / "out/v1.0-mini").exists()


def test_a_folder_with_another_dataset_is_left_alone(made: Path, dataset_yaml: Path) -> None:
    """Another dataset or another seed is refused; tests/plan/test_scenes.py compares the plans."""
    before = dataset_files(made)
    for other in (("smoke", "--town", "Town10HD"), (dataset_yaml, "--seed", "12")):
        assert uavsim("generate", "--dataset", *other, "--out", made).returncode == 2
    assert dataset_files(made) == before
