"""Kill -9 commands at seeded random times, rerun each until it completes, and compare with an undisturbed run.

    scripts/trial kill [--kills 100] [--only generate,replay] [--seed 0] [--scenes 6] [--work FOLDER] [--attach]
                       [--during connecting]

Each round kills one command and reruns it until it completes, then compares every byte of its result with the undisturbed one,
and searches orphans: files, staging folders, temporary files and folders, processes. The input must not change, and output in
place must be complete after every kill. Ends with code 0 only if all is equal. ``--only`` names commands
(``tools/common/killed_commands.py``), each of which gets this number of kills; default: generate.

Every run that flies starts its own headless simulator, unless --attach gives all runs one that survives the kills. One
Prefect server serves all runs. A third of the kills happens during the start of a run: anywhere, or while its client connects;
--during puts all kills into one of these phases. At the end the trial prints the phases of the killed runs.
"""

import argparse
import base64
import os
import random
import shutil
import signal
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import ExitStack, suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psutil

from tools.common import command_runs
from tools.common.killed_commands import COMMANDS, KilledCommand
from tools.common.leftovers import contents, differing, events, orphans, state_of, surviving
from tools.common.small_dataset import write_plans
from uavsim.config.backends import backend_of
from uavsim.config.run import SimulatorConfig
from uavsim.flows.server import prefect_server
from uavsim.supervise.simulator import Simulator

START_TIMEOUT_S: Final = 300.0
EARLY_SHARE: Final = 1 / 3  # of the kills, during the start of a run
SOON: Final = 0.3  # of the start's duration, within a phase
PER_ROUND: Final = 4  # kills of a command that starts over after each
EARLY: Final = {  # phase of the start -> a word of a process that runs in it
    "starting": "",
    "connecting": "uavsim.capture.client_worker",
}


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="number of kills of each command")
    parser.add_argument("--only", default="generate", help=f"commands, separated by commas: {', '.join(COMMANDS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=6)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--attach", action="store_true")
    parser.add_argument("--during", choices=EARLY)
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := set(names) - set(COMMANDS):
        parser.error(f"no command {', '.join(sorted(unknown))}; there are {', '.join(COMMANDS)}")
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-kill-"))
    write_plans(work)
    with ExitStack() as stack:
        env, simulator = {**os.environ}, "mock"
        (work / "prefect").mkdir(exist_ok=True)
        server = stack.enter_context(prefect_server(work / "prefect"))
        env |= {"PREFECT_API_URL": server.api, "PREFECT_API_AUTH_STRING": server.key}
        if options.attach:
            one = Simulator(SimulatorConfig(), servers=backend_of("carla").servers, name="survivor", logs=work)
            stack.callback(one.stop)
            simulator = one.ensure()["carla"]
        attached = (env["PREFECT_API_URL"], simulator) if options.attach else None
        env |= {"TMPDIR": str(work / "tmp"), "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"}
        trial = KillTrial(
            work, scenes=options.scenes, simulator=simulator, env=env, attached=attached, during=options.during
        )
        rng = random.Random(options.seed)
        return trial.run([COMMANDS[name] for name in names], kills=options.kills, rng=rng)


