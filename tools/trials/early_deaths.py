"""Kill or stop one process of a run while the run starts: it is started again, and every scene is made.

    scripts/trial early-deaths [--only client,guards] [--signals SIGKILL,SIGSTOP] [--work FOLDER]

The victims: the client process, the simulator, and all guards at once; each at the moment at which it is
there, and a moment later. Ends with code 0 only if every run ended with 0, with all of its scenes, and no victim is left.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from tools.common import ROOT
from tools.common.small_dataset import DATASET, write_plans

WORDS: Final = {
    "client": "uavsim.capture.client_worker",
    "simulator": "-m headless_simulator",
    "guards": "guard.py",
}
LATER_S: Final = 1.5
MOST_S: Final = 420.0
CONNECT_S: Final = 20.0  # a stopped client is noticed by its silence


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(WORDS))
    parser.add_argument("--signals", default="SIGKILL,SIGTERM")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work = options.work or Path(tempfile.mkdtemp(prefix="uavsim-early-"))
    write_plans(work, dataset=DATASET.replace("samples: 3", "samples: 1"))
    (work / "run.yaml").write_text(json.dumps({"deadlines": {"connect_s": CONNECT_S}}))
    held = [
        struck(work, victim, signal.Signals[name], after_s=after_s)
        for victim in options.only.split(",")
        for name in options.signals.split(",")
        for after_s in (0.0, LATER_S)
    ]
    print(f"{sum(held)} of {len(held)} runs went on")
    return 0 if all(held) else 1


def struck(work: Path, victim: str, number: signal.Signals, *, after_s: float) -> bool:
    """Run once, strike, print a line; returns whether the run went on to its end."""
    out, scenes = work / "out", "0"
    shutil.rmtree(out, ignore_errors=True)
    words = ["generate", "--dataset", "kill", "--no-check", "--scenes", scenes, "--run", "run.yaml", "--out", str(out)]
    began = time.monotonic()
    with (work / "log").open("w+") as log:
        run = subprocess.Popen([ROOT / ".venv/bin/uavsim", *words], cwd=work, stdout=log, stderr=subprocess.STDOUT)
        while run.poll() is None and not list(victims(run.pid, victim)):
            time.sleep(0.01)
        time.sleep(after_s)
        hit = list(victims(run.pid, victim))
        for process in hit:
            os.kill(process.pid, number)
        try:
            code = run.wait(MOST_S)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)
            code = run.wait()
        log.seek(0)
        said = [line for line in log.read().splitlines() if "again" in line or line.startswith("error:")][:1]
    entries = [json.loads(path.read_text()) for path in (out / ".uavsim/ledger").glob("*.json")]
    made = sum(entry["state"] == "committed" for entry in entries)
    left = [process.pid for process in hit if process.is_running()]
    print(
        f"{victim} {number.name} +{after_s:g} s: {len(hit)} struck, exit code {code}, {made} scenes, left {left}, "
        f"{time.monotonic() - began:.0f} s {said}",
        flush=True,
    )
    return bool(hit) and code == 0 and made == 1 and not left


def victims(pid: int, victim: str) -> Iterator[psutil.Process]:
    """Yield the processes of a run that are struck."""
    try:
        family = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return
    for process in family:
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        guards = any("guard.py" in word for word in words[:6])
        if WORDS[victim] in " ".join(words) and guards == (victim == "guards") and words[:1] != ["nice"]:
            yield process
