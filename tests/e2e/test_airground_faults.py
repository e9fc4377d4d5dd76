"""Faults of ground agents are one line each, and the dataset has the same bytes at the end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from headless_simulator.testing import RunningSimulator

from tests.e2e.command import hashes, succeed, uavsim

CAMERAS = {f"C{n}": {"mount_m": [0.0, 0.0, 2.4], "yaw_deg": 60 * n} for n in range(6)}
RIG = {"width_px": 96, "height_px": 54, "fov_deg": 70, "sensors": ["rgb", "instance"]}
RIGS = {
    "down": {**RIG, "cameras": {"BOTTOM": {"pitch_deg": -90}}},
    "car": {**RIG, "cameras": CAMERAS},
    "pole": {
        **RIG,
        "cameras": {"LEFT": {"yaw_deg": 30, "pitch_deg": -20}, "RIGHT": {"yaw_deg": -30, "pitch_deg": -20}},
    },
}
DATASET = {  # 21 cameras, each of an image and a mask: 42 sensors on the server
    "towns": {"Town10HD": {"scenes": 2, "routes": ["town10_row3_col3", "town10_row2_col3"]}},
    "formation": "cross",
    "rig": "down.yaml",
    "samples": 3,
    "warmup_s": 0.5,
    "seed": 5,
    "traffic": {"vehicles": 20},
    "vehicles": {"count": 2, "rig": "car.yaml"},
    "roadside": {"count": 2, "rig": "pole.yaml"},
}
FAULTS = {
    "gone": ({"fault": "lose_actor", "blueprint": "vehicle.*", "carries": True, "nth": 25}, "the vehicle of agent v"),
    "refused": (
        {"fault": "refuse_spawn", "blueprint": "sensor.camera.instance_segmentation", "nth": 17},
        "sensor.camera.",
    ),
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("airground-faults")
    for name, rig in RIGS.items():
        # adaptive exposure depends on earlier images, also of the failed attempt
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(rig | {"exposure": {"mode": "manual"}}))
    return written(folder, DATASET)


@pytest.fixture(scope="module")
def calm(plans: Path, simulator: RunningSimulator) -> dict[str, str]:
    succeed("generate", "--dataset", plans, "--simulator", simulator.carla, "--out", plans.parent / "calm")
    return hashes(plans.parent / "calm")


def written(folder: Path, dataset: dict[str, object], name: str = "own") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(dataset))
    return path


@pytest.mark.release
@pytest.mark.parametrize("name", FAULTS)
def test_a_scene_that_the_server_spoils_is_flown_again_to_the_same_bytes(
    name: str, plans: Path, calm: dict[str, str], tmp_path: Path
) -> None:
    fault, message = FAULTS[name]
    (tmp_path / "faults.yaml").write_text(yaml.safe_dump({"faults": [{**fault, "once_file": "happened"}]}))
    arguments = ["--faults", str(tmp_path / "faults.yaml")]
    run = {"retry_delay_s": 0.2, "simulators": [{"kind": "mock", "arguments": arguments}]}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(run))
    job = ("--dataset", plans, "--run", tmp_path / "run.yaml", "--no-check")  # equal bytes need no second check
    done = succeed("generate", *job, "--out", tmp_path / "out")
    assert (tmp_path / "happened").exists()
    lines = (done.stdout + done.stderr).splitlines()
    assert sum(message in line for line in lines) == 1, lines
    assert hashes(tmp_path / "out") == calm


@pytest.mark.release
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(plans: Path, calm: dict[str, str], tmp_path: Path) -> None:
    words = ["generate", "--dataset", str(plans), "--no-check", "--out", str(tmp_path / "out")]
    with (tmp_path / "log").open("wb") as log:
        run = subprocess.Popen([sys.executable, "-m", "uavsim", *words], stdout=log, stderr=log, start_new_session=True)
    deadline = time.monotonic() + 300
    while not (tmp_path / "out/samples").is_dir():  # the first scene is committed, the second one flies
        assert run.poll() is None, (tmp_path / "log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert hashes(tmp_path / "out") != calm
    succeed(*words)
    assert hashes(tmp_path / "out") == calm


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"drone_bodies": {"blueprint": "static.prop.nothing"}}, "static.prop.nothing", marks=pytest.mark.release
        ),
        (
            {"vehicles": {"count": 2, "rig": "car.yaml", "blueprint": "vehicle.nobody.*"}},
            "of these match blueprint vehicle.nobody.*",
        ),
    ],
)
def test_a_blueprint_that_the_server_lacks_is_named_in_a_line(
    more: dict[str, object], message: str, plans: Path, simulator: RunningSimulator, tmp_path: Path
) -> None:
    towns = {"Town10HD": {"scenes": 1, "routes": ["town10_row3_col3"]}}
    path = written(plans.parent, {**DATASET, **more, "towns": towns}, name="lacks")
    attached = {"kind": "attach", "ports": {"carla": simulator.carla_port}}
    run = {"retry_delay_s": 0.2, "attempts": 1, "simulators": [attached]}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(run))
    done = uavsim("generate", "--dataset", path, "--out", tmp_path / "out", "--run", tmp_path / "run.yaml")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert any(message in line for line in (done.stdout + done.stderr).splitlines())
