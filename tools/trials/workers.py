"""Let two workers of a process work pool share a town's scenes, kill one of them, and compare with a single process.

    scripts/trial workers [--scenes 16] [--work FOLDER]

Starts a Prefect server, deploys the flows, starts two workers, runs ``generate-town`` once for each with the same output, and
kills -9 one worker with its whole family while it has a scene in flight. The other must finish everything, to the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psutil

from tools.common.leftovers import contents, differing, events, orphans
from tools.common.small_dataset import write_plans
from uavsim.config.library import PLANS
from uavsim.flows.client import use_api
from uavsim.flows.server import OwnServer

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.objects import State

POOL = "uavsim-test"
SAMPLES = 10  # long enough for a flight to be seen


def main() -> int:
    """Run the test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scenes", type=int, default=16)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-workers-"))
    plans = write_plans(work, scenes=options.scenes)
    dataset, scenes = plans.stem, f"0-{options.scenes - 1}"  # a worker takes names only, of its own library
    with OwnServer() as server:
        env = {
            **os.environ,
            "PREFECT_API_URL": server.wait().api,
            "PREFECT_API_AUTH_STRING": server.address.key,
            PLANS: str(work),
        }
        command = [sys.executable, "-m", "uavsim", "generate", "--dataset", dataset, "--scenes", scenes, "--no-check"]
        command += ["--samples", str(SAMPLES)]
        with (work / "single.log").open("wb") as log:
            subprocess.run(
                [*command, "--out", str(work / "single")], env=env, cwd=work, check=True, stdout=log, stderr=log
            )
        subprocess.run([sys.executable, "-m", "uavsim", "deploy", "--pool", POOL], env=env, cwd=work, check=True)
        with use_api(env["PREFECT_API_URL"], key=server.address.key):
            return share(work, dataset=dataset, scenes=scenes, count=options.scenes, env=env)


def share(work: Path, *, dataset: str, scenes: str, count: int, env: dict[str, str]) -> int:
    """Start the workers and their runs, kill one worker, wait for the other."""
    from prefect.client.orchestration import get_client
    from prefect.deployments import run_deployment

    out = work / "shared"
    workers = [start_worker(k, work, env) for k in range(2)]
    try:
        runs: list[UUID] = []
        for _ in workers:
            request = {"dataset": dataset, "towns": ["Town10HD"], "scenes": scenes, "out": str(out), "samples": SAMPLES}
            # the call is typed as if it were awaited
            started: Any = run_deployment("generate-town/uavsim", parameters={"request": request}, timeout=0)
            runs.append(started.id)
        victim, scene = wait_for_two_flights(out, workers)
        before = committed(out)
        for process in [*psutil.Process(victim.pid).children(recursive=True), psutil.Process(victim.pid)]:
            process.send_signal(signal.SIGKILL)
        print(
            f"killed worker {workers.index(victim)} at {scene}, with {len(before)} of {count} scenes committed",
            flush=True,
        )
        began = time.monotonic()
        with get_client(sync_client=True) as client:
            while not any(state.is_completed() for state in states_of(client, runs)):
                if time.monotonic() - began > 900:
                    print("no run ended", states_of(client, runs))
                    return 1
                time.sleep(1)
    finally:
        for worker in workers:
            family = psutil.Process(worker.pid).children(recursive=True) if worker.poll() is None else []
            for process in family:
                process.kill()
            worker.kill()
            worker.wait()
    differ = differing(contents(work / "single"), contents(out))
    slots = {json.loads(p.read_text())["facts"]["slot"] for p in (out / ".uavsim/ledger").glob("*.json")}
    stray = orphans(out, count)
    print(f"scenes by simulator: {len(slots)} simulators; {len(differ)} files differ; orphans: {stray or 'none'}")
    return 1 if differ or stray or len(slots) < 2 else 0


def states_of(client: SyncPrefectClient, runs: list[UUID]) -> list[State]:
    """Return the states of the runs that have one."""
    return [state for run in runs if (state := client.read_flow_run(run).state) is not None]


def start_worker(number: int, work: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start one worker that takes one run at a time."""
    command = [
        sys.executable,
        "-m",
        "prefect",
        "worker",
        "start",
        "--pool",
        POOL,
        "--name",
        f"worker-{number}",
        "--limit",
        "1",
    ]
    with (work / f"worker-{number}.log").open("wb") as log:
        return subprocess.Popen(command, env={**env, "PREFECT_WORKER_QUERY_SECONDS": "1"}, stdout=log, stderr=log)


def committed(out: Path) -> list[str]:
    """Name the committed scenes."""
    return sorted(
        p.stem for p in (out / ".uavsim/ledger").glob("*.json") if json.loads(p.read_text())["state"] == "committed"
    )


def wait_for_two_flights(out: Path, workers: list[subprocess.Popen[bytes]]) -> tuple[subprocess.Popen[bytes], str]:
    """Wait until both workers have committed and one has a scene in flight; returns that worker, and its scene."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        done: set[str] = set()
        flying: dict[int, str] = {}
        for scene, reported in events(out).items():
            flights = [str(e["slot"]) for e in reported if e["event"] == "flying"]
            if flights and reported[-1]["event"] == "committed":
                done.add(flights[-1])
            if flights and reported[-1]["event"] in {"flying", "sample"}:
                flying[int(flights[-1].rpartition("-")[2])] = scene  # the name ends with its process's number
        for worker in reversed(workers) if len(done) == 2 and flying else ():
            family = {p.pid for p in psutil.Process(worker.pid).children(recursive=True)}
            if mine := family & flying.keys():
                return worker, flying[mine.pop()]
        time.sleep(0.02)
    raise TimeoutError("two workers never committed a scene each, or none had one in flight after that")


if __name__ == "__main__":
    sys.exit(main())
