"""Cosys-AirSim beside AirSim in a bridge: the same plan through each one's real client gives the same data set."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import running_simulator
from tests.e2e.test_main_job import RIG, uavsim
from uavsim.capture.recording_reader import read_recording

JOB = ("--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "2")
FLOAT32_M = 1e-4  # at the extent of a town


def tables(out: Path) -> dict[str, list]:
    """Every table of a data set, poses apart."""
    return {path.name: json.loads(path.read_text()) for path in sorted((out / "v1.0-mini").glob("*.json"))}


@pytest.mark.timeout(900)
def test_the_same_plan_gives_the_same_tables(tmp_path: Path) -> None:
    (tmp_path / "rig.yaml").write_text(RIG)
    outs = {}
    for topology in ("bridge", "cosys"):
        outs[topology] = tmp_path / topology
        words = (*JOB, "--rig", tmp_path / "rig.yaml", "--topology", topology, "--out", outs[topology])
        done = uavsim("generate", *words)
        assert done.returncode == 0, done.stdout + done.stderr
    recordings = {name: read_recording(out / ".uavsim/recordings/scene_0000") for name, out in outs.items()}
    for name, recording in recordings.items():
        assert recording.facts.topology == name
    for ours, theirs in zip(recordings["bridge"].frames, recordings["cosys"].frames, strict=True):
        for a, b in zip(ours.drones, theirs.drones, strict=True):
            np.testing.assert_allclose(a.map_SE3_flu.translation_m, b.map_SE3_flu.translation_m, atol=FLOAT32_M)
            assert abs(a.map_SE3_flu.quat_wxyz @ b.map_SE3_flu.quat_wxyz) > 1 - 1e-9
    ours_at, theirs_at = tables(outs["bridge"]), tables(outs["cosys"])
    assert ours_at.keys() == theirs_at.keys()
    for name, rows in ours_at.items():
        assert [row.get("token") for row in rows if isinstance(row, dict)] == [
            row.get("token") for row in theirs_at[name] if isinstance(row, dict)
        ], name
    for name in ("sample_annotation.json", "instance.json", "sample.json", "category.json"):
        assert ours_at[name] == theirs_at[name], f"{name}: boxes and visible pixels"
    images = sorted(path.relative_to(outs["bridge"]) for path in (outs["bridge"] / "samples").rglob("*.*g"))
    assert images
    for path in images:
        assert (outs["bridge"] / path).read_bytes() == (outs["cosys"] / path).read_bytes(), path


def test_the_other_airsim_at_the_port_is_named(tmp_path: Path) -> None:
    with running_simulator("--airsim-dialect", "cosys") as fork, running_simulator("--render", "flat") as original:
        for topology, where, words in (
            ("bridge", fork, "is answered by Cosys-AirSim (protocol 4); expected AirSim"),
            ("merged", fork, "there is no topology merged with it; use topology cosys"),
            ("cosys", original, "is answered by AirSim (protocol 1); expected Cosys-AirSim"),
        ):
            out = tmp_path / topology
            done = uavsim("generate", *JOB, "--topology", topology, "--simulator", where.address, "--out", out)
            assert done.returncode == 3, done.stdout + done.stderr
            assert words in " ".join((done.stdout + done.stderr).split())
