"""Output and exit code of ``uavsim doctor`` for good and bad simulators of each kind."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from headless_simulator.testing import running_simulator

from tests.e2e.command import uavsim
from tests.e2e.test_main_job import DATASET
from uavsim.records.modalities import UNCHECKED_MASKS

PAGE = (Path(__file__).parents[2] / "docs/simulators.md").read_text()
JOB = ("doctor", "--dataset", "smoke", "--town", "Town10HD")


def words_of(*arguments: str | Path, job: Sequence[str | Path] = JOB) -> tuple[int, str]:
    """Run doctor; returns its exit code and output joined to one line, with metres as on the page."""
    done = uavsim(*job, *arguments)
    text = " ".join((done.stdout + done.stderr).split())
    text = re.sub(r"0\.000 m \(\d+\.\d+ m without\)", "0.000 m (1.234 m without)", text)
    return done.returncode, re.sub(r"by [1-9.]\d*\.?\d* m \(\d+\.\d+ m without\)", "by 1.234 m (1.234 m without)", text)


def test_a_version_that_is_not_served_is_named(tmp_path: Path) -> None:
    faults = tmp_path / "faults.yaml"
    faults.write_text("faults: [{fault: wrong_version, version: 0.9.14}]\n")
    with running_simulator("--render", "flat", "--faults", str(faults)) as running:
        code, text = words_of("--simulator", running.carla, "--out", tmp_path / "out")
    assert code == 3
    assert f"the server at {running.carla} is CARLA 0.9.14; supported are 0.9.16, 0.9.15, 0.10.0" in text


@pytest.mark.release
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        ((), 0, "AirSim's calls wait for a tick; ticks under simPause move a car by 0.000 m (1.234 m without)"),
        (("--merged-assume", "pause-freezes=no"), 3, "images cannot be proven: topology merged does not support this"),
    ],
)
def test_a_merged_build_is_measured(arguments: tuple[str, ...], code: int, line: str, tmp_path: Path) -> None:
    (tmp_path / "rig.yaml").write_text(
        "width_px: 160\nheight_px: 90\nfov_deg: 90\nsensors: [rgb, instance]\ncameras: {FRONT: {pitch_deg: -45}}\n"
    )
    tiny = DATASET.replace("RIG", str(tmp_path / "rig.yaml")).replace("FORMATION", "single")
    tiny = tiny.replace("vehicles: 40", "vehicles: 10")
    (tmp_path / "tiny.yaml").write_text(tiny)
    (tmp_path / "run.yaml").write_text(
        f"simulators: [{{kind: mock, arguments: [{', '.join(repr(word) for word in arguments)}]}}]\n"
    )
    job = ("doctor", "--dataset", tmp_path / "tiny.yaml", "--town", "Town10HD")
    found, text = words_of("--run", tmp_path / "run.yaml", "--topology", "merged", "--out", tmp_path / "out", job=job)
    assert line in text
    assert line in PAGE
    assert UNCHECKED_MASKS in text  # its rig takes no depth
    assert found == code, text
