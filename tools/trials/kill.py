"""Kill -9 a headless run at seeded random moments, resume it each time, and compare with an undisturbed run.

    scripts/trial kill [--kills 100] [--seed 0] [--scenes 6] [--work FOLDER] [--attach] [--own-server]

Each round kills and resumes one dataset until it is complete, then compares every byte of tables, images and fragments with
the undisturbed dataset, and looks for orphans: files, staging folders, temp files, processes. Ends with code 0 only if all
is equal. Every run starts its own headless simulator, unless --attach gives all runs one that survives the kills. One
Prefect server serves all runs, unless --own-server gives each its temporary one (slower). A fifth of the kills strikes while
the run starts, the others after its first scene took off, because starting is long and dull. At the end it prints what the
runs were doing when they were killed.
"""

from __future__ import annotations

import argparse
import base64
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from urllib.parse import quote

import psutil

from tools.common.forked_runs import ForkedRun, RunForker
from tools.common.leftovers import contents, differing, events, orphans, surviving
from tools.common.small_dataset import write_plans
from uavsim.config.backends import backend_of
from uavsim.config.run import SimulatorConfig
from uavsim.flows.server import OwnServer
from uavsim.supervise.simulator import Simulator

START_TIMEOUT_S = 300.0
EARLY_SHARE = 0.2  # of the kills strikes while a run starts
PATIENT_S = 1e9  # a run that is not to be killed


def main(world: Callable[[Path], AbstractContextManager[str]] | None = None) -> int:
    """Run the test; ``world`` gives the address of what stands in for simulators."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=6)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--attach", action="store_true")
    parser.add_argument("--own-server", action="store_true")
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-kill-"))
    write_plans(work)
    with ExitStack() as stack:
        env, simulator = {**os.environ}, "mock"
        if not options.own_server:
            server = stack.enter_context(OwnServer())
            env |= {"PREFECT_API_URL": server.wait().api, "PREFECT_API_AUTH_STRING": server.address.key}
        if world is not None:
            simulator = stack.enter_context(world(work))
        if options.attach:
            if options.own_server:
                parser.error("--attach goes with the shared server: its slots must be given back")
            one = Simulator(SimulatorConfig(), servers=backend_of("carla").servers, name="survivor", logs=work)
            stack.callback(one.stop)
            simulator = one.ensure()["carla"]
        attached = (env["PREFECT_API_URL"], simulator) if options.attach else None
        trial = KillTrial(work, scenes=options.scenes, simulator=simulator, env=env, attached=attached)
        return trial.run(kills=options.kills, seed=options.seed)


class KillTrial:
    """One trial: an undisturbed run, then rounds of kills and resumes.

    Args:
        attached: Prefect's address and the simulator's, when one simulator serves all runs.
    """

    def __init__(
        self, work: Path, *, scenes: int, simulator: str, env: dict[str, str], attached: tuple[str, str] | None
    ) -> None:
        self._work, self._scenes, self._attached = work, scenes, attached
        self._forker = RunForker(work, env)
        self._command = ["generate", "--dataset", "kill", "--no-check", "--simulator", simulator]
        self._command += ["--scenes", ",".join(map(str, range(scenes)))]
        self._start_s = self._flight_s = 0.0
        self._kills = 0
        self._failures: list[str] = []
        self._phases: Counter[str] = Counter()

    def run(self, *, kills: int, seed: int) -> int:
        """Kill and resume until enough were killed and the last dataset is complete; returns the exit code."""
        rng, began, rounds = random.Random(seed), time.monotonic(), 0
        wanted = self._undisturbed()
        if wanted is None:
            return 1
        while self._kills < kills:
            rounds += 1
            out = self._work / f"killed-{rounds}"
            if not self._round(out, rng=rng, kills=kills, number=rounds):
                return 1
            got = contents(out)
            differ = differing(wanted, got)
            self._failures += [f"round {rounds}: {len(differ)} files differ, first {differ[0]}"] if differ else []
            self._failures += [f"round {rounds}: orphan {name}" for name in orphans(out, self._scenes)]
            minutes = (time.monotonic() - began) / 60
            so_far = f"{self._kills} kills so far, {len(got)} files, {len(differ)} differ"
            print(f"{minutes:.0f} min, round {rounds}: {so_far}", flush=True)
            if not differ:
                shutil.rmtree(out)
        minutes = (time.monotonic() - began) / 60
        print("killed while: " + ", ".join(f"{phase} {count}" for phase, count in self._phases.most_common()))
        outcome = self._failures or "all equal, no orphans"
        print(f"{self._kills} kills in {rounds} rounds, {minutes:.0f} min: {outcome}")
        return 1 if self._failures else 0

    def _undisturbed(self) -> dict[str, str] | None:
        """Run once without a kill and measure how long that takes; returns the files' hashes."""
        began, out = time.monotonic(), self._work / "undisturbed"
        process = self._forker.start([*self._command, "--out", str(out)])
        wait_for_takeoff(out, process, timeout_s=START_TIMEOUT_S)
        self._start_s = time.monotonic() - began
        if process.wait() != 0:
            print((self._work / "runs.log").read_text()[-2000:])
            return None
        self._flight_s = time.monotonic() - began - self._start_s
        wanted = contents(out)
        times = f"start {self._start_s:.0f} s, flight {self._flight_s:.0f} s"
        print(f"undisturbed: {len(wanted)} files, {times}", flush=True)
        return wanted

    def _round(self, out: Path, *, rng: random.Random, kills: int, number: int) -> bool:
        """Kill and resume one dataset until it is complete; false when a resume failed."""
        while True:
            process, took_off = self._forker.start([*self._command, "--out", str(out)]), False
            early, share = rng.random() < EARLY_SHARE, rng.random()
            if not early:
                wait_for_takeoff(out, process, timeout_s=START_TIMEOUT_S)
                took_off = True
            longest_s = self._start_s if early else 0.6 * self._flight_s
            try:
                code = process.wait(share * longest_s if self._kills < kills else PATIENT_S)
            except subprocess.TimeoutExpired:
                self._kill(process, out, took_off=took_off)
                continue
            if code == 0:
                return True
            print((self._work / "runs.log").read_text()[-2000:])
            print(f"round {number}: a resume ended with code {code}; before: {self._failures or 'all equal'}")
            return False

    def _kill(self, process: ForkedRun, out: Path, *, took_off: bool) -> None:
        family = {p.pid for p in psutil.Process(process.pid).children(recursive=True)}
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._kills += 1
        self._phases[phase_of(out, took_off=took_off, scenes=self._scenes)] += 1
        left = surviving(family, timeout_s=5.0)
        if self._attached:
            free_slot(*self._attached)
        if left:
            self._failures.append(f"kill {self._kills}: processes outlive it: {left}")