class KillTrial:
    """One trial: for each command an undisturbed run, then rounds of kills and reruns.

    Args:
        attached: addresses of Prefect and of the simulator, when one simulator serves all runs.
        during: phase of ``EARLY`` for all kills.
    """

    def __init__(
        self,
        work: Path,
        *,
        scenes: int,
        simulator: str,
        env: dict[str, str],
        attached: tuple[str, str] | None,
        during: str | None,
    ) -> None:
        self._work, self._scenes, self._attached, self._during = work, scenes, attached, during
        self._temp, self._log = work / "tmp", work / "runs.log"
        self._temp.mkdir(exist_ok=True)
        self._env = env
        self._filled = {
            "SET": str(work / "set"),
            "SCENES": ",".join(map(str, range(scenes))),
            "SIMULATOR": simulator,
        }
        self._start_s = self._flight_s = 0.0
        self._kills = 0
        self._failures: list[str] = []
        self._phases: Counter[str] = Counter()

    def run(self, commands: list[KilledCommand], *, kills: int, rng: random.Random) -> int:
        """Kill each command ``kills`` times; returns the exit code."""
        began, total = time.monotonic(), 0
        if not self._dataset():
            return 1
        for command in commands:
            self._kills, self._phases = 0, Counter()
            before, failed = contents(self._work / "set"), len(self._failures)
            rounds = self._rounds(command, kills=kills, rng=rng)
            changed = differing(before, contents(self._work / "set"))
            self._failures += [f"{command.name}: changed what it read: {changed[0]}"] if changed else []
            phases = ", ".join(f"{phase} {count}" for phase, count in self._phases.most_common())
            outcome = self._failures[failed:] or "all equal, no orphans"
            print(
                f"{command.name}: {self._kills} kills in {rounds} rounds: {outcome}; killed while: {phases}", flush=True
            )
            total += self._kills
        minutes = (time.monotonic() - began) / 60
        print(f"{total} kills, {minutes:.0f} min: {self._failures or 'all equal, no orphans'}")
        return 1 if self._failures else 0

    def _dataset(self) -> bool:
        """Fly the input dataset, unless an earlier trial left it."""
        out = self._work / "set"
        return (out / "v1.0-mini/scene.json").exists() or self._completed(self._words(COMMANDS["generate"], out))

    def _completed(self, words: list[str]) -> bool:
        """Run a command without a kill; returns whether it succeeded."""
        process = self._start(words)
        process.join()
        if process.exitcode == 0:
            return True
        self._print_log()
        return False

    def _start(self, words: list[str]) -> ForkServerProcess:
        return command_runs.start(words, env=self._env, folder=self._work, out=self._log)

    def _print_log(self) -> None:
        print(self._log.read_text()[-2000:])

    def _words(self, command: KilledCommand, out: Path) -> list[str]:
        filled = {**self._filled, "OUT": str(out)}
        return [filled.get(word, word) for word in command.words]

    def _rounds(self, command: KilledCommand, *, kills: int, rng: random.Random) -> int:
        """Kill and rerun until enough kills and a complete result; returns the number of results."""
        expected, rounds = self._undisturbed(command), 0
        while expected and self._kills < kills:
            rounds += 1
            out = self._work / f"killed-{command.name}-{rounds}"
            shutil.rmtree(out, ignore_errors=True)
            self._begin(command, out)
            if not self._round(command, out, rng=rng, kills=kills) and contents(out) != expected:
                self._print_log()
                self._failures.append(f"{command.name} did not continue after a kill")
                return rounds
            got = contents(out)
            differ = differing(expected, got)
            self._failures += [f"round {rounds}: {len(differ)} files differ, first {differ[0]}"] if differ else []
            self._failures += [
                f"round {rounds}: orphan {name}" for root in datasets_in(out) for name in orphans(root, self._scenes)
            ]
            left = [*out.rglob("*.uavsim-tmp"), *self._temp.iterdir()]
            self._failures += [f"round {rounds}: left behind {path}" for path in left]
            print(
                f"{command.name}, round {rounds}: {self._kills} kills, {len(got)} files, {len(differ)} differ",
                flush=True,
            )
            if not differ:
                shutil.rmtree(out)
        return rounds

    def _begin(self, command: KilledCommand, out: Path) -> None:
        if command.in_place:
            shutil.copytree(self._work / "set", out, symlinks=True)

    def _undisturbed(self, command: KilledCommand) -> dict[str, str]:
        """Run once without a kill and measure the duration; returns the files' hashes, none after a failure."""
        began, out = time.monotonic(), self._work / f"undisturbed-{command.name}"
        shutil.rmtree(out, ignore_errors=True)
        self._begin(command, out)
        process = self._start(self._words(command, out))
        self._start_s = 0.0
        if command.flies:
            wait_for_takeoff(out, process, timeout_s=START_TIMEOUT_S)
            self._start_s = time.monotonic() - began
        process.join()
        if process.exitcode != 0:
            self._print_log()
            self._failures.append(f"{command.name}: failed with no kill")
            return {}
        self._flight_s = time.monotonic() - began - self._start_s
        expected = contents(out)
        times = f"start {self._start_s:.0f} s, then {self._flight_s:.1f} s"
        print(f"{command.name}, undisturbed: {len(expected)} files, {times}", flush=True)
        shutil.rmtree(out)
        return expected

    def _round(self, command: KilledCommand, out: Path, *, rng: random.Random, kills: int) -> bool:
        """Kill and rerun one command until it completes; false when it fails, as on an existing complete result."""
        most = self._kills + PER_ROUND if command.restarts else kills
        while True:
            process = self._start(self._words(command, out))
            patient = self._kills >= min(kills, most)
            phase = "" if patient else self._moment(command, out, process, rng)
            if process.exitcode is None and not patient:
                self._kill(process, phase, whole_group=rng.random() < 0.5)
                if command.in_place and (broken := broken_in(out)):
                    self._failures.append(f"kill {self._kills} ({phase}): {broken}")
                continue
            process.join()
            return process.exitcode == 0

    def _moment(self, command: KilledCommand, out: Path, process: ForkServerProcess, rng: random.Random) -> str:
        """Wait until a random time; returns the phase of the run."""
        share = rng.random()
        if not command.flies:
            ended_in(process, share * self._flight_s)
            return ("first", "second", "last")[int(3 * share)] + " third"
        if self._during is None and rng.random() >= EARLY_SHARE:
            wait_for_takeoff(out, process, timeout_s=START_TIMEOUT_S)
            ended_in(process, share * 0.6 * self._flight_s)
            return phase_of(out, scenes=self._scenes)
        early = self._during or rng.choice(list(EARLY))
        wait_for_child(process, EARLY[early], timeout_s=START_TIMEOUT_S)
        took_off = wait_for_takeoff(out, process, timeout_s=share * self._start_s * (SOON if self._during else 1))
        return phase_of(out, scenes=self._scenes) if took_off else early

    def _kill(self, process: ForkServerProcess, phase: str, *, whole_group: bool) -> None:
        assert process.pid is not None
        family = {p.pid for p in psutil.Process(process.pid).children(recursive=True)}
        leads = os.getpgid(process.pid) == process.pid  # a run leads its group some milliseconds after its start
        (os.killpg if whole_group and leads else os.kill)(process.pid, signal.SIGKILL)
        process.join()
        self._kills += 1
        self._phases[phase] += 1
        left = surviving(family, timeout_s=5.0)
        for folder in self._temp.iterdir():
            os.utime(folder, (1.0, 1.0))  # the next run must remove them; it leaves young ones, which may be in use
        if self._attached:
            free_slot(*self._attached)
        if left:
            self._failures.append(f"kill {self._kills}: processes outlive it: {left}")


