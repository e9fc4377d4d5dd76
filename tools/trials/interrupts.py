"""Interrupt commands at random times by SIGINT and SIGTERM, and check messages and leftovers.

    scripts/trial interrupts [--times 40] [--seed 0] [--only COMMAND]

Each command first runs undisturbed to measure its duration. It is then interrupted at random times, as by a terminal
(SIGINT to the process group) and as by a service manager (SIGTERM to the process). Expected is exit code 130 with one
line, or a normal end; no traceback, process, temporary folder or partial file remains; the input dataset stays valid,
and the output is valid or has no tables.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tools.common.small_dataset import one_scene
from uavsim.validate import validate_version

_GENERATE: Final = ("generate", *one_scene(2), "--out", "OUT")
COMMANDS: Final[dict[str, tuple[str, ...]]] = {  # SET is an existing dataset, OUT a new path
    "generate": _GENERATE,
    "regenerate": ("regenerate", "SET", "--scenes", "0"),
    "export": ("export", "SET", "OUT", "--format", "coco"),
    "convert": ("convert", "SET", "OUT", "--dialect", "uav3d"),
    "publish": ("publish", "SET", "--out", "OUT"),
    "validate": ("validate", "SET", "--workers", "2"),
}
_ENDS_S: Final = 60.0


@dataclass(frozen=True)
class Ended:
    """The end of a command."""

    code: int
    seconds: float
    output: str


class Trial:
    """Runs the commands in a folder with a dataset."""

    def __init__(self, work: Path) -> None:
        self.work, self.good = work, work / "good"
        made = self.run([*_GENERATE[:-1], str(self.good)], temp=work / "first")
        if made.code:
            raise SystemExit(f"cannot make the input dataset: {made.output}")
        self._lasting_s: dict[str, float] = {}

    def run(
        self, arguments: list[str], *, temp: Path, moment_s: float | None = None, number: int = signal.SIGINT
    ) -> Ended:
        """Run a command, and end it at a moment by a signal."""
        temp.mkdir()
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "uavsim", *arguments],
            env={**os.environ, "TMPDIR": str(temp), "UAVSIM_TRIAL": str(temp)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            if moment_s is not None:
                try:
                    process.wait(moment_s)
                except subprocess.TimeoutExpired:
                    _send(process.pid, number)
            output, _ = process.communicate(timeout=_ENDS_S if moment_s is not None else 600)
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0] + b"\nit did not end"
        return Ended(process.returncode, time.monotonic() - began, output.decode(errors="replace"))

    def wrong_with(self, name: str, *, number: int, rng: random.Random) -> list[str]:
        """End one command at one moment; returns the faults and the moment."""
        work = self.work / "row"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        root, out, temp = work / "set", work / "out", work / "tmp"
        if "SET" in COMMANDS[name]:
            shutil.copytree(self.good, root, symlinks=True)
        arguments = [{"SET": str(root), "OUT": str(out)}.get(word, word) for word in COMMANDS[name]]
        if name not in self._lasting_s:
            undisturbed = self.run(arguments, temp=temp)
            if undisturbed.code:
                raise SystemExit(f"{name} does not work undisturbed: {undisturbed.output}")
            self._lasting_s[name] = undisturbed.seconds
            return self.wrong_with(name, number=number, rng=rng)
        moment_s = rng.uniform(0.1, self._lasting_s[name])
        ended = self.run(arguments, temp=temp, moment_s=moment_s, number=number)
        wrong = [*_wrong_end(ended), *_left(temp), *_half_written(work)]
        result = root if root.exists() else out
        if (name in {"generate", "regenerate", "convert"}) and result.exists():
            wrong += _not_valid(result)
        where = f"{name} after {moment_s:.2f} of {self._lasting_s[name]:.1f} s by {signal.Signals(number).name}"
        return [f"{where}: {fault}" for fault in wrong]


def _send(pid: int, number: int) -> None:
    """Send SIGINT to the process group, or another signal to the process."""
    if number == signal.SIGINT:
        os.killpg(pid, number)
    else:
        os.kill(pid, number)


def _wrong_end(ended: Ended) -> Iterator[str]:
    errors = [line for line in ended.output.splitlines() if line.startswith("error:")]
    if ended.code not in {0, 130}:
        yield f"exit code {ended.code}: {ended.output.strip()[-600:]}"
    elif ended.code == 130 and len(errors) != 1:
        yield f"{len(errors)} error lines: {ended.output.strip()[-600:]}"
    if "Traceback" in ended.output or "Exception ignored" in ended.output:
        yield f"a traceback: {ended.output.strip()[-1500:]}"


def _left(temp: Path) -> Iterator[str]:
    end = time.monotonic() + 5.0
    while alive := list(_processes_of(temp)):
        if time.monotonic() > end:
            yield f"processes left: {alive}"
            break
        time.sleep(0.05)
    for path in temp.iterdir():
        yield f"left in the temporary folder: {path.name}"


def _processes_of(temp: Path) -> Iterator[str]:
    for process in psutil.process_iter():
        try:
            if process.environ().get("UAVSIM_TRIAL") == str(temp) and process.status() != psutil.STATUS_ZOMBIE:
                yield f"{process.pid} {' '.join(process.cmdline())[:100]}"
        except psutil.Error:
            continue


def _half_written(work: Path) -> Iterator[str]:
    for path in work.rglob("*.uavsim-tmp"):
        yield f"half-written: {path.relative_to(work)}"
    for path in work.glob("*/.uavsim/staging/*"):
        yield f"staging: {path.relative_to(work)}"


def _not_valid(root: Path) -> Iterator[str]:
    for version in sorted(path.parent.name for path in root.glob("v1.0-*/sample.json")):
        report = validate_version(root, version, workers=1)
        if not report.ok:
            yield f"{root.name}/{version} is not valid: {report.findings[0]}"


def main() -> int:
    """Run the trial; 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=COMMANDS)
    options = parser.parse_args()
    rng, failed, began = random.Random(options.seed), 0, time.monotonic()
    names = [options.only] if options.only else list(COMMANDS)
    with tempfile.TemporaryDirectory(prefix="uavsim-interrupts-") as work:
        trial = Trial(Path(work))
        for time_number in range(options.times):
            number = (signal.SIGINT, signal.SIGTERM)[time_number // len(names) % 2]
            wrong = trial.wrong_with(names[time_number % len(names)], number=number, rng=rng)
            failed += bool(wrong)
            for fault in wrong:
                print(fault, flush=True)
    print(
        f"{options.times} commands ended at random moments, {failed} failed, {(time.monotonic() - began) / 60:.1f} min"
    )
    return 1 if failed else 0
