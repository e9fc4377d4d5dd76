"""Run the official CARLA examples, unchanged, against the headless simulator and print what became of each.

    python -m conformance.carla_examples FOLDER [--python PATH] [--only NAME ...] [--seconds S]

FOLDER holds copies of CARLA's PythonAPI/examples. Half of them have port 2000 built in, so the simulator is started
there. --python names an interpreter that has carla==0.9.16, pygame, numpy, matplotlib and pillow.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headless_simulator.testing import running_simulator

HOST = ("--host", "127.0.0.1")
PORT = 2000
# name: (arguments, whether it runs until it is stopped)
EXAMPLES: dict[str, tuple[tuple[str, ...], bool]] = {
    "generate_traffic": ((*HOST, "-n", "20", "-w", "10", "-s", "3", "--seedw", "3"), True),
    "tutorial": ((), False),
    "synchronous_mode": ((), True),
    "sensor_synchronization": ((), True),
    "client_bounding_boxes": ((), True),
    "dynamic_weather": ((*HOST,), True),
    "vehicle_gallery": ((), True),
    "visualize_multiple_sensors": ((*HOST, "--res", "640x480"), True),
    "lidar_to_camera": ((*HOST, "-f", "20"), False),
    "manual_control": ((*HOST, "--sync", "--res", "640x480"), True),
    "vehicle_physics": ((*HOST,), False),
    "bounding_boxes": ((*HOST, "--res", "640x480"), True),
    "automatic_control": ((*HOST, "--sync", "--res", "640x480"), True),
    "draw_skeleton": ((), True),
}
GRACE_S = 30


def run(script: Path, arguments: tuple[str, ...], *, python: str, seconds: float, endless: bool) -> tuple[bool, str]:
    """Run one example; returns whether it succeeded, and a description of its end."""
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "MPLBACKEND": "Agg"}
    with tempfile.TemporaryDirectory() as folder:
        environment["HOME"] = folder
        errors = Path(folder, "stderr.txt")
        with errors.open("w") as sink:
            process = subprocess.Popen(
                [python, str(script), *arguments], cwd=folder, env=environment, stdout=sink, stderr=sink
            )
            stopped = _wait(process, seconds=seconds if endless else 20 * seconds)
        output = errors.read_text(errors="replace")
        files = len(list(Path(folder).rglob("*.png")))
    code = process.returncode
    trouble = [line for line in output.splitlines() if "Error" in line or "error:" in line]
    trouble = [line for line in trouble if not line.startswith("KeyboardInterrupt")]
    fine = not trouble and (code == 0 or (stopped and code in (-signal.SIGINT, 1, 130)))
    ending = ("stopped" if stopped else "ended") + f", exit {code}" + (f", {files} images" if files else "")
    return fine and (endless or not stopped), ending + (f": {trouble[-1][:120]}" if trouble else "")


def _wait(process: subprocess.Popen[bytes], *, seconds: float) -> bool:
    """Wait for the end, or interrupt the process like a user; returns whether it was interrupted."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return True
    return False


def main() -> None:
    """Run the examples and print a table."""
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # started with &, examples would inherit that Ctrl-C is ignored
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="interpreter for the examples")
    parser.add_argument("--only", nargs="*", choices=sorted(EXAMPLES), help="run only these examples")
    parser.add_argument("--seconds", type=float, default=15.0, help="seconds before an endless example is stopped")
    options = parser.parse_args()
    failed = 0
    for name, (arguments, endless) in EXAMPLES.items():
        script = options.folder.resolve() / f"{name}.py"
        if options.only and name not in options.only:
            continue
        if not script.is_file():
            print(f"{name:28} absent")
            continue
        # a new one each time: some examples leave the simulator synchronous, without a ticking client
        with running_simulator("--carla-port", str(PORT)):
            began = time.monotonic()
            fine, how = run(script, arguments, python=options.python, seconds=options.seconds, endless=endless)
        failed += not fine
        print(f"{name:28} {'ok  ' if fine else 'FAIL'} {time.monotonic() - began:5.0f} s  {how}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
