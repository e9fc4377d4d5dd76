"""The set-ups in which AirSim takes part, from the command line, against one headless simulator that serves both ports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.e2e.test_main_job import RIG, uavsim
from trials.small_dataset import one_scene
from uavsim.capture.recording_reader import read_recording


@pytest.mark.parametrize("topology", ["merged", "bridge"])
def test_a_set_up_with_airsim_makes_a_valid_data_set(topology: str, tmp_path: Path) -> None:
    (tmp_path / "rig.yaml").write_text(RIG)
    out = tmp_path / "out"
    words = (*one_scene(2), "--rig", str(tmp_path / "rig.yaml"))
    done = uavsim("generate", *words, "--topology", topology, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    recording = read_recording(out / ".uavsim/recordings/scene_0000")
    assert recording.facts.topology == topology
    drones = [drone for frame in recording.frames for drone in frame.drones]
    off_m = [np.linalg.norm(d.map_SE3_flu.translation_m - d.planned_map_SE3_flu.translation_m) for d in drones]
    if topology == "bridge":
        assert 0.01 < max(off_m) < 1.5  # flown, not placed, and in formation
    else:
        assert max(off_m) < 1e-3
