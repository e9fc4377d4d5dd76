"""Freeze a worker, take its locks away, wake it; set clocks minutes apart: no scene is lost or made twice.

    scripts/trial spot [--scenes 8] [--work FOLDER]

Two ``uavsim generate`` share a folder in each row, and every file must equal one machine's. ``frozen``: one is stopped
(SIGSTOP, with its simulator) with a scene in flight, and its locks hold: the other does the rest and waits; then it wakes.
``locks lost``: the locks are gone too, as a file server drops those of a machine that it does not hear: the other flies
everything before the first wakes. ``clocks``: one is killed (kill -9) with a scene in flight, and
all that it left in ``.uavsim`` is 14 minutes in the other's future.
"""

import argparse
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psutil

from tools.common import ROOT
from tools.common.leftovers import contents, differing, events, orphans
from tools.common.small_dataset import write_plans

SAMPLES: Final = 10
WAIT_S: Final = 900.0
APART_S: Final = 840.0


def start(work: Path, plans: Path, out: Path, name: str) -> subprocess.Popen[bytes]:
    """Start one worker."""
    words = [str(ROOT / ".venv/bin/uavsim"), "generate", "--dataset", str(plans), "--out", str(out)]
    words += ["--samples", str(SAMPLES), "--no-check", "--quiet"]
    with (work / f"{out.name}-{name}.log").open("wb") as log:
        return subprocess.Popen(words, cwd=work, stdout=log, stderr=log, start_new_session=True)


def family(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return a worker's processes, the worker first."""
    first = psutil.Process(worker.pid)
    return [first, *first.children(recursive=True)]


def wait_for(done: Callable[[], object]) -> None:
    """Wait until something holds.

    Raises:
        TimeoutError: it never did.
    """
    end = time.monotonic() + WAIT_S
    while not done():
        if time.monotonic() > end:
            raise TimeoutError("a worker does not do what it is waited for: see the logs")
        time.sleep(0.05)


def last_events(out: Path) -> list[object]:
    """Return how each scene's log ends."""
    return [reported[-1]["event"] for reported in events(out).values() if reported]


def in_flight(out: Path) -> bool:
    """Return whether a scene is there and another has images."""
    return {"committed", "sample"} <= set(last_events(out))


def row(work: Path, plans: Path, how: str, *, wanted: dict[str, str], scenes: int) -> bool:
    """Make the dataset by two workers; print a line and return whether it held."""
    out = work / how.replace(" ", "-")
    begun = time.monotonic()
    first = start(work, plans, out, "first")
    wait_for(lambda: in_flight(out))
    if how == "clocks":
        for process in family(first):
            process.kill()
        for path in (out / ".uavsim").rglob("*"):
            os.utime(path, (time.time() + APART_S, time.time() + APART_S))
    else:
        for process in family(first):
            process.suspend()
        if how == "locks lost":
            (out / ".uavsim/locks").unlink()
    second = start(work, plans, out, "second")
    codes: list[int] = []
    if how == "frozen":
        wait_for(lambda: last_events(out).count("committed") == scenes - 1)
    if how != "frozen":
        codes.append(second.wait(WAIT_S))
    if how != "clocks":
        for process in family(first):
            process.resume()
    codes += [first.wait(WAIT_S), second.wait(WAIT_S)]
    flights = sum(event["event"] == "committed" for reported in events(out).values() for event in reported)
    differ, stray = differing(wanted, contents(out)), orphans(out, scenes)
    print(
        f"{how:10s} exit codes {codes[-2]} {codes[-1]}, {time.monotonic() - begun:4.0f} s; "
        f"{flights} commits of {scenes} scenes; {len(wanted)} files, {len(differ)} differ; leftovers: {stray or 'none'}",
        flush=True,
    )
    expected = [-signal.SIGKILL, 0] if how == "clocks" else [0, 0]
    return codes[-2:] == expected and not differ and not stray


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=8)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        work = Path(folder)
        plans = write_plans(work, scenes=given.scenes)
        if start(work, plans, work / "single", "alone").wait(WAIT_S):
            raise RuntimeError("one machine alone fails")
        wanted = contents(work / "single")
        held = [row(work, plans, how, wanted=wanted, scenes=given.scenes) for how in ("frozen", "locks lost", "clocks")]
    return 0 if all(held) else 1
