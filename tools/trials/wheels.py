"""Build both wheels, install them with pip in bare environments, and run what is in them.

    scripts/trial wheels [--python PYTHON] [--work FOLDER] [--airsim]

First the simulator's wheel alone: its server runs and CARLA's own client ticks a world on it. Then both wheels in one command:
from an empty folder that has nothing of this repository, a dataset is generated and validated; a topology that needs AirSim's
client says in one line what to run. With --airsim that line is run, and the topology flown. One line a step, with its seconds;
ends with 0 only if all steps are good.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from headless_simulator.testing import running_simulator

from tools.common import ROOT
from uavsim.config.backends import AIRSIM

CARLA: Final = "carla==0.9.16"
CLIENT: Final = """
import os, sys, carla
client = carla.Client("127.0.0.1", int(sys.argv[1]))
client.set_timeout(1800)
world = client.get_world()
settings = world.get_settings()
settings.synchronous_mode, settings.fixed_delta_seconds = True, 0.05
world.apply_settings(settings)
before = world.get_snapshot().frame
world.tick()
print(world.get_map().name, world.get_snapshot().frame - before, flush=True)
os._exit(0)
"""
PATIENT: Final = """
simulators: [{kind: mock, ready_s: 7200}]
deadlines: {connect_s: 1800, load_s: 1800, spawn_s: 1800, call_s: 1800}
"""
"""The first start in a new environment compiles for minutes, which this trial does not limit."""
SMOKE: Final = ("generate", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "2")


class StepError(Exception):
    """A step failed; the message is its last line."""


def main() -> int:
    """Run the steps up to the first failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="interpreter to create the environments with")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--airsim", action="store_true", help="also install AirSim's client and fly topology bridge")
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-wheels-"))
    work.mkdir(parents=True, exist_ok=True)
    trial = WheelTrial(work, python=options.python)
    steps: list[tuple[str, Callable[[], str]]] = [
        ("build both wheels", trial.build),
        ("pip install the simulator's wheel", trial.install_simulator),
        ("CARLA's client on headless-simulator", trial.tick_a_world),
        ("pip install both wheels", trial.install_both),
        ("generate from an empty folder", trial.generate),
        ("validate", trial.validate),
        ("bridge without AirSim's client is refused", trial.refuse_bridge),
    ]
    if options.airsim:
        steps += [("install AirSim's client", trial.install_airsim), ("generate with bridge", trial.generate_bridge)]
    for name, step in steps:
        began = time.monotonic()
        try:
            found, good = step(), True
        except StepError as error:
            found, good = str(error), False
        print(f"{'good' if good else 'BAD '} {time.monotonic() - began:5.0f} s  {name}: {found}", flush=True)
        if not good:
            print(f"see {work}")
            return 1
    if options.work is None:
        shutil.rmtree(work)
    return 0


class WheelTrial:
    """The steps of the trial, with a shared folder for wheels, environments and an empty working folder."""

    def __init__(self, work: Path, *, python: str) -> None:
        self._work, self._python = work, python
        self._empty = work / "empty"
        self._empty.mkdir(exist_ok=True)
        run = work / "patient.yaml"
        run.write_text(PATIENT)
        self._smoke = (str(work / "pipeline" / "bin" / "uavsim"), *SMOKE, "--run", str(run))
        # excludes this repository, its environment and the caller's home
        self._env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
        self._env = {k: v for k, v in self._env.items() if not k.startswith("PREFECT_API_")}
        self._env |= {"HOME": str(work / "home"), "XDG_CACHE_HOME": str(work / "cache")}
        for name in ("HOME", "XDG_CACHE_HOME"):
            Path(self._env[name]).mkdir(exist_ok=True)

    def build(self) -> str:
        """Build both wheels with uv, like a release."""
        uv = shutil.which("uv") or str(ROOT / ".uv/bin/uv")
        self._run(
            [uv, "build", "--all-packages", "--wheel", "--quiet", "--out-dir", str(self._work / "dist")], cwd=ROOT
        )
        return ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in self._wheels("*"))

    def install_simulator(self) -> str:
        """Install the simulator alone in a bare environment."""
        self._environment("simulator")
        return self._install("simulator", self._wheels("headless_simulator"))

    def tick_a_world(self) -> str:
        """Start the wheel's command, and tick a world with CARLA's client."""
        self._install("simulator", [CARLA])
        with self._server() as port:
            printed = self._run([self._bin("simulator", "python"), "-c", CLIENT, str(port)])
        town, ticks = printed.split()[-2:]
        if ticks != "1":
            raise StepError(f"{ticks} frames passed in one tick")
        return town

    def install_both(self) -> str:
        """Install both wheels with one command in a bare environment."""
        self._environment("pipeline")
        return self._install("pipeline", self._wheels("*"))

    def generate(self) -> str:
        """Make two samples of one scene."""
        return self._run([*self._smoke, "--out", "out"]).splitlines()[-1]

    def validate(self) -> str:
        """Validate the dataset with all pixels."""
        return self._run([self._bin("pipeline", "uavsim"), "validate", "out"]).splitlines()[-1]

    def refuse_bridge(self) -> str:
        """Request a topology with a missing client: one line, exit code 2, nothing written."""
        command = [*self._smoke, "--topology", "bridge", "--out", "bridge"]
        done = subprocess.run(command, cwd=self._empty, env=self._env, capture_output=True, text=True, check=False)
        lines = done.stderr.strip().splitlines()
        if (
            done.returncode != 2
            or len(lines) != 1
            or AIRSIM.install not in lines[0]
            or (self._empty / "bridge").exists()
        ):
            raise StepError(f"exit {done.returncode}: {done.stderr.strip()[-300:]}")
        return lines[0]

    def install_airsim(self) -> str:
        """Run the install command of the error message."""
        for command in AIRSIM.install.split(" && "):
            self._run([self._bin("pipeline", "python"), "-m", *command.split()])
        return AIRSIM.install

    def generate_bridge(self) -> str:
        """Fly the refused topology."""
        command = [*self._smoke, "--topology", "bridge", "--out", "bridge"]
        return self._run(command).splitlines()[-1]

    def _bin(self, environment: str, program: str) -> str:
        return str(self._work / environment / "bin" / program)

    def _wheels(self, name: str) -> list[Path]:
        return sorted((self._work / "dist").glob(f"{name}-*.whl"))

    def _environment(self, name: str) -> None:
        self._run([self._python, "-m", "venv", "--clear", str(self._work / name)])

    def _install(self, environment: str, what: Sequence[str | Path]) -> str:
        """Install packages, and check the dependencies with pip."""
        pip = [self._bin(environment, "python"), "-m", "pip"]
        self._run([*pip, "install", "--quiet", *map(str, what)])
        return self._run([*pip, "check"]).splitlines()[-1]

    @contextlib.contextmanager
    def _server(self) -> Iterator[int]:
        command = ["env", "-u", "PYTHONPATH", "-u", "VIRTUAL_ENV", self._bin("simulator", "headless-simulator")]
        with (
            (self._work / "server.log").open("w") as log,
            running_simulator(command=command, env=self._env, cwd=self._empty, stderr=log) as server,
        ):
            yield server.carla_port

    def _run(self, command: Sequence[str], *, cwd: Path | None = None) -> str:
        done = subprocess.run(
            command, cwd=cwd or self._empty, env=self._env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
            raise StepError(f"{Path(command[0]).name} ended with {done.returncode}: {words[-1]}")
        return done.stdout.strip() or "done"
