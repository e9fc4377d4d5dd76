# ruff: noqa: T201 - printing is its job
"""Fuzz every reader of files and ports: an exception that is no ``UavsimError`` is a finding.

    python -m tests.hostile.fuzz [--minutes 10] [--only NAME,NAME] [--seed 0] [--keep FOLDER]

Each target reads good inputs that are changed at random, in bytes and in structure, in a separate process. Processor time,
memory, waiting and the end of that process are findings, too. ``--keep`` saves the inputs of findings.
"""

import argparse
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from tests.hostile.fuzz_targets import targets
from tests.hostile.fuzzing import Target
from uavsim.errors import UavsimError

SLOW_S: Final = 20.0
"""Most processor time of one input."""
WAITS_S: Final = 180.0
"""Most wall-clock time of one input, with the start of what it needs."""
MEMORY_BYTES: Final = 6 << 30
"""Most address space: threads and compiled code reserve gigabytes of it."""
LARGE_BYTES: Final = 1 << 30
"""Most memory of a reader of small files, as the documentation states."""


@dataclass
class Outcome:
    """Outcome of one target: number of inputs, peak memory, and the message and input of each kind of finding."""

    tried: int = 0
    peak_bytes: int = 0
    findings: dict[str, tuple[str, bytes]] = field(default_factory=dict)


def _read_one(target: Target, data: bytes) -> tuple[str, str] | None:
    """Return the kind and the message of an input's finding, or None."""
    began = time.process_time()
    try:
        target.read(data)
    except UavsimError as error:
        faults = {
            "two lines": "\n" in str(error),
            "no reason": str(error).rstrip().endswith(":"),
            "exit code 1": error.exit_code == 1,
        }
        if fault := next((name for name, found in faults.items() if found), None):
            return f"{fault}: {type(error).__name__}", str(error)[:200]
    except Exception as error:  # noqa: BLE001 - the finding
        frames = traceback.extract_tb(error.__traceback__)
        frame = next((f for f in reversed(frames) if "/uavsim/" in f.filename), frames[-1])
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}", str(error)[:150]
    took = time.process_time() - began
    return ("slow", f"{took:.0f} s of processor") if took > SLOW_S else None


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _feed(name: str, seed: str, seconds: float, work: Path, news: Connection) -> None:
    """Read inputs in a process that may be killed; write each to a file before it is read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    rng, target = random.Random(seed), targets(work / "made")[name]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = target.change(rng.choice(target.good), rng)
        (work / "input").write_bytes(data)
        news.send(None)
        before, found = _peak_bytes(), _read_one(target, data)
        if found is None and _peak_bytes() > LARGE_BYTES > before:
            found = "large", f"grown from {before >> 20} to {_peak_bytes() >> 20} MiB"
        if found is not None:
            news.send((*found, data))
    target.end()
    news.send(_peak_bytes())


def fuzz(name: str, *, seconds: float, seed: int) -> Outcome:
    """Feed one target for a while; replace a process that hangs or dies."""
    outcome, spawn, end = Outcome(), multiprocessing.get_context("spawn"), time.monotonic() + seconds
    while (left_s := end - time.monotonic()) > 1.0:
        with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-", ignore_cleanup_errors=True) as work:
            news, sender = spawn.Pipe(duplex=False)
            process = spawn.Process(
                target=_feed, args=(name, f"{name} {seed} {outcome.tried}", left_s, Path(work), sender)
            )
            process.start()
            sender.close()
            try:
                _watch(news, Path(work, "input"), outcome)
            finally:
                process.kill()
                process.join()
    return outcome


def _watch(news: Connection, file: Path, outcome: Outcome) -> None:
    """Collect findings of one process until it ends, or takes too long for one input."""
    while news.poll(WAITS_S):
        try:
            message = news.recv()
        except EOFError:
            outcome.findings.setdefault("died", ("the process that read this ended", file.read_bytes()))
            return
        if isinstance(message, int):
            outcome.peak_bytes = max(outcome.peak_bytes, message)
            return
        if message is None:
            outcome.tried += 1
        else:
            outcome.findings.setdefault(message[0], message[1:])
    outcome.findings.setdefault("waits", (f"{WAITS_S:g} s", file.read_bytes()))


def main() -> int:
    """Run the targets; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="time for each target")
    parser.add_argument("--only", default="", help="names of targets, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the inputs of findings")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-") as work:
        names = list(targets(Path(work)))
    chosen = options.only.split(",") if options.only else names
    if unknown := set(chosen) - set(names):
        parser.error(f"no target {', '.join(sorted(unknown))}; choose from {', '.join(names)}")
    findings = 0
    for name in chosen:
        outcome = fuzz(name, seconds=60 * options.minutes, seed=options.seed)
        findings += len(outcome.findings)
        print(
            f"{name}: {outcome.tried} inputs, {outcome.peak_bytes >> 20} MiB, {len(outcome.findings)} findings",
            flush=True,
        )
        for number, (kind, (message, data)) in enumerate(outcome.findings.items()):
            print(f"  {name}: {kind}: {message}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{name}-{number}").write_bytes(data)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
