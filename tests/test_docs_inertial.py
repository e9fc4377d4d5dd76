"""The script of the page about inertial navigation runs on a bag of a synthetic flight."""

import os
import re
import subprocess
from pathlib import Path

from tests.dataset_factory import make_dataset
from tests.other_python import python_of
from tests.streams import add_streams
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.rosbag2 import export_rosbag2
from uavsim.ingredients.flight_sensors import Units

ROOT = Path(__file__).parents[1]


def test_the_scripts_estimates_are_within_their_stated_errors(tmp_path: Path) -> None:
    data = make_dataset(tmp_path / "own", scenes=1, samples=21, sweeps=0, drones=1, size_px=(16, 9), cameras=("FRONT",))
    add_streams(data, drones=1, units=Units.model_validate({"imu": {}, "gnss": {}}))
    (bag,) = export_rosbag2(ExportRequest(data, tmp_path / "bags"))
    script = str(ROOT / "docs/inertial_navigation.py")
    command, environment = [str(python_of("readers")), "-W", "error", script], os.environ | {"UAVSIM_BAG": str(bag)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    head, by_hand, alone, both = run.stdout.splitlines()
    assert head == "2001 readings, 21 poses, 51 fixes; from pose to pose 10.000 s"
    metres = [float(re.search(r"([0-9.]+) m", line)[1]) for line in (by_hand, alone, both)]
    assert abs(metres[0] - metres[1]) < 0.01  # the same sum by two programs
    assert "stated" in by_hand
    assert "stated" in both
