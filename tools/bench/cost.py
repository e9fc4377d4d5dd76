"""Cost of a run, process by process, and of its twins: ``scripts/bench --only cost [--scenes N]``, ``--only twins``."""

import contextlib
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import psutil

from tools.bench.rows import Row
from tools.common import ROOT

_EVERY_S: Final = 0.2
_ROLES: Final = {  # word of a command line -> process; what has none of them is the flow's
    "headless_simulator": "simulator",
    "client_worker": "client",
    "prefect server start": "prefect",
    "multiprocessing": "validator",
}


def role_of(command: Sequence[str]) -> str:
    """Return which part of a run a process is, by its command line."""
    words = " ".join(command)
    if "guard.py" in words:
        return "guards"
    return next((role for word, role in _ROLES.items() if word in words), "flow")


class Family:
    """A process and its children, watched until it ends.

    Attributes:
        peak_mb: the most memory that all had together; what they share is counted once (PSS).
    """

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._cpu_s: dict[int, float] = {}
        self._role: dict[int, str] = {}
        self.peak_mb = 0.0

    def watch(self, *, memory_too: bool) -> None:
        """Look at all of them once; at their memory takes 20 ms, in which they wait for their page tables."""
        memory = 0
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in [self._process, *self._process.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                    times = process.cpu_times()
                    self._role.setdefault(process.pid, role_of(process.cmdline()))
                    self._cpu_s[process.pid] = times.user + times.system
                    memory += process.memory_full_info().pss if memory_too else 0
        self.peak_mb = max(self.peak_mb, memory / 2**20)

    def cpu_s(self) -> dict[str, float]:
        """Return the processor seconds of each part of the run."""
        total: dict[str, float] = defaultdict(float)
        for pid, seconds in self._cpu_s.items():
            total[self._role[pid]] += seconds
        return dict(total)


def rows(scenes: int, samples: int) -> Iterator[Row]:
    """Generate scenes of the mini split, validation included.

    Args:
        scenes: how many.
        samples: of each.
    """
    with tempfile.TemporaryDirectory() as folder:
        wall_s, family = _generated(Path(folder), scenes, samples)
    with tempfile.TemporaryDirectory() as folder:
        _, again = _generated(Path(folder), scenes, samples, memory_too=True)
    count = scenes * samples
    how = f"uavsim generate --dataset uav3d-mini, {scenes} scenes of {samples} samples, 25 image pairs each, validated"
    yield Row("run_wall_s_per_sample", wall_s / count, "s", how)
    by_role = family.cpu_s()
    for role, seconds in sorted(by_role.items()):
        yield Row(f"run_cpu_s_per_sample_{role}", seconds / count, "s", f"processor time of the {role}: {how}")
    yield Row("run_cpu_s_per_sample", sum(by_role.values()) / count, "s", f"of all processes: {how}")
    yield Row(
        "run_peak_mb", again.peak_mb, "MB", f"most memory of all processes together (PSS), in a second run: {how}"
    )


def twin_rows(scenes: int, samples: int) -> Iterator[Row]:
    """Generate scenes of the mini split, then a twin in another weather and one without all occluders, each by itself.

    A twin renders the samples of its dataset once, so that all three commands are divided by the same number; each of them
    starts the simulator anew, and ends with validation.

    Args:
        scenes: how many.
        samples: of each.
    """
    count = scenes * samples
    of = f"{scenes} scenes of {samples} samples, 25 image pairs each, start-up and validation included"
    with tempfile.TemporaryDirectory() as folder:
        runs = {"generated": _generated(Path(folder), scenes, samples)}
        for name, words in (("weather", ("--weather", "cloudy_noon")), ("occluders", ("--occluders",))):
            command = ("twins", f"{folder}/mini", "--out", f"{folder}/{name}", *words)
            runs[f"twin_{name}"] = watched(command, Path(folder, "log"))
    for name, (wall_s, family) in runs.items():
        yield Row(f"{name}_wall_s_per_sample", wall_s / count, "s", f"uavsim, {of}")
        yield Row(f"{name}_cpu_s_per_sample", sum(family.cpu_s().values()) / count, "s", f"of all processes: {of}")


def _generated(folder: Path, scenes: int, samples: int, *, memory_too: bool = False) -> tuple[float, Family]:
    words = ("--dataset", "uav3d-mini", "--scenes", f"0-{scenes - 1}", "--samples", str(samples))
    return watched(("generate", *words, "--out", f"{folder}/mini"), folder / "log", memory_too=memory_too)


def watched(words: Sequence[str], log: Path, *, cwd: Path = ROOT, memory_too: bool = False) -> tuple[float, Family]:
    """Run a command of uavsim that must end well: its seconds, and its processes.

    Args:
        words: of the command.
        log: what it says is written there.
        cwd: where it runs; a dataset's YAML is looked for below it.
        memory_too: look at their memory, too, which slows them down.
    """
    began = time.perf_counter()
    command = [sys.executable, "-m", "uavsim", *words]
    with log.open("wb") as out, psutil.Popen(command, cwd=cwd, env=os.environ, stdout=out, stderr=out) as process:
        family = Family(process)
        while process.poll() is None:
            family.watch(memory_too=memory_too)
            time.sleep(_EVERY_S)
    wall_s = time.perf_counter() - began
    if process.returncode != 0:
        raise RuntimeError(f"uavsim {words[0]} ended with code {process.returncode}: {log.read_text()[-300:]}")
    return wall_s, family
