"""Share a town's scenes between workers of a Prefect server with PostgreSQL, and kill a worker, server or database.

    scripts/trial workers [--scenes 16] [--workers 2] [--server PYTHON] [--port 22300] [--work FOLDER]

In each row the workers of a process pool run ``generate-town`` with the same output, and one component fails while
scenes are in
flight: a worker (kill -9, with its children), the server (kill -9) or PostgreSQL; the last two restart after 15 s.
    Every file must equal that of one process without a server. ``--server`` names the Python of another environment,
    whose Prefect runs the server. Needs root and Debian's postgresql.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import psutil

from tools.common.leftovers import contents, differing, events, orphans
from tools.common.postgres import PostgreSQL
from tools.common.small_dataset import write_plans
from uavsim.config.library import PLANS
from uavsim.flows.server import is_healthy, use_api

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.objects import State

POOL: Final = "uavsim-test"
SAMPLES: Final = 10  # keeps a scene in flight long enough
AWAY_S: Final = 15.0
WAIT_S: Final = 900.0


class Server:
    """A Prefect server on PostgreSQL, as docker-compose.yml's."""

    def __init__(self, python: str, *, work: Path, database: str, port: int) -> None:
        self.api = f"http://127.0.0.1:{port}/api"
        self._words = [python, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
        settings = {"PREFECT_HOME": str(work / "prefect"), "PREFECT_API_DATABASE_CONNECTION_URL": database}
        self._env = {**os.environ, **settings, "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
        self._log = work / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it is healthy."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._words, env=self._env, stdout=log, stderr=log)
        begun = time.monotonic()
        while not is_healthy(self.api):
            if self._process.poll() is not None or time.monotonic() - begun > WAIT_S:
                raise RuntimeError("the server does not start: see server.log")
            time.sleep(0.2)

    def kill(self) -> None:
        """Kill the server with its children."""
        if self._process is not None and self._process.poll() is None:
            kill_all(self._process)


def main() -> int:
    """Run the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--server", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--port", type=int, default=22300, help="port of the server; the database uses the next port")
    parser.add_argument("--only", choices=["worker", "server", "database"], help="run only this row")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-workers-"))
    plans = write_plans(work, scenes=options.scenes)
    run = Shared(work, plans.stem, scenes=options.scenes, workers=options.workers)
    command = [sys.executable, "-m", "uavsim", "generate", "--dataset", plans.stem, "--out", str(work / "single")]
    subprocess.run([*command, "--no-check", "--quiet", "--samples", str(SAMPLES)], env=run.env, cwd=work, check=True)
    version = "import prefect; print(prefect.__version__)"
    print("the server is of Prefect", subprocess.check_output([options.server, "-c", version], text=True).strip())
    with PostgreSQL(work, port=options.port + 1) as database:
        server = Server(options.server, work=work, database=database.url, port=options.port)
        server.start()
        try:
            run.env["PREFECT_API_URL"] = server.api
            deploy = [sys.executable, "-m", "uavsim", "deploy", "--pool", POOL]
            subprocess.run(deploy, env=run.env, cwd=work, check=True, stdout=subprocess.DEVNULL)

            def server_away(_: subprocess.Popen[bytes]) -> None:
                server.kill()
                time.sleep(AWAY_S)
                server.start()

            def database_away(_: subprocess.Popen[bytes]) -> None:
                database.stop()
                time.sleep(AWAY_S)
                database.start()

            with use_api(server.api):
                rows = {"worker": kill_all, "server": server_away, "database": database_away}
                good = all([run.row(name, end) for name, end in rows.items() if options.only in (None, name)])
        finally:
            server.kill()
    return 0 if good else 1


@dataclass(frozen=True, slots=True)
class Shared:
    """A dataset that workers make together in each row."""

    work: Path
    dataset: str
    scenes: int
    workers: int
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.env.update(os.environ | {PLANS: str(self.work)})  # workers only accept names of their library

    def row(self, name: str, end: Callable[[subprocess.Popen[bytes]], None]) -> bool:
        """Start the workers and their runs, cause a failure, wait for a completed run, and print a line."""
        from prefect.client.orchestration import get_client
        from prefect.deployments import run_deployment

        out = self.work / name
        request = {"dataset": self.dataset, "towns": ["Town10HD"], "scenes": f"0-{self.scenes - 1}", "samples": SAMPLES}
        workers = [start_worker(f"{name}-{k}", self.work, self.env) for k in range(self.workers)]
        try:
            runs: list[UUID] = []
            for _ in workers:
                # the synchronous call is typed as awaitable
                parameters: Any = {"request": {**request, "out": str(out)}}
                started: Any = run_deployment("generate-town/uavsim", parameters=parameters, timeout=0)
                runs.append(started.id)
            victim, scene = wait_for_two_flights(out, workers)
            before, began = len(committed(out)), time.monotonic()
            end(victim)
            with get_client(sync_client=True) as client:
                while not any(state.is_completed() for state in states_of(client, runs)):
                    states = states_of(client, runs)
                    if all(state.is_final() for state in states) or time.monotonic() - began > WAIT_S:
                        print(f"{name:9s} no run was completed: {[state.name for state in states]}", flush=True)
                        return False
                    time.sleep(1)
                ends, took_s = [state.name for state in states_of(client, runs)], time.monotonic() - began
        finally:
            for worker in workers:
                kill_all(worker)
        differ = differing(contents(self.work / "single"), contents(out))
        slots = {json.loads(p.read_text())["facts"]["slot"] for p in (out / ".uavsim/ledger").glob("*.json")}
        stray = orphans(out, self.scenes)
        print(
            f"{name:9s} ended at {scene} with {before} of {self.scenes} scenes committed, complete after {took_s:.0f} s: ",
            end="",
        )
        print(
            f"runs {ends}, {len(slots)} simulators, {len(differ)} files differ, orphans: {stray or 'none'}", flush=True
        )
        return not differ and not stray and len(slots) > 1


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill -9 a process with its children."""
    family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    for member in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            member.kill()
    process.kill()
    process.wait()


def states_of(client: SyncPrefectClient, runs: list[UUID]) -> list[State]:
    """Return the known states of the runs."""
    return [state for run in runs if (state := client.read_flow_run(run).state) is not None]


def start_worker(name: str, work: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start one worker that takes one run at a time."""
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", POOL, "--name", name, "--limit", "1"]
    with (work / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, env={**env, "PREFECT_WORKER_QUERY_SECONDS": "1"}, stdout=log, stderr=log)


def committed(out: Path) -> list[str]:
    """Name the committed scenes."""
    return sorted(
        p.stem for p in (out / ".uavsim/ledger").glob("*.json") if json.loads(p.read_text())["state"] == "committed"
    )


def wait_for_two_flights(out: Path, workers: list[subprocess.Popen[bytes]]) -> tuple[subprocess.Popen[bytes], str]:
    """Wait until both workers committed a scene and one has a scene in flight; returns that worker and scene."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        done: set[str] = set()
        flying: dict[int, str] = {}
        for scene, reported in events(out).items():
            flights = [str(e["slot"]) for e in reported if e["event"] == "flying"]
            if flights and reported[-1]["event"] == "committed":
                done.add(flights[-1])
            if flights and reported[-1]["event"] in {"flying", "sample"}:
                flying[int(flights[-1].split("-")[-2])] = scene  # kind, process, run
        for worker in reversed(workers) if len(done) > 1 and flying else ():
            family = {p.pid for p in psutil.Process(worker.pid).children(recursive=True)}
            if mine := family & flying.keys():
                return worker, flying[mine.pop()]
        time.sleep(0.02)
    raise TimeoutError("two workers did not commit a scene each with another one in flight")
