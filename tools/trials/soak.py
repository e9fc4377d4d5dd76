"""Fly short scenes for a long time, and monitor the resources of all processes.

    scripts/trial soak [--minutes 120] [--scenes 20000] [--every-s 5] [--keep-client] [--work FOLDER]

The trial samples flow, client, headless simulator and Prefect server every few seconds: resident memory, threads, open files,
sockets, and the number of processes. The client process restarts after a number of scenes as in any run, because
CARLA's client keeps some kilobytes of each actor; the growth of a client process within its life is printed. Simulator
and flow do not restart, so that leaks show. At the end the run gets SIGTERM and must leave no process. All samples go
to ``FOLDER/soak.csv``. Ends with code 0 when memory is flat (the mean of the last quarter is at most 1.05 times that of
the second) and the counts at the end equal those of the middle. ``--keep-client`` also disables restarts of the client.
"""

import argparse
import csv
import math
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import yaml

from tools.common.leftovers import surviving
from tools.common.small_dataset import DATASET
from tools.common.small_dataset import write_plans as write_small_plans

ROLES = {"uavsim.capture.client_worker": "client", "headless_simulator": "simulator", "prefect server start": "prefect"}
NEVER = 1_000_000
MOST_GROWTH = 1.05
WATCHED = ("flow", "client", "simulator")  # the Prefect server is reported, not checked
RENEWED = ("client",)
SPREAD = 2  # fluctuation of threads and files between samples


@dataclass(frozen=True)
class Look:
    """A sample of one process."""

    seconds: float
    committed: int
    role: str
    pid: int
    rss_mb: float
    threads: int
    files: int
    sockets: int
    processes: int


def role_of(process: psutil.Process) -> str:
    """Return the role of a process by its command line."""
    words = process.cmdline()
    if any(word.endswith("guard.py") for word in words):
        return "guard"
    return next((role for mark, role in ROLES.items() if mark in words), "other")


def look(run: psutil.Process, *, seconds: float, committed: int) -> list[Look]:
    """Sample every process of the run."""
    family = [run, *run.children(recursive=True)]
    looks = []
    for process in family:
        try:
            role = "flow" if process is run else role_of(process)
            targets = [str(f.readlink()) for f in Path(f"/proc/{process.pid}/fd").iterdir()]
            sockets = sum(target.startswith("socket:") for target in targets)
            memory, threads = process.memory_info().rss / 1e6, process.num_threads()
        except (psutil.NoSuchProcess, FileNotFoundError):
            continue  # it ended meanwhile
        looks.append(
            Look(
                seconds=round(seconds, 1),
                committed=committed,
                role=role,
                pid=process.pid,
                rss_mb=round(memory, 1),
                threads=threads,
                files=len(targets),
                sockets=sockets,
                processes=len(family),
            )
        )
    return looks


