# ruff: noqa: T201 - printing is its job
"""Feed everything that reads with what nobody would write: any exception that is not ours is a finding.

    python -m tests.hostile.fuzz [--minutes 10] [--only NAME,NAME] [--seed 0] [--keep FOLDER]

Each target takes a good input, changed at random: bits turned, pieces cut, doubled and exchanged, numbers and texts of its
structure replaced by others that were a trouble before. A process of its own reads them, and is watched: its processor time
and its memory, the time that passes while it waits, and its end are findings, too. ``--keep`` leaves the inputs.
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
"""Of processor time: a busy machine is no finding."""
WAITS_S: Final = 180.0
"""Of any time for one input, what it needs included: who waits takes no processor."""
MEMORY_BYTES: Final = 6 << 30
"""Of addresses, which threads and compiled code take by the gigabyte; a bomb hits it at once."""
LARGE_BYTES: Final = 1 << 30
"""The stated bound: what a reader may hold of small files at most."""


@dataclass
class Fed:
    """What came of one target: inputs tried, most memory, and of each kind of finding what was said and its input."""

    tried: int = 0
    peak_bytes: int = 0
    findings: dict[str, tuple[str, bytes]] = field(default_factory=dict)


def _read_one(target: Target, data: bytes) -> tuple[str, str] | None:
    """Return what kind of finding an input is, and what was said; None for none."""
    began = time.process_time()
    try:
        target.read(data)
    except UavsimError as error:
        if "\n" in str(error):
            return f"two lines: {type(error).__name__}", str(error)[:200]
        if str(error).rstrip().endswith(":"):
            return f"no reason: {type(error).__name__}", str(error)[:200]
        if error.exit_code == 1:
            return f"exit code 1: {type(error).__name__}", str(error)[:200]
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        last = traceback.extract_tb(error.__traceback__)
        ours = next((f for f in reversed(last) if "/uavsim/" in f.filename), last[-1])
        return f"{type(error).__name__} at {Path(ours.filename).name}:{ours.lineno}", str(error)[:150]
    took = time.process_time() - began
    return ("slow", f"{took:.0f} s of processor") if took > SLOW_S else None


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _feed(name: str, seed: str, seconds: float, work: Path, said: Connection) -> None:
    """Read inputs in a process that may be killed: each is written down before it is read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    rng, target = random.Random(seed), targets(work / "made")[name]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        target.begin()
        data = target.change(rng.choice(target.good), rng)
        (work / "input").write_bytes(data)
        said.send(None)
        before, found = _peak_bytes(), _read_one(target, data)
        if found is None and _peak_bytes() > LARGE_BYTES > before:
            found = "large", f"grown from {before >> 20} to {_peak_bytes() >> 20} MiB"
        if found is not None:
            said.send((*found, data))
    target.end()
    said.send(_peak_bytes())


def fuzz(name: str, *, seconds: float, seed: int) -> Fed:
    """Feed one target for a while; a process that hangs or dies is replaced by another."""
    fed, spawn, end = Fed(), multiprocessing.get_context("spawn"), time.monotonic() + seconds
    while (left_s := end - time.monotonic()) > 1.0:
        with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-", ignore_cleanup_errors=True) as work:
            said, saying = spawn.Pipe(duplex=False)
            process = spawn.Process(target=_feed, args=(name, f"{name} {seed} {fed.tried}", left_s, Path(work), saying))
            process.start()
            saying.close()
            try:
                _watch(said, Path(work, "input"), fed)
            finally:
                process.kill()
                process.join()
    return fed


def _watch(said: Connection, read: Path, fed: Fed) -> None:
    """Collect what one process finds until it ends, or takes too long for one input."""
    while said.poll(WAITS_S):
        try:
            news = said.recv()
        except EOFError:
            fed.findings.setdefault("died", ("the process that read this ended", read.read_bytes()))
            return
        if isinstance(news, int):
            fed.peak_bytes = max(fed.peak_bytes, news)
            return
        if news is None:
            fed.tried += 1
        else:
            fed.findings.setdefault(news[0], news[1:])
    fed.findings.setdefault("waits", (f"{WAITS_S:g} s", read.read_bytes()))


def main() -> int:
    """Run the targets; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="of each target")
    parser.add_argument("--only", default="", help="the targets of these names, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder that gets the inputs of findings")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-") as work:
        names = list(targets(Path(work)))
    chosen = options.only.split(",") if options.only else names
    if unknown := set(chosen) - set(names):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    findings = 0
    for name in chosen:
        fed = fuzz(name, seconds=60 * options.minutes, seed=options.seed)
        findings += len(fed.findings)
        print(f"{name}: {fed.tried} inputs, {fed.peak_bytes >> 20} MiB, {len(fed.findings)} findings", flush=True)
        for number, (kind, (said, data)) in enumerate(fed.findings.items()):
            print(f"  {name}: {kind}: {said}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{name}-{number}").write_bytes(data)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