def phase_of(out: Path, *, took_off: bool, scenes: int) -> str:
    """Report from the notes that a killed run left what it was doing."""
    last = [reported[-1]["event"] for reported in events(out).values() if reported]
    if last.count("committed") == scenes:
        return "assembling tables" if took_off else "starting, nothing left to fly"
    if not took_off:
        return "starting"
    return "labelling or committing" if "done" in last else "capturing" if "sample" in last else "loading or spawning"


def wait_for_takeoff(out: Path, process: ForkedRun, *, timeout_s: float) -> None:
    """Return when the run has begun a scene, has ended, or takes too long."""
    logs, end = out / ".uavsim/logs", time.monotonic() + timeout_s
    before = sum(p.stat().st_size for p in logs.glob("scene_*.jsonl"))
    while process.poll() is None and time.monotonic() < end:
        if sum(p.stat().st_size for p in logs.glob("scene_*.jsonl")) > before:
            return
        time.sleep(0.02)


def free_slot(api: str, simulator: str) -> None:
    """Give back at once what a killed run held of an attached simulator's concurrency limit; its lease ends in 120 s."""
    address = f"{api}/v2/concurrency_limits/{quote(f'simulator {simulator}')}"
    key = base64.b64encode(os.environ["PREFECT_API_AUTH_STRING"].encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {key}"}
    request = urllib.request.Request(address, data=b'{"active_slots": 0}', headers=headers, method="PATCH")
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(request, timeout=30).close()
        except urllib.error.HTTPError as error:
            if error.code == 503 and time.monotonic() < end:  # its database is busy with another write
                time.sleep(0.2)
                continue
            if error.code != 404:  # no run came so far as to make the limit
                raise
        return


if __name__ == "__main__":
    sys.exit(main())
