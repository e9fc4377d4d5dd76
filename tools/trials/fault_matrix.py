"""Inject every fault of the headless simulator at every phase of a run, and check the outcome.

    scripts/trial fault-matrix [--only PATTERN] [--jobs 2] [--work FOLDER]

Each row is a run of two scenes whose simulator fails once (or always), with its exit code, its scenes, whether the dataset is
valid and equal to an undisturbed one, and whether processes remain. An undisturbed run first measures the ticks of the start,
middle and commit of a scene (while the next one flies). Ends with code 0 only if every row is as expected: the fault
fired; all scenes are committed, or the others are named; committed scenes are valid and, unless spawns were refused,
equal to the undisturbed ones; no process remains.
"""

import argparse
import fnmatch
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import psutil
import yaml

from tools.common import command_runs
from tools.common.leftovers import contents, events, surviving
from tools.common.small_dataset import write_plans
from uavsim.flows.server import prefect_server
from uavsim.run.finish import validate
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput

Fault = dict[str, object]

AT_CALLS: dict[str, Fault] = {  # faults of the server, also during setup and teardown
    "hang": {"fault": "stall", "seconds": 600, "call": "tick_cue"},
    "death": {"fault": "die"},
    "exit": {"fault": "die", "exit_code": 1},
    "lost connection": {"fault": "cut_rpc", "call": "tick_cue"},
}
AT_CAPTURES: dict[str, Fault] = {  # faults that only a captured tick notices
    "lost stream": {"fault": "cut_stream", "sensor": "world"},
    "lost image stream": {"fault": "cut_stream"},
    "dropped frame": {"fault": "drop_frame"},
    "late frame": {"fault": "delay_frame", "ticks": 2},
    "frame of another tick": {"fault": "wrong_frame_number", "offset": 1},
    "stale pose": {"fault": "stale_pose"},  # the first image has no earlier pose
    "vehicle's pose of nan": {"fault": "nan_pose", "blueprint": "vehicle.*"},
    "camera's pose of nan": {"fault": "nan_pose", "blueprint": "sensor.camera.*"},
}
WRONG: dict[str, Fault] = {
    "wrong version": {"fault": "wrong_version", "version": "0.9.14"},
    "wrong map": {"fault": "wrong_map", "name": "Town99"},
}
RUN: dict[str, object] = {
    "retry_delay_s": 0.2,
    "deadlines": {"call_s": 10, "load_s": 50, "spawn_s": 10, "images_s": 5, "airsim_s": 10},
}
ROW_S = 400.0
MOST_TICKS = 200


@dataclass(frozen=True)
class Moments:
    """Ticks of an undisturbed run: spawning, each capture, the last one."""

    spawn: int
    captures: list[int]
    last: int


@dataclass
class Row:
    """One run.

    Attributes:
        faults: faults of the first server; ``happened.txt`` marks the first that fires.
        later: of servers started after the fault; the same when empty.
        other_traffic: the dataset may differ from the undisturbed one.
        hopeless: not every scene can be completed.
    """

    name: str
    faults: list[Fault] = field(default_factory=list)
    later: list[Fault] = field(default_factory=list)
    other_traffic: bool = False
    hopeless: bool = False
    folder: Path = Path()
    began: float = 0.0
    run: ForkServerProcess | None = None
    family: set[int] = field(default_factory=set)

    @property
    def flown(self) -> ForkServerProcess:
        """The started run of the row."""
        assert self.run is not None
        return self.run


