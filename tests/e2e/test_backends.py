"""Backends with AirSim, from the command line, with a headless simulator that serves both ports."""

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import succeed
from tests.e2e.flights import RIG
from tools.common.small_dataset import one_scene
from uavsim.access import open_folder
from uavsim.capture.recording_reader import read_recording

SMOKE = Path(__file__).parents[2] / "flight_plans/datasets/smoke.yaml"
FLOAT32_M = 1e-4  # at the extent of a town


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that flies the same scene once per backend and returns its folder."""
    folder = tmp_path_factory.mktemp("setups")
    (folder / "rig.yaml").write_text(RIG)
    (folder / "own.yaml").write_text(f"{SMOKE.read_text()}flight_sensors: {{imu: {{}}}}\n")

    @cache
    def fly(topology: str) -> Path:
        out = folder / topology
        words = ("--dataset", str(folder / "own.yaml"), *one_scene(2)[2:], "--rig", str(folder / "rig.yaml"))
        succeed("generate", *words, "--topology", topology, "--out", out)
        return out

    return fly


def off_plan_m(out: Path, *, topology: str) -> float:
    """Return the largest distance of a recording's drones from their plans, metres."""
    recording = read_recording(out / ".uavsim/recordings/scene_0000")
    assert recording.facts.topology == topology
    drones = [drone for frame in recording.frames for drone in frame.drones]
    return max(float(np.linalg.norm(d.map_SE3_flu.translation_m - d.planned_map_SE3_flu.translation_m)) for d in drones)


def test_a_bridge_makes_a_valid_dataset_of_drones_that_fly(made: Callable[[str], Path]) -> None:
    assert 0.01 < off_plan_m(made("bridge"), topology="bridge") < 1.5  # flown, not placed, and in formation


def test_an_imu_on_a_drone_that_flies_reads_at_the_simulators_steps(made: Callable[[str], Path]) -> None:
    streams = open_folder(made("bridge")).scene("scene_0000").streams
    assert [(s.channel, s.motion, s.rate_hz) for s in streams] == [(f"IMU_id_{n}", "reported", 20.0) for n in range(5)]
    for found in (stream.readings() for stream in streams):
        force = found["accelerometer_true_mps2"]
        assert abs(force[:, 2].mean() - 9.81) < 1
        assert np.abs(force - [0, 0, 9.81]).max() < 6  # derivatives of places that AirSim steps to in 3 ms jump by 13


@pytest.mark.release
@pytest.mark.parametrize(("topology", "most_m"), [("bridge", 1.5), ("merged", 1e-3)])
def test_an_airsim_that_answers_late_and_runs_unevenly_makes_a_valid_dataset(
    tmp_path: Path, topology: str, most_m: float
) -> None:
    (tmp_path / "rig.yaml").write_text(RIG)
    out = tmp_path / "out"
    behaviours = {"HEADLESS_SIMULATOR_BEHAVIOUR": "set-pose=stale continue=stepped reset=slow"}
    words = (*one_scene(2), "--rig", str(tmp_path / "rig.yaml"), "--topology", topology)
    succeed("generate", *words, "--out", out, env={**os.environ, **behaviours})
    assert off_plan_m(out, topology=topology) < most_m


def test_a_merged_build_places_its_drones(made: Callable[[str], Path]) -> None:
    assert off_plan_m(made("merged"), topology="merged") < 1e-3


@pytest.mark.release
def test_in_a_merged_build_the_others_see_airsims_own_body(tmp_path: Path) -> None:
    (tmp_path / "rig.yaml").write_text("width_px: 800\nheight_px: 450\nfov_deg: 90\nsensors: [rgb, instance]\n"
                                       "cameras: {FRONT: {pitch_deg: -45}}\n")  # fmt: skip
    (tmp_path / "own.yaml").write_text(
        "topology: merged\ntowns: {Town10HD: {scenes: 1, vehicles: 3}}\nsamples: 2\nformation: stacked\nrig: rig.yaml\n"
        "weather: clear_noon\ntraffic: {walkers: 0}\ndrone_bodies: {size_m: [0.9, 0.9, 0.28]}\n"
    )
    out = tmp_path / "out"
    succeed("generate", "--dataset", str(tmp_path / "own.yaml"), "--out", out)  # it is valid: boxes hold their pixels
    tracks = set()
    for sample in open_folder(out).scene("scene_0000").samples:
        bodies = sample.boxes.pick(np.array([name == "vehicle.ego" for name in sample.boxes.categories]))
        assert len(bodies) == 5
        assert bodies.seen_by[1] == (0, 3, 4)  # those behind and above the first one in front
        visible_px = {view["channel"]: view["visible_px"] for view in bodies.views[1] if view["visible_px"]}
        for image in sample.images:
            ids, _ = image.mask()
            assert int((ids == bodies.instance_id[1]).sum()) == visible_px.get(image.channel, 0)
        tracks.add(bodies.instance_tokens)
    assert len(tracks) == 1


def tables(out: Path) -> dict[str, list]:
    """Return all tables of a dataset without poses."""
    return {path.name: json.loads(path.read_text()) for path in sorted((out / "v1.0-mini").glob("*.json"))}


@pytest.mark.release
@pytest.mark.timeout(900)
def test_cosys_airsim_gives_the_same_tables_as_airsim(made: Callable[[str], Path]) -> None:
    """The same plan is flown in a bridge with each vendor's client."""
    outs = {topology: made(topology) for topology in ("bridge", "cosys")}
    recordings = {name: read_recording(out / ".uavsim/recordings/scene_0000") for name, out in outs.items()}
    for name, recording in recordings.items():
        assert recording.facts.topology == name
    for bridge_frame, cosys_frame in zip(recordings["bridge"].frames, recordings["cosys"].frames, strict=True):
        for a, b in zip(bridge_frame.drones, cosys_frame.drones, strict=True):
            np.testing.assert_allclose(a.map_SE3_flu.translation_m, b.map_SE3_flu.translation_m, atol=FLOAT32_M)
            assert abs(a.map_SE3_flu.quat_wxyz @ b.map_SE3_flu.quat_wxyz) > 1 - 1e-9
    bridge_tables, cosys_tables = tables(outs["bridge"]), tables(outs["cosys"])
    assert bridge_tables.keys() == cosys_tables.keys()
    for name, rows in bridge_tables.items():
        assert [row.get("token") for row in rows if isinstance(row, dict)] == [
            row.get("token") for row in cosys_tables[name] if isinstance(row, dict)
        ], name
    for name in ("sample_annotation.json", "instance.json", "sample.json", "category.json"):
        assert bridge_tables[name] == cosys_tables[name], f"{name}: boxes and visible pixels"
    images = sorted(path.relative_to(outs["bridge"]) for path in (outs["bridge"] / "samples").rglob("*.*g"))
    assert images
    for path in images:
        assert (outs["bridge"] / path).read_bytes() == (outs["cosys"] / path).read_bytes(), path