def datasets_in(out: Path) -> list[Path]:
    """Return the datasets of a run: its output folder, or folders in it."""
    return [root for root in (out, *out.glob("*/")) if (root / ".uavsim/ledger").is_dir()]


def broken_in(root: Path) -> str:
    """Describe a file that the tables name and that is missing; empty for none."""
    try:
        state_of(root)
    except (AssertionError, ValueError, KeyError, OSError) as error:
        return str(error)
    return ""


def phase_of(out: Path, *, scenes: int) -> str:
    """Return the phase of a run after takeoff, from its notes."""
    last = [reported[-1]["event"] for root in datasets_in(out) for reported in events(root).values() if reported]
    if last.count("committed") >= scenes and last.count("committed") == len(last):
        return "assembling tables"
    return "labelling or committing" if "done" in last else "capturing" if "sample" in last else "loading or spawning"


def ended_in(process: ForkServerProcess, timeout_s: float) -> bool:
    """Wait for a time; returns whether the run ended before."""
    process.join(timeout_s)
    return process.exitcode is not None


def wait_for_child(process: ForkServerProcess, word: str, *, timeout_s: float) -> None:
    """Wait for a process of the run with a word in its command line, the end of the run, or the timeout."""
    end = time.monotonic() + timeout_s
    while word and process.exitcode is None and time.monotonic() < end:
        with suppress(psutil.Error):
            if any(word in " ".join(child.cmdline()) for child in psutil.Process(process.pid).children(recursive=True)):
                return
        time.sleep(0.02)


def wait_for_takeoff(out: Path, process: ForkServerProcess, *, timeout_s: float) -> bool:
    """Wait until the run starts a scene; false when it ends or at the timeout."""

    def logged() -> int:
        return sum(p.stat().st_size for name in ("", "*/") for p in out.glob(f"{name}.uavsim/logs/scene_*.jsonl"))

    before, end = logged(), time.monotonic() + timeout_s
    while process.exitcode is None and time.monotonic() < end:
        if logged() > before:
            return True
        time.sleep(0.02)
    return False


def free_slot(api: str, simulator: str) -> None:
    """Release a killed run's slot of an attached simulator's concurrency limit; its lease lasts 120 s."""
    address = f"{api}/v2/concurrency_limits/{quote(f'simulator {simulator}')}"
    key = base64.b64encode(os.environ["PREFECT_API_AUTH_STRING"].encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {key}"}
    request = urllib.request.Request(address, data=b'{"active_slots": 0}', headers=headers, method="PATCH")
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(request, timeout=30).close()
        except urllib.error.HTTPError as error:
            if error.code == 503 and time.monotonic() < end:  # its database is busy with another write
                time.sleep(0.2)
                continue
            if error.code != 404:  # no run has created the limit
                raise
        return