def check_growth(looks: list[Look], role: str, *, failures: int) -> tuple[str, bool]:
    """Summarise a role in one line, and return whether its resources are flat.

    A simulator restarts after a failed attempt; then its longest life is checked.
    """
    rows = [one for one in looks if one.role == role]
    pids = len({one.pid for one in rows})
    if pids > 1 and role not in RENEWED:
        longest = statistics.mode(one.pid for one in rows)
        rows = [one for one in rows if one.pid == longest]
    if len(rows) < 8:
        return f"{role:10s} too few looks: {len(rows)}", role not in WATCHED

    def usual(name: str, part: list[Look]) -> float:
        return statistics.fmean(getattr(one, name) for one in part)

    quarter = len(rows) // 4
    first, middle, last = rows[1], rows[len(rows) // 2], rows[-1]
    late, early = usual("rss_mb", rows[-quarter:]), usual("rss_mb", rows[quarter : 2 * quarter])
    growth = late / early

    counts = "".join(
        f", {name} {getattr(first, name)}/{getattr(middle, name)}/{getattr(last, name)}"
        for name in ("threads", "files", "sockets", "processes")
    )
    steady = all(
        usual(name, rows[-quarter:]) - usual(name, rows[quarter : 2 * quarter]) <= SPREAD
        for name in ("threads", "files", "sockets", "processes")
    )
    flat = growth <= MOST_GROWTH and steady and (role in RENEWED or pids <= 1 + failures)
    per_scene = 1e3 * (late - early) / max(last.committed * 0.5, 1)
    words = f"{role:10s} {first.rss_mb:.0f}/{middle.rss_mb:.0f}/{last.rss_mb:.0f} MB, growth {growth:.3f}"
    words += f" ({per_scene:+.1f} kB a scene){counts}"
    if pids > 1:
        words += f", {pids} processes one after another, {growth_in_a_life(rows):+.1f} kB a scene in a life"
        words += "" if role in RENEWED else f"; of the longest, {(last.seconds - first.seconds) / 60:.0f} min"
    return words, flat or role not in WATCHED


def growth_in_a_life(looks: list[Look]) -> float:
    """Return the median growth in kB a scene over the lives of a process, without the first sample of each life."""
    lives: dict[int, list[Look]] = {}
    for one in looks:
        lives.setdefault(one.pid, []).append(one)
    slopes = [
        1e3 * (life[-1].rss_mb - life[1].rss_mb) / (life[-1].committed - life[1].committed)
        for life in lives.values()
        if len(life) > 2 and life[-1].committed > life[1].committed
    ]
    return statistics.median(slopes) if slopes else math.nan


def write_plans(work: Path, *, scenes: int, keep_client: bool) -> None:
    """Write a dataset of many short scenes, and a run that never restarts its simulator."""
    many = DATASET.replace("scenes: 6, most_scenes: 100", f"scenes: {scenes}")
    write_small_plans(work, name="soak", dataset=many)
    simulator = {"kind": "mock", "recycle_scenes": NEVER, "recycle_rss_mb": float(NEVER), "recycle_below_pace": 0.0}
    run = {"simulators": [simulator]} | ({"client_recycle_scenes": NEVER} if keep_client else {})
    (work / "run.yaml").write_text(yaml.safe_dump(run))


def watch(run: subprocess.Popen[bytes], out: Path, *, minutes: float, every_s: float, table: Path) -> list[Look]:
    """Sample a run until it ends or the time is over; the clock starts at the first committed scene."""
    looks: list[Look] = []
    began, next_look, process = 0.0, 0.0, psutil.Process(run.pid)
    with table.open("w", newline="") as file:
        rows = csv.DictWriter(file, fieldnames=list(Look.__dataclass_fields__))
        rows.writeheader()
        while run.poll() is None:
            now = time.monotonic()
            committed = sum(1 for _ in (out / ".uavsim/recordings").glob("scene_*"))
            began = began or (now if committed else 0.0)
            if began and now - began > 60 * minutes:
                break
            if began and now >= next_look:
                next_look = now + every_s
                some = look(process, seconds=now - began, committed=committed)
                looks += some
                rows.writerows(asdict(one) for one in some)
                file.flush()
            time.sleep(min(1.0, every_s))
    return looks


def main() -> int:
    """Run the soak."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--scenes", type=int, default=20_000, help="upper bound of the number of scenes")
    parser.add_argument("--every-s", type=float, default=5.0)
    parser.add_argument("--keep-client", action="store_true")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-soak-"))
    write_plans(work, scenes=options.scenes, keep_client=options.keep_client)
    command = [sys.executable, "-m", "uavsim", "generate", "--dataset", "soak", "--no-check"]
    command += ["--out", str(work / "out"), "--run", str(work / "run.yaml")]
    with (work / "run.log").open("wb") as log:
        run = subprocess.Popen(command, cwd=work, stdout=log, stderr=log)
    looks = watch(run, work / "out", minutes=options.minutes, every_s=options.every_s, table=work / "soak.csv")
    family = {one.pid for one in looks}
    run.send_signal(signal.SIGTERM)
    code = run.wait(120)
    left = surviving(family, timeout_s=10.0)
    if not looks:
        print(f"the run ended with code {code} before its first scene; see {work / 'run.log'}")
        return 1
    minutes, committed = looks[-1].seconds / 60, looks[-1].committed
    failures = sum(p.read_text().count('"event": "failed"') for p in (work / "out/.uavsim/logs").glob("scene_*.jsonl"))
    print(f"{committed} scenes in {minutes:.0f} min, {failures} failed attempts, a look every {options.every_s:g} s")
    outcomes = [check_growth(looks, role, failures=failures) for role in (*WATCHED, "prefect")]
    for words, _ in outcomes:
        print(words)
    flat = all(good for _, good in outcomes)
    print(f"{'flat' if flat else 'NOT FLAT'}; left behind: {left or 'nothing'}; exit code {code}")
    return 0 if flat and not left else 1
