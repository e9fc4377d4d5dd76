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
import struct
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Final

from tests.hostile.fuzz_targets import targets
from tests.hostile.fuzzing import Target
from uavsim.errors import UavsimError

SLOW_S: Final = 20.0
"""Of processor time: a busy machine is no finding."""
WAITS_S: Final = 180.0
"""Of any time for one input: who waits takes no processor. What has to run before it takes as long as the machine needs."""
MEMORY_BYTES: Final = 6 << 30
"""Of addresses, which threads and compiled code take by the gigabyte; a bomb hits it at once."""
LARGE_BYTES: Final = 1 << 30
"""The stated bound: what a reader may hold of small files at most."""

_HEAD: Final = struct.Struct("<QQ")  # inputs tried, bytes of the one that is read now
_MOST_INPUT: Final = 64 << 20
_BEGINS: Final = 2**64 - 1  # in place of the bytes: nothing is read, what an input needs is being started


@dataclass
class Fed:
    """What came of one target.

    Attributes:
        tried: inputs.
        seconds: that were spent on them.
        processor_s: of these, what a busy machine gave the processes that came to their end.
        peak_bytes: of memory.
        findings: each kind once, with what was said.
        inputs: that led to them.
    """

    tried: int = 0
    seconds: float = 0.0
    processor_s: float = 0.0
    peak_bytes: int = 0
    findings: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, bytes] = field(default_factory=dict)

    def add(self, kind: str, said: str, data: bytes) -> None:
        """Keep the first finding of each kind."""
        if kind not in self.findings:
            self.findings[kind], self.inputs[kind] = said, data


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


def _feed(name: str, *, seed: str, seconds: float, memory: str, said: Connection) -> None:
    """Read inputs in a process that may be killed: the input is in shared memory before it is read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    rng, tried = random.Random(seed), 0
    shared = SharedMemory(memory)
    assert shared.buf is not None
    with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-", ignore_cleanup_errors=True) as work:
        target = targets(Path(work))[name]
        target.begin()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            _HEAD.pack_into(shared.buf, 0, tried, _BEGINS)
            target.begin()
            data = target.change(rng.choice(target.good), rng)[:_MOST_INPUT]
            tried += 1
            shared.buf[_HEAD.size : _HEAD.size + len(data)] = data
            _HEAD.pack_into(shared.buf, 0, tried, len(data))
            before, found = _peak_bytes(), _read_one(target, data)
            if found is None and _peak_bytes() > LARGE_BYTES > before:
                found = "large", f"grown from {before >> 20} to {_peak_bytes() >> 20} MiB"
            if found is not None:
                said.send((*found, data))
        target.end()
    shared.close()
    said.send((tried, _peak_bytes(), time.process_time()))


def fuzz(name: str, *, seconds: float, seed: int) -> Fed:
    """Feed one target for a while; a process that hangs or dies is replaced by another."""
    fed, spawn = Fed(), multiprocessing.get_context("spawn")
    while seconds - fed.seconds > 1.0:
        shared = SharedMemory(create=True, size=_HEAD.size + _MOST_INPUT)
        said, saying = spawn.Pipe(duplex=False)
        choices = {"seed": f"{name} {seed} {fed.tried}", "seconds": seconds - fed.seconds}
        process = spawn.Process(target=_feed, args=(name,), kwargs={**choices, "memory": shared.name, "said": saying})
        process.start()
        saying.close()
        try:
            _watch(process.sentinel, said, shared, fed)
        finally:
            process.kill()
            process.join()
            shared.close()
            shared.unlink()
    return fed


def _watch(sentinel: int, said: Connection, shared: SharedMemory, fed: Fed) -> None:
    """Collect what one process finds until it ends, or takes too long for one input."""
    from multiprocessing.connection import wait

    assert shared.buf is not None
    reading, since, began = 0, time.monotonic(), 0.0
    while True:
        ready = wait([said, sentinel], timeout=1.0)
        now = time.monotonic()
        tried, size = _HEAD.unpack_from(shared.buf, 0)
        if tried and not began:
            began = now  # what comes before makes the good inputs
        begins = not tried or size == _BEGINS
        data = b"" if begins else bytes(shared.buf[_HEAD.size : _HEAD.size + size])
        if said in ready:
            try:
                news = said.recv()
            except EOFError:
                fed.add("died", "the process that read this ended", data)
                break
            if isinstance(news[0], int):
                tried, peak, processor_s = news
                fed.processor_s += processor_s
                fed.peak_bytes = max(fed.peak_bytes, peak)
                break
            fed.add(*news)
        elif begins or tried != reading:
            reading, since = tried, now
        elif now - since > WAITS_S:
            fed.add("waits", f"{now - since:.0f} s", data)
            break
    fed.tried += tried
    fed.seconds += now - (began or since)


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
        print(
            f"{name}: {fed.tried} inputs in {fed.seconds:.0f} s ({fed.processor_s:.0f} of processor), "
            f"{fed.peak_bytes >> 20} MiB, {len(fed.findings)} findings",
            flush=True,
        )
        for number, (kind, said) in enumerate(fed.findings.items()):
            print(f"  {name}: {kind}: {said}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{name}-{number}").write_bytes(fed.inputs[kind])
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
