"""Reports of server defects: neon images of a full graphics card, and parked vehicles that no list names."""

import json
from pathlib import Path

import pytest
import yaml

from tests.e2e.command import succeed, uavsim

pytestmark = pytest.mark.release

RIG = {
    "width_px": 480,
    "height_px": 270,
    "fov_deg": 60,
    "sensors": ["rgb", "instance"],
    "cameras": {"BOTTOM": {"pitch_deg": -90}},
}
DATASET = {
    "towns": {"Town10HD": {"scenes": 1, "routes": ["town10_row1_col5"]}},  # parked cars are below it
    "formation": "cross",
    "rig": "rig.yaml",
    "samples": 2,
    "warmup_s": 0.5,
    "seed": 5,
    "traffic": {"vehicles": 5},
}


def job(folder: Path, *arguments: str) -> list[str | Path]:
    """Write a small job with extra arguments of its simulator; returns its options."""
    (folder / "rig.yaml").write_text(yaml.safe_dump(RIG))
    (folder / "dataset.yaml").write_text(yaml.safe_dump(DATASET))
    run = {"attempts": 2, "retry_delay_s": 0, "simulators": [{"kind": "mock", "arguments": [*arguments]}]}
    (folder / "run.yaml").write_text(yaml.safe_dump(run))
    return ["--dataset", folder / "dataset.yaml", "--run", folder / "run.yaml", "--out", folder / "out"]


@pytest.mark.timeout(900)
def test_neon_images_void_the_scene(tmp_path: Path) -> None:
    (tmp_path / "faults.yaml").write_text("faults: [{fault: neon_image}]\n")
    done = uavsim("generate", *job(tmp_path, "--faults", str(tmp_path / "faults.yaml")))
    output = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0
    assert "attempt 1 of 2 failed: the images show neon colours: the graphics memory is full" in output
    assert "quarantined: the images show neon colours" in output
    [reasons] = (tmp_path / "out").rglob("reasons.json")
    assert all(reason.startswith("SceneVoid: ") for reason in json.loads(reasons.read_text())["reasons"])


@pytest.mark.timeout(900)
def test_unlisted_parked_vehicles_are_reported(tmp_path: Path) -> None:
    options = job(tmp_path, "--behaviour", "parked=unlisted")
    succeed("generate", *options)
    [table] = (tmp_path / "out").rglob("log.json")
    [notes] = [row["uav_notes"] for row in json.loads(table.read_text())]
    assert any(note.startswith("the simulator lists no parked vehicles") for note in notes), notes
    page = tmp_path / "report.html"
    succeed("report", tmp_path / "out", "--no-check", "--out", page)
    assert "In 1 scenes the simulator lists no parked vehicles" in page.read_text()
    examined = uavsim("doctor", *options[:-1], tmp_path / "none")
    assert "the simulator lists no parked vehicles" in " ".join((examined.stdout + examined.stderr).split())