def table(at: Moments) -> Iterator[Row]:
    """Yield the rows of the matrix."""
    once: Fault = {"once_file": "happened.txt"}
    start, middle, commit = at.captures[0], at.captures[1], at.captures[len(at.captures) // 2]
    for name, fault in AT_CALLS.items():
        for moment, tick in (("start", at.spawn), ("middle", middle), ("commit", commit), ("end", at.last)):
            yield Row(f"{name}, {moment}", [{**fault, **once, ("nth" if "call" in fault else "tick"): tick}])
    for name, fault in AT_CAPTURES.items():
        for moment, tick in (("start", start), ("middle", middle), ("commit", commit)):
            yield Row(f"{name}, {moment}", [{**fault, **once, "tick": tick}])
    for name, fault in WRONG.items():
        # a server of another version is refused before anything is written; a map is loaded
        yield Row(f"{name}, start", [{**fault, **once}], hopeless=name == "wrong version")
        for moment, tick in (("middle", middle), ("commit", commit)):
            death = {"fault": "die", "tick": tick, **once}
            yield Row(f"{name}, {moment}", [death], later=[{**fault, "once_file": "again.txt"}])
        yield Row(f"{name}, always", [fault], hopeless=True)
    refused = {"fault": "refuse_spawn", "blueprint": "vehicle.*", "probability": 0.3}
    yield Row("refused vehicles, start", [{**refused, "tick": f"0-{start}"}], other_traffic=True)
    yield Row("refused vehicles, commit", [{**refused, "tick": f"{start + 1}-{commit}"}], other_traffic=True)
    yield Row("refused vehicles, always", [{**refused, "probability": 1.0}], hopeless=True)
    yield Row("refused camera, start", [{"fault": "refuse_spawn", "blueprint": "sensor.camera.*", "nth": 3, **once}])
    yield Row("death, always", [{"fault": "die", "tick": middle}], hopeless=True)


class Runs:
    """Starts and monitors the runs of rows."""

    def __init__(self, work: Path, env: dict[str, str]) -> None:
        self._work, self._env = work, env

    def start(self, row: Row) -> None:
        """Start one row's run."""
        row.folder = self._work / row.name.replace(" ", "-").replace(",", "")
        row.folder.mkdir(parents=True)
        self._write(row.folder, row.faults)
        simulator = {"kind": "mock", "arguments": ["--faults", str(row.folder / "faults.yaml")]}
        (row.folder / "run.yaml").write_text(yaml.safe_dump(RUN | {"simulators": [simulator]}))
        row.began = time.monotonic()
        arguments = ["generate", "--dataset", "kill", "--scenes", "0-1", "--no-check", "--out", str(row.folder / "out")]
        words = [*arguments, "--run", str(row.folder / "run.yaml")]
        row.run = command_runs.start(words, env=self._env, folder=self._work, out=row.folder / "run.log")

    def ended(self, row: Row) -> bool:
        """Return whether a row's run ended; records its processes, and writes the faults of later servers."""
        if row.flown.exitcode is not None:
            return True
        try:
            row.family |= {p.pid for p in psutil.Process(row.flown.pid).children(recursive=True)}
        except psutil.NoSuchProcess:
            return False
        if row.later and (row.folder / "happened.txt").exists():
            self._write(row.folder, row.later)
            row.later = []
        if time.monotonic() - row.began > ROW_S:
            row.flown.kill()
        return False

    @staticmethod
    def _write(folder: Path, faults: list[Fault]) -> None:
        temp = folder / "faults.new"
        temp.write_text(yaml.safe_dump({"seed": 1, "faults": faults}))
        temp.rename(folder / "faults.yaml")


def measure(runs: Runs) -> Moments:
    """Measure the ticks of an undisturbed run, in which each tick and each captured tick leaves a file."""
    ticks = {"fault": "stall", "seconds": 1e-9, "call": "tick_cue"}
    images = {"fault": "duplicate_frame", "camera": 0}
    spawns = {"fault": "stall", "seconds": 1e-9, "call": "apply_batch"}
    faults = [
        {**fault, "tick": t, "once_file": f"{name}-{t}"}
        for t in range(MOST_TICKS)
        for name, fault in (("tick", ticks), ("image", images), ("batch", spawns))
    ]
    calm = Row("calm", faults)
    runs.start(calm)
    while not runs.ended(calm):
        time.sleep(0.05)

    def ticks_of(name: str) -> list[int]:
        return sorted(int(p.name.rpartition("-")[2]) for p in calm.folder.glob(f"{name}-*"))

    # a call sees the preceding ticks: a call after t ticks requests tick t + 1
    return Moments(spawn=ticks_of("batch")[0] + 1, captures=ticks_of("image"), last=ticks_of("tick")[-1] + 1)


def struck_while_committing(row: Row) -> bool:
    """Return whether the fault fired between the end of a flight and its scene's commit."""
    moment = (row.folder / "happened.txt").stat().st_mtime
    for reported in events(row.folder / "out").values():
        times = {str(e["event"]): float(str(e["time"])) for e in reported}
        if times.get("done", moment) < moment < times.get("committed", 0.0):
            return True
    return False


def outcome(row: Row, expected: dict[str, str]) -> tuple[str, bool]:
    """Describe the outcome of a row in one line, and return whether it is as expected."""
    left = surviving(row.family, timeout_s=5.0)
    code, out = row.flown.exitcode, row.folder / "out"
    ledger = read_ledger(LocalOutput(out)) if out.is_dir() else {}
    printed = (row.folder / "run.log").read_text()
    states = [
        f"{e.scene[-1]} {e.state}{f' after {e.attempts} failures' if e.attempts else ''}" for e in ledger.values()
    ]
    complete = len(ledger) == 2 and all(e.state == "committed" for e in ledger.values())
    valid = not any(e.state == "committed" for e in ledger.values()) or validate(out, pixels=True).ok
    equal = contents(out) == expected
    fired = "once_file" not in row.faults[0] or (row.folder / "happened.txt").exists()
    culprits = [e.scene for e in ledger.values() if e.state != "committed"] or ["error: the server at 127.0.0.1"]
    named = complete or all(culprit in printed for culprit in culprits)
    good = valid and fired and named and not left and code == (0 if complete else 3) and complete != row.hopeless
    good = good and (equal == complete or row.other_traffic)
    words = f"exit {code}; {', '.join(states) or 'nothing'}; {'valid' if valid else 'NOT VALID'}; "
    words += "equal" if equal else "complete, other traffic" if complete else "incomplete and named" if named else "?"
    words += "" if fired else "; THE FAULT NEVER FIRED"
    return words + (f"; LEFT {left}" if left else ""), good


def main() -> int:
    """Run the matrix."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="*")
    parser.add_argument("--jobs", type=int, default=2, help="rows in parallel; many wait for deadlines")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-faults-"))
    work.mkdir(parents=True, exist_ok=True)
    write_plans(work)
    with tempfile.TemporaryDirectory() as home, prefect_server(Path(home)) as server:
        env = os.environ | {"PREFECT_API_URL": server.api, "PREFECT_API_AUTH_STRING": server.key}
        env["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "CRITICAL"
        return run_matrix(Runs(work, env), work, only=options.only, jobs=options.jobs)


def run_matrix(runs: Runs, work: Path, *, only: str, jobs: int) -> int:
    """Fly an undisturbed run and a measured one, then every matching row; returns the exit code."""
    began = time.monotonic()
    reference = Row("undisturbed")
    runs.start(reference)
    while not runs.ended(reference):
        time.sleep(0.05)
    expected, at = contents(reference.folder / "out"), measure(runs)
    same = contents(work / "calm/out") == expected
    code = reference.flown.exitcode
    print(f"undisturbed: exit {code}, {len(expected)} files; calm run equal: {same}; {at}")
    waiting = [row for row in table(at) if fnmatch.fnmatch(row.name, only)]
    flying: list[Row] = []
    bad: list[str] = []
    committing: list[bool] = []
    rows = 0
    while waiting or flying:
        while waiting and len(flying) < jobs:
            flying.append(waiting.pop(0))
            runs.start(flying[-1])
        time.sleep(0.1)
        for row in [row for row in flying if runs.ended(row)]:
            flying.remove(row)
            rows += 1
            seconds = time.monotonic() - row.began
            words, good = outcome(row, expected)
            if row.name.endswith("commit") and (row.folder / "happened.txt").exists():
                committing.append(struck_while_committing(row))
            print(f"{row.name:32s} {seconds:4.0f} s  {words}{'' if good else '   <-- UNEXPECTED'}", flush=True)
            bad += [] if good else [row.name]
    print(f"{sum(committing)} of {len(committing)} faults at commit fired while a scene was labelled or committed")
    minutes = (time.monotonic() - began) / 60
    print(f"{rows} rows in {minutes:.0f} min, " + (f"unexpected: {', '.join(bad)}" if bad else "all as expected"))
    return 1 if bad or not same else 0
