"""Stalled traffic: the scene is retried with other traffic, and quarantined if that stalls, too."""

import json
from pathlib import Path

import pytest
import yaml

from tests.e2e.command import hashes, uavsim
from tests.e2e.test_airground_faults import written

pytestmark = pytest.mark.release

VEHICLES = 20
DATASET = {
    "towns": {"Town10HD": {"scenes": 1, "routes": ["town10_row3_col3"]}},
    "formation": "single",
    "rig": "rig.yaml",
    "samples": 2,
    "warmup_s": 3.0,
    "seed": 5,
    "traffic": {"vehicles": VEHICLES},
}
RIG = {"width_px": 96, "height_px": 54, "fov_deg": 70, "sensors": ["rgb", "instance"]}
ONCE = {
    "count": VEHICLES,
    "once_file": "stood",
}  # as many as spawn in the first try, whether or not the server is restarted
LINE = "vehicles that no light held moved more than 1 m in the warm-up of 3.0 s; min_moving_share is 0.3"


def flown(folder: Path, *words: str, attempts: int, **fault: object) -> tuple[int, str]:
    folder.mkdir()
    (folder / "rig.yaml").write_text(yaml.safe_dump({**RIG, "cameras": {"BOTTOM": {"pitch_deg": -90}}}))
    stalls = {"fault": "stall_traffic", "blueprint": "vehicle.*", **fault}
    (folder / "faults.yaml").write_text(yaml.safe_dump({"faults": [stalls]}))
    mock = {"kind": "mock", "arguments": ["--faults", str(folder / "faults.yaml")]}
    run = {"retry_delay_s": 0.2, "attempts": attempts, "simulators": [mock]}
    (folder / "run.yaml").write_text(yaml.safe_dump(run))
    dataset = written(folder, DATASET)
    done = uavsim("generate", "--dataset", dataset, "--run", folder / "run.yaml", *words, "--out", folder / "out")
    return done.returncode, done.stdout + done.stderr


def entry(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "out/.uavsim/ledger/scene_0000.json").read_text())
    return found


def test_scene_with_stalled_traffic_is_retried_with_other_traffic(tmp_path: Path) -> None:
    code, output = flown(tmp_path / "first", attempts=3, **ONCE)
    assert code == 0, output
    assert sum(LINE in line for line in output.splitlines()) == 1
    facts = entry(tmp_path / "first")["facts"]
    assert isinstance(facts, dict)
    assert (facts["traffic_retry"], facts["moved_in_warmup"]) == (1, 1.0)
    log = json.loads((tmp_path / "first/out/v1.0-mini/log.json").read_text())[0]
    assert (log["uav_traffic_retry"], log["uav_moved_in_warmup"]) == (1, 1.0)
    code, output = flown(tmp_path / "second", "--no-check", attempts=3, **ONCE)
    assert code == 0, output
    assert hashes(tmp_path / "second/out") == hashes(tmp_path / "first/out")
    code, output = flown(tmp_path / "calm", "--no-check", attempts=3, tick=10**6)
    assert code == 0, output
    assert hashes(tmp_path / "calm/out") != hashes(tmp_path / "first/out")


def test_scene_whose_traffic_never_moves_is_quarantined(tmp_path: Path) -> None:
    code, output = flown(tmp_path / "first", attempts=2)
    assert code == 3, output
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if LINE in line]
    assert [line.split(": ")[0] for line in lines] == ["scene_0000 attempt 1 of 2 failed", "scene_0000 quarantined"]
    assert entry(tmp_path / "first")["state"] == "quarantined"
