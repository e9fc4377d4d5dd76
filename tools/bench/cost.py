"""Cost of a run by process, in seconds and in units of OpenCV's encoder, and its peak memory."""

import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import cv2
import psutil

from tools.bench import Row
from tools.common import ROOT

TURNS: Final = 5
_EVERY_S: Final = 0.2
_ROLES: Final = {  # word of a command line -> role; the default is the flow
    "headless_simulator": "simulator",
    "client_worker": "client",
    "prefect server start": "prefect",
    "multiprocessing": "validator",
}


def role_of(command: Sequence[str]) -> str:
    """Return the role of a process in a run, by its command line."""
    words = " ".join(command)
    if "guard.py" in words:
        return "guards"
    return next((role for word, role in _ROLES.items() if word in words), "flow")


class Family:
    """A monitored process with its children.

    Attributes:
        peak_mb: peak of their total memory (PSS, which counts shared pages once).
    """

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._cpu_s: dict[int, float] = {}
        self._role: dict[int, str] = {}
        self.peak_mb = 0.0

    def watch(self, *, memory_too: bool) -> None:
        """Sample all processes once; a sample of memory takes 20 ms, in which they wait for their page tables."""
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
        """Return the processor seconds by role."""
        total: dict[str, float] = defaultdict(float)
        for pid, seconds in self._cpu_s.items():
            total[self._role[pid]] += seconds
        return dict(total)


def rows(scenes: int, samples: int) -> Iterator[Row]:
    """Generate and validate scenes of the mini split twice: once for the time, once for the memory.

    Args:
        scenes: number of scenes.
        samples: number of samples of each scene.
    """
    words = ("generate", "--dataset", "uav3d-mini", "--scenes", f"0-{scenes - 1}", "--samples", str(samples))
    with tempfile.TemporaryDirectory() as folder:
        wall_s, family = watched((*words, "--out", f"{folder}/mini"), Path(folder, "log"))
        unit_s = encoding_s(Path(folder, "mini"))
        _, again = watched((*words, "--out", f"{folder}/again"), Path(folder, "log"), memory_too=True)
    count, by_role = scenes * samples, family.cpu_s()
    how = f"uavsim generate --dataset uav3d-mini, {scenes} scenes of {samples} samples, 25 image pairs each, validated"
    for role, seconds in sorted(by_role.items()):
        yield Row(f"run_cpu_s_per_sample_{role}", seconds / count, "s", f"processor time of the {role}: {how}")
    for clock, seconds in (("wall", wall_s), ("cpu", sum(by_role.values()))):
        yield Row(f"run_{clock}_s_per_sample", seconds / count, "s", how)
        yield Row(f"run_{clock}_units_per_sample", seconds / count / unit_s, "units", f"of unit_s: {how}")
    yield Row("unit_s", unit_s, "s", f"OpenCV's PNG at level 1 of 25 RGB and 25 masks, one thread, median of {TURNS}")
    yield Row("run_peak_mb", again.peak_mb, "MB", f"most memory of all processes (PSS), in a second run: {how}")


def encoding_s(dataset: Path) -> float:
    """Return the seconds to encode one sample with OpenCV at PNG level 1: 25 images and 25 masks, the unit of cost."""
    cameras = [camera for kind in ("samples", "masks") for camera in sorted((dataset / kind).glob("CAMERA*"))]
    images = [cv2.imread(str(min(camera.iterdir())), cv2.IMREAD_UNCHANGED) for camera in cameras]
    cv2.setNumThreads(1)
    seconds = []
    for _ in range(TURNS):
        began = time.process_time()
        for image in images:
            cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 1])
        seconds.append(time.process_time() - began)
    return statistics.median(seconds)


def watched(words: Sequence[str], log: Path, *, cwd: Path = ROOT, memory_too: bool = False) -> tuple[float, Family]:
    """Run a command of uavsim and monitor its processes; returns seconds and processes.

    Args:
        words: words of the command.
        log: file for its output.
        cwd: working folder, in which YAML files are found.
        memory_too: also sample memory, which slows the processes down.

    Raises:
        RuntimeError: the command fails.
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
