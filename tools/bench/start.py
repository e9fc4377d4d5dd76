"""Start times: the help, the import, a demo of two scenes, and the headless simulator."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.bench import Row, simulator
from tools.bench.cost import watched
from tools.common import ROOT

TURNS: Final = 5
COMMANDS: Final = {"help": ("-m", "uavsim", "--help"), "import": ("-c", "import uavsim")}
_SMOKE: Final = ("--dataset", "smoke", "--town", "Town10HD", "--scenes", "0-1")
SCENES: Final = (*_SMOKE, "--samples", "5", "--rig", "uav3d_depth", "--no-settle")


def rows() -> Iterator[Row]:
    """Start each several times, after a start that compiles."""
    for name, words in COMMANDS.items():
        seconds = []
        for _ in range(TURNS):
            began = time.perf_counter()
            subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
            seconds.append(time.perf_counter() - began)
        yield Row(f"start_{name}_s", statistics.median(seconds), "s", f"python {' '.join(words)}, median of {TURNS}")
    with tempfile.TemporaryDirectory() as work:
        seconds = [watched(("generate", *SCENES, "--out", f"{work}/{turn}"), Path(work, "log"))[0] for turn in range(3)]
    yield Row(
        "start_demo_s", min(seconds[1:]), "s", "what scripts/demo generates, least of 2 turns after one that compiles"
    )
    seconds = []
    for _ in range(3):
        with simulator("--town", "Town10HD") as running:
            seconds.append(running.seconds_to_listen)
    yield Row(
        "start_simulator_s", min(seconds), "s", "headless simulator until it listens, Town10HD cached, least of 3"
    )
