"""Run AirSim's own Python examples, unchanged, against the headless simulator.

    python -m conformance.airsim_examples FOLDER [--python PYTHON] [--only NAME ...] [--clock-speed 10] [--limit 240]

FOLDER is the PythonClient folder of a copy of AirSim's repository, which is not part of this one. Each example runs in its
own process under a pseudo terminal where Enter is pressed twice a second; the simulator is started with settings that fit.
The examples were written for numpy 1 (np.fromstring of bytes): --python names an interpreter with airsim 1.8.1, rpc-msgpack
0.6, numpy below 2 and OpenCV. One JSON line an example; the exit status is 1 when one ended wrongly.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from headless_simulator.testing import running_simulator

PORT = 41451  # the examples connect to AirSim's default
Settings = dict[str, Any]
ONE: Settings = {}
TWO: Settings = {"Vehicles": {"Drone1": {"X": 4, "Y": 0, "Z": -2}, "Drone2": {"X": 8, "Y": 0, "Z": -2}}}
CAMERAS: Settings = {"SimMode": "ComputerVision"}
# (example, arguments, settings, stops by itself)
EXAMPLES: list[tuple[str, list[str], Settings, bool]] = [
    ("multirotor/hello_drone.py", [], ONE, True),
    ("multirotor/takeoff.py", [], ONE, True),
    ("multirotor/path.py", [], ONE, True),
    ("multirotor/box.py", [], ONE, True),
    ("multirotor/multi_agent_drone.py", [], TWO, True),
    ("multirotor/orbit.py", ["--radius", "4", "--altitude", "5", "--speed", "2"], ONE, True),
    ("multirotor/survey.py", ["--size", "20", "--altitude", "30", "--speed", "5"], ONE, True),
    ("multirotor/gimbal.py", [], ONE, True),
    ("multirotor/pause_continue_drone.py", [], ONE, True),
    ("multirotor/reset_test_drone.py", [], ONE, True),
    ("multirotor/set_wind.py", [], ONE, True),
    ("multirotor/add_drone.py", [], ONE, True),
    ("multirotor/arm.py", [], ONE, True),
    ("multirotor/disarm.py", [], ONE, True),
    ("multirotor/land.py", [], ONE, True),
    ("multirotor/state.py", [], ONE, True),
    ("computer_vision/cv_mode.py", [], CAMERAS, True),
    ("computer_vision/segmentation.py", [], CAMERAS, True),
    ("computer_vision/fov_change.py", [], CAMERAS, True),
    ("computer_vision/ground_truth.py", [], CAMERAS, False),
    ("computer_vision/getpos.py", [], CAMERAS, True),
    ("computer_vision/objects.py", [], CAMERAS, True),
    ("environment/weather.py", [], CAMERAS, True),
    ("environment/create_objects.py", [], CAMERAS, True),
]


def run_example(path: Path, arguments: list[str], *, python: str, limit_s: float) -> tuple[int | None, str]:
    """Return the exit status (None: still running at the limit) and the output."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(path.parent)
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        os.execvp(python, [python, path.name, *arguments])
    printed, end_s, press_s = b"", time.monotonic() + limit_s, 0.0
    while time.monotonic() < end_s:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            try:
                got = os.read(terminal, 65536)
            except OSError:  # the child closed its terminal
                got = b""
            if not got:
                _, status = os.waitpid(child, 0)
                return os.waitstatus_to_exitcode(status), printed.decode(errors="replace")
            printed = (printed + got)[-200_000:]
        if time.monotonic() > press_s:
            os.write(terminal, b"\n")
            press_s = time.monotonic() + 0.5
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, printed.decode(errors="replace")


def main() -> int:
    """Run the examples and print one line for each."""
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # started with &, examples would inherit that Ctrl-C is ignored
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="AirSim's PythonClient folder")
    parser.add_argument("--python", default=sys.executable, help="interpreter for the examples")
    parser.add_argument("--only", nargs="*", help="run only these examples, such as hello_drone")
    parser.add_argument("--clock-speed", type=float, default=10.0)
    parser.add_argument("--limit", type=float, default=240.0, help="seconds an example may take")
    parser.add_argument("--town", default="Town10HD")
    options = parser.parse_args()
    wrong = 0
    for name, arguments, settings, ends in EXAMPLES:
        path = options.folder / name
        if (options.only and path.stem not in options.only) or not path.exists():
            continue
        with tempfile.TemporaryDirectory() as scratch:
            file, limit = Path(scratch, "settings.json"), options.limit if ends else min(options.limit, 15.0)
            file.write_text(json.dumps({"SettingsVersion": 1.2, "ClockSpeed": options.clock_speed, **settings}))
            with running_simulator("--airsim-port", str(PORT), "--town", options.town, "--airsim-settings", str(file)):
                begin = time.monotonic()
                status, printed = run_example(path.resolve(), arguments, python=options.python, limit_s=limit)
        good = (status == 0 if ends else status is None) and "Traceback" not in printed and "Exception" not in printed
        wrong += not good
        row = {"example": name, "good": good, "status": status, "seconds": round(time.monotonic() - begin, 1)}
        print(json.dumps(row), flush=True)
        if not good:
            print(printed[-2000:], file=sys.stderr, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
