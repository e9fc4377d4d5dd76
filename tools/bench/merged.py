"""Rows about merged simulators: what it costs that AirSim answers within ticks only."""

import json
import subprocess
import sys
from collections.abc import Iterator

from tools.bench.rows import Row
from tools.common import ROOT

CAPTURES = 40


def rows() -> Iterator[Row]:
    """Images a second from a build whose game thread waits between ticks, beside those of a free one."""
    for engine in ("carla", "free"):
        command = [
            sys.executable,
            "-m",
            "tools.trials.program",
            "tools.trials.merged_captures",
            "--captures",
            str(CAPTURES),
            "--engine",
            engine,
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"merged_captures ended with {done.returncode}: {done.stdout}{done.stderr[-300:]}")
        reported = json.loads(done.stdout.splitlines()[-1])
        how = f"25 RGB + 25 masks of 192x112 a capture, {reported['captures']} captures, 25 vehicles, official clients"
        yield Row(f"merged_{engine}_images_per_s", reported["images_per_s"], "images/s", how)
        yield Row(f"merged_{engine}_ticks_per_capture", reported["ticks_passed"] / reported["captures"], "ticks", how)
