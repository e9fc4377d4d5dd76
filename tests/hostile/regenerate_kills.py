# ruff: noqa: T201 - printing is its job
"""Kill -9 ``regenerate`` at random moments: at every kill the dataset is valid, and every scene is old or new, whole.

    scripts/trial regenerate-kills [--kills 100] [--seed 0] [--work FOLDER]

Scenes are drawn by the client process of ``tests/flows``, each flight brighter or darker than the last, through the real
stages, ledger and tables. Files of others lie in and beside the dataset and are compared after every kill.
"""

import argparse
import json
import os
import random
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from tests.hostile import canaries
from tools.common.leftovers import state_of

SCENES = 3
WINDOW_S = 0.25  # in which labelling, commit and tables of a small scene lie


class PaperWorld:
    """Runs of ``regenerate`` in forked processes, with drawn scenes."""

    def __init__(self, work: Path) -> None:
        from tests.run.conftest import FAKE_CLIENT_WORKER, paper_job
        from uavsim.run import context
        from uavsim.supervise.simulator_slot import SimulatorSlot

        self.out, self.faults = work / "out", work / "faults.json"
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
        command = [sys.executable, str(FAKE_CLIENT_WORKER), str(self.faults)]
        patched: Any = context
        patched.resolve = paper_job
        patched.SimulatorSlot = partial(SimulatorSlot, command=lambda **_: command)

    def run(self, *, looks: dict[str, str], force: bool) -> None:
        """Fly every scene with a look of its own and write the tables, in this process."""
        from tests.run.test_stages import run_all
        from uavsim.config.run import RunConfig, SimulatorConfig
        from uavsim.run.request import Request

        self.faults.write_text(json.dumps({scene: [look] for scene, look in looks.items()}))
        simulator = SimulatorConfig(kind="attach", ports={"carla": self._listening.getsockname()[1]})
        request = Request(
            dataset="tiny",
            towns=("Town10HD",),
            out=str(self.out),
            scenes=str(SCENES),
            run=RunConfig(simulators=(simulator,)),
            force=force,
        )
        run_all(request)

    def fork(self, *, looks: dict[str, str]) -> int:
        """Start a run that flies all scenes again; returns its process id."""
        pid = os.fork()
        if pid:
            return pid
        os.setsid()
        code = 1
        try:
            self.run(looks=looks, force=True)
            code = 0
        except BaseException:  # noqa: BLE001 - a child's last words; it ends with code 1
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def problems_of(out: Path) -> list[str]:
    """Return what the validator finds, pixels and all."""
    from uavsim.validate import validate_version

    report = validate_version(out, "v1.0-mini", workers=1)
    return [
        f"{f.code}: {f.message}"
        for f in report.findings
        if f.severity == "error" and not f.code.startswith("visual") and f.code != "files.link"  # a planted one
    ]


def leftovers(out: Path) -> list[str]:
    """Name what a finished run should not have left."""
    from uavsim.store.ledger import read_ledger
    from uavsim.store.local import LocalOutput
    from uavsim.store.manifest import known_generations

    ledger = read_ledger(LocalOutput(out))
    found = [
        f"{g.scene}~{g.number}" for g in known_generations(LocalOutput(out)) if ledger[g.scene].generation != g.number
    ]
    found += [entry.scene for entry in ledger.values() if entry.retired or entry.state != "committed"]
    named = {row["filename"] for row in json.loads((out / "v1.0-mini/sample_data.json").read_text())}
    named |= {row["filename"] for row in json.loads((out / "v1.0-mini/layer.json").read_text())}
    planted = {name.removeprefix(f"{out}/") for name in canaries.fingerprints(out, out.parent / "beside")}
    for root in ("samples", "sweeps", "masks"):
        files = {str(path.relative_to(out)) for path in (out / root).rglob("*") if path.is_file()}
        found += sorted(files - named - planted)
    return found + [str(path) for path in out.rglob("*.uavsim-tmp")]


def main() -> int:
    """Run the trial; 0 when nothing was ever broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work = options.work or Path(tempfile.mkdtemp(prefix="uavsim-regenerate-"))
    return hunt(PaperWorld(work), work, kills=options.kills, rng=random.Random(options.seed))


def hunt(world: PaperWorld, work: Path, *, kills: int, rng: random.Random) -> int:
    """Kill until enough were killed, looking at the dataset after each, then let one run finish."""
    began = time.monotonic()
    names = [f"scene_{k:02d}" for k in range(SCENES)]
    world.run(looks=dict.fromkeys(names, "look:0"), force=False)
    flight_s = time.monotonic() - began
    canaries.plant(world.out, work / "beside")
    planted = canaries.fingerprints(world.out, work / "beside")
    failures, phases, done = [], Counter[str](), 0
    state = state_of(world.out)
    while done < kills and len(failures) < 10:
        pid = world.fork(looks={name: f"look:{rng.randrange(-60, 60)}" for name in names})
        phase = _kill(world.out, pid, rng=rng, flight_s=flight_s)
        done += phase != "finished"
        phases[phase] += 1
        try:
            now = state_of(world.out)
        except (AssertionError, ValueError, KeyError, OSError) as error:
            failures.append(f"kill {done} ({phase}): {error}")
            continue
        phases["scenes that changed"] += sum(now[name] != state[name] for name in names)
        state = now
        failures += [f"kill {done} ({phase}): {problem}" for problem in problems_of(world.out)[:1]]
        failures += [
            f"kill {done}: {n} changed"
            for n in canaries.changed(planted, canaries.fingerprints(world.out, work / "beside"))
        ]
    world.run(looks={}, force=False)
    failures += [f"left behind: {name}" for name in leftovers(world.out)] + problems_of(world.out)
    minutes = (time.monotonic() - began) / 60
    print(f"killed while: {dict(phases)}")
    print(
        f"{done} kills, {minutes:.1f} min: {failures or 'valid at every kill, 0 foreign files changed, nothing left behind'}"
    )
    return 1 if failures else 0


def _kill(out: Path, pid: int, *, rng: random.Random, flight_s: float) -> str:
    """Kill a run at any moment, or, more often, about when a scene is labelled, committed or put into the tables."""
    log = out / f".uavsim/logs/scene_{rng.choice([0, 1, 2, 2, 2]):02d}.jsonl"  # tables follow the last one
    size, phase = log.stat().st_size, "anywhere"
    if rng.random() < 0.75:
        event = rng.choice(["done", "committed"])
        phase = f"after {event}"
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            with log.open("rb") as file:
                file.seek(size)
                if f'"{event}"'.encode() in file.read():
                    break
            time.sleep(0.002)
        else:
            return "finished"
        time.sleep(rng.random() * WINDOW_S)
    else:
        time.sleep(rng.random() * flight_s)
    if os.waitpid(pid, os.WNOHANG) != (0, 0):
        return "finished"
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return phase
