# ruff: noqa: T201 - printing is its job
"""Fuzz every reader of files and ports: an exception that is no ``UavsimError`` is a finding.

    python -m tests.hostile.fuzz [--minutes 10] [--only NAME,NAME] [--seed 0] [--keep FOLDER]

Each target reads good inputs that are changed at random, in bytes and in structure, in a separate process. Processor time,
memory, waiting and the end of that process are findings, too. ``--keep`` saves the inputs of findings.
"""

import argparse
import faulthandler
import multiprocessing
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
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
FOUND, CLEAN = 10, 11
"""Exit codes of a process with and without findings; 0 is a reader's that ends its process."""

MakeTargets = Callable[[Path], dict[str, Target]]


def read_one(target: Target, data: bytes) -> tuple[str, str] | None:
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


def _feed(
    make: MakeTargets, name: str, seed: str, seconds: float, waits_s: float, work: Path, keep: Path, ended: int
) -> None:
    """Read inputs in a process that ends when one takes too long; write each to a file before it is read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    faulthandler.dump_traceback_later(waits_s, exit=True)
    rng, target, kinds, tried = random.Random(seed), make(work / "made")[name], set[str](), 0
    end = time.monotonic() + seconds
    while not tried or time.monotonic() < end:
        data = target.change(rng.choice(target.good), rng)
        (work / "input").write_bytes(data)
        tried += 1
        faulthandler.dump_traceback_later(waits_s, exit=True)
        before, found = _peak_bytes(), read_one(target, data)
        if found is None and _peak_bytes() > LARGE_BYTES > before:
            found = "large", f"grown from {before >> 20} to {_peak_bytes() >> 20} MiB"
        if found and found[0] not in kinds:
            print(f"  {name}: {': '.join(found)}", flush=True)
            (keep / f"{name}-{ended}-{len(kinds)}").write_bytes(data)
            kinds.add(found[0])
    target.end()
    print(f"{name}: {tried} inputs, {_peak_bytes() >> 20} MiB, {len(kinds)} findings", flush=True)
    sys.exit(FOUND if kinds else CLEAN)


def fuzz(
    name: str, *, seconds: float, seed: int, keep: Path, waits_s: float = WAITS_S, make: MakeTargets = targets
) -> bool:
    """Feed one target for a while, and replace a process that hangs or dies; returns whether something was found."""
    spawn, end, ended = multiprocessing.get_context("spawn"), time.monotonic() + seconds, 0
    while True:
        with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-", ignore_cleanup_errors=True) as work:
            words = (make, name, f"{name} {seed} {ended}", end - time.monotonic(), waits_s, Path(work), keep, ended)
            process = spawn.Process(target=_feed, args=words)
            process.start()
            process.join()
            if process.exitcode in {CLEAN, FOUND}:
                return ended > 0 or process.exitcode == FOUND
            print(f"  {name}: the process that read this hung or died: exit code {process.exitcode}", flush=True)
            if Path(work, "input").exists():  # else it ended while the target was made
                shutil.copy(Path(work, "input"), keep / f"{name}-ended-{ended}")
        ended += 1
        if time.monotonic() > end:
            return True


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
        keep = options.keep or Path(work)
        keep.mkdir(parents=True, exist_ok=True)
        found = [fuzz(name, seconds=60 * options.minutes, seed=options.seed, keep=keep) for name in chosen]
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
