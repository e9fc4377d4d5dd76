"""Inject single faults into the headless simulator, and check that `uavsim conform` finds each, and no fault without one.

    scripts/trial conform

Each fault runs the probe that must find it, on its own simulator. Exit code 1 where a fault is not found, or where the
simulator without a fault differs from the stored answers.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from headless_simulator.testing import running_simulator

from uavsim.probing.conform.answers import REFERENCE, Answer, AnswerFile, read_answers
from uavsim.probing.conform.comparison import compare
from uavsim.probing.conform.run import answers_of

__all__ = ["FAST_CLOCK", "PLANTED", "Planted", "found_by"]

FAST_CLOCK: Final[dict[str, Any]] = {"SettingsVersion": 1.2, "SimMode": "Multirotor", "ClockSpeed": 20}
"""AirSim settings with a clock 20 times as fast."""
_RGB: Final = "sensor.camera.rgb"


@dataclass(frozen=True, slots=True)
class Planted:
    """One fault, and the probe that must find it."""

    probe: str
    fault: dict[str, Any]


PLANTED: Final = (
    Planted("stamps", {"fault": "drop_frame", "sensor": _RGB, "tick": "10-12"}),
    Planted("stamps", {"fault": "delay_frame", "sensor": _RGB, "ticks": 2, "tick": 12}),
    Planted("stamps", {"fault": "duplicate_frame", "sensor": _RGB, "tick": 12}),
    Planted("stamps", {"fault": "wrong_frame_number", "sensor": _RGB, "offset": -1, "tick": 12}),
    Planted("stamps", {"fault": "cut_stream", "sensor": _RGB, "tick": 12}),
    Planted("placements", {"fault": "stale_pose", "sensor": _RGB, "tick": 50}),
    Planted("masks", {"fault": "nan_pose", "blueprint": "vehicle.tesla.*", "count": 5}),
    Planted("controls", {"fault": "lose_actor", "blueprint": "vehicle.*", "tick": 40}),
    Planted("blueprints", {"fault": "refuse_spawn", "blueprint": "vehicle.audi.*"}),
    Planted("server", {"fault": "wrong_version", "version": "0.9.14"}),
    Planted("server", {"fault": "wrong_map", "name": "Town99"}),
    Planted("airsim-placing", {"fault": "nan_pose", "server": "airsim", "call": "simGetVehiclePose", "nth": 9}),
    Planted("airsim-images", {"fault": "drop_frame", "server": "airsim", "call": "simGetImages", "nth": 3}),
)


def found_by(planted: Planted, folder: Path) -> list[str]:
    """Return the questions of the probe that differ from the stored answers."""
    faults = folder / "faults.yaml"
    faults.write_text(yaml.safe_dump({"faults": [planted.fault]}), "utf-8")
    with running_simulator("--faults", str(faults)) as simulator:
        answers = answers_of(planted.probe, simulator.carla, simulator.airsim)
    return differing(answers)


def differing(answers: list[Answer]) -> list[str]:
    """Return the questions of the tested capabilities with answers that differ from the stored ones."""
    reference = read_answers(REFERENCE)
    tested = {a.capability for a in answers}
    expected = tuple(a for a in reference.answers if a.capability in tested)
    measured: AnswerFile = reference.model_copy(update={"answers": tuple(answers)})
    found = compare(measured, reference.model_copy(update={"answers": expected}))
    return [f"{c.answer.question} ({c.result})" for c in found if c.result in {"other", "not there"}] + [
        f"{c.answer.question}: {c.answer.note}" for c in found if c.reference is None
    ]


def main() -> int:
    """Run the simulator without and with each fault, and print the findings."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="uavsim-conform-") as temp:
        folder = Path(temp)
        settings = folder / "settings.json"
        settings.write_text(json.dumps(FAST_CLOCK), "utf-8")
        with running_simulator("--airsim-settings", str(settings)) as simulator:
            where = ("--simulator", simulator.carla, "--airsim", simulator.airsim)
            words = ("conform", *where, "--out", str(folder / "out"), "--strict")
            if code := subprocess.run([sys.executable, "-m", "uavsim", *words], cwd=folder, check=False).returncode:
                sys.exit(f"uavsim conform ended with {code}")
        sys.stdout.write("no fault: as stored\n")
        for planted in PLANTED:
            found = found_by(planted, folder)
            missed += not found
            sys.stdout.write(f"{planted.probe:15} {planted.fault['fault']:18} {found[0] if found else 'NOT FOUND'}\n")
            sys.stdout.flush()
    return 1 if missed else 0
