"""Run CARLA's own smoke tests, unchanged, against the headless simulator and print what became of each.

    python -m conformance.carla_smoke_tests FOLDER [--python PATH] [--only PATTERN ...] [--limit 900] [--maps FOLDER]

FOLDER is PythonAPI/test of a copy of CARLA 0.9.16. Each test runs in a process of its own; a test that fails gets a new
simulator after it. A test cannot apply where it needs what only Unreal has, what the 0.9.16 client does not have, or exact
places of CARLA's own towns; ``--maps`` serves CARLA's own OpenDRIVE files where you have them. --python names an
interpreter that has carla==0.9.16 and numpy. Ends with 0 only if at least nine of ten that can apply pass.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import fnmatch
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from conformance.processes import run_to_end
from headless_simulator.testing import running_simulator

PORT = 3654  # built into the tests
ENOUGH = 0.9
NOT_IN_THE_CLIENT = re.compile(r"AttributeError: module 'carla' has no attribute '(\w+)'")
_TEST_CASES = ("TestCase", "SmokeTest")  # how the base classes of tests end; other classes have methods named test_ too
CANNOT_APPLY = {  # pattern of a test's name: reason
    "*.test_ros2.*": "needs a server with ROS 2",
    "*.test_cosmos_export.*": "needs calls that the 0.9.16 client does not have",
    "*.test_rt_lens_capture_sync.*": "needs wide-angle lenses, which came after 0.9.16",
    "*.test_encoding_cameras.*": "needs cameras that came after 0.9.16",
    "*.test_nullrhi_primary.*": "starts Unreal's own executable",
    "*.TestCollisionSensor.test_single_car": "drives into a wall that stands at (30, -6) in CARLA's own Town03",
}


def tests_in(folder: Path) -> Iterator[str]:
    """Yield every test of the package ``smoke`` as module.Class.method. CARLA's unit tests use no server."""
    for path in sorted(folder.glob("smoke/test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith(_TEST_CASES) for base in node.bases):
                for part in node.body:
                    if isinstance(part, ast.FunctionDef) and part.name.startswith("test"):
                        yield f"{path.parent.name}.{path.stem}.{node.name}.{part.name}"


def reason_against(test: str) -> str:
    """Return the reason why a test cannot apply, or ""."""
    return next((why for pattern, why in CANNOT_APPLY.items() if fnmatch.fnmatch(test, pattern)), "")


def run(test: str, *, folder: Path, python: str, limit_s: float) -> tuple[str, str]:
    """Run one test; returns "passed", "failed" or "cannot apply", and its output unless it passed."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [python, "-m", "unittest", test]
        code, output = run_to_end(command, limit_s=limit_s, cwd=folder, env=environment)
    lines = [line for line in output if line.strip()]
    if code == 0:
        return "passed", ""
    missing = NOT_IN_THE_CLIENT.search("\n".join(lines))
    if missing:
        return "cannot apply", f"the client has no carla.{missing[1]}"
    trouble = [line for line in lines if "Error" in line or "Exception" in line]
    last = (trouble or lines or [""])[-1]
    return "failed", f"{'too slow' if code is None else f'exit {code}'}: {last[:160]}"


def main() -> None:
    """Run the tests and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="interpreter for the tests")
    parser.add_argument("--only", nargs="*", default=["*"], help="name patterns of tests: module.Class.method")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds that a test may take")
    parser.add_argument("--maps", type=Path, help="folder of OpenDRIVE files that the simulator serves by their names")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops the simulator that this program started
    folder, counts = options.folder.resolve(), Counter[str]()
    selected = [t for t in tests_in(folder) if any(fnmatch.fnmatch(t, f"*{p}*") for p in options.only)]
    if not selected:
        sys.exit(f"{folder} holds no such test: it has to be PythonAPI/test of a copy of CARLA")
    maps = ("--maps", str(options.maps.resolve())) if options.maps else ()
    with contextlib.ExitStack() as running:
        for test in selected:
            why = reason_against(test)
            if why:
                counts["cannot apply"] += 1
                print(f"{test:72} cannot apply: {why}", flush=True)
                continue
            if counts["on this simulator"] == 0:
                running.enter_context(running_simulator("--carla-port", str(PORT), *maps))
            began = time.monotonic()
            ending, trouble = run(test, folder=folder, python=options.python, limit_s=options.limit)
            counts[ending] += 1
            counts["on this simulator"] += 1
            print(f"{test:72} {ending:12} {time.monotonic() - began:5.0f} s  {trouble}", flush=True)
            if ending == "failed":
                running.close()
                counts["on this simulator"] = 0
    ran = counts["passed"] + counts["failed"]
    print(f"passed {counts['passed']}, failed {counts['failed']}, cannot apply {counts['cannot apply']}")
    sys.exit(0 if counts["passed"] >= ENOUGH * ran else 1)


if __name__ == "__main__":
    main()
