"""Make a dataset by a SLURM array with a requeue, a SIGTERM and a time limit, and compare with one machine.

    scripts/trial slurm [--scenes 30] [--port 22100] [--work FOLDER]

Starts munge, slurmctld and two nodes on this machine (Debian: apt-get install slurm-wlm munge), as root, submits
``scripts/slurm`` as an array of two jobs for each row, and compares every file of the dataset with that of one ``uavsim
generate``. Stops the daemons at the end. Exit code 1 where a job fails, a file differs, a scene is not committed, no scene was
in flight at the signal of a row, or the other job is also restarted.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from tools.common import ROOT
from tools.common.leftovers import dataset_files, differing, events, orphans
from tools.common.small_dataset import write_plans

NEEDED: Final = ("munged", "mungekey", "slurmctld", "slurmd", "sbatch", "scontrol", "scancel")
SAMPLES: Final = 20  # keeps a scene in flight for seconds
WAIT_S: Final = 1200.0
CONFIGURATION: Final = """ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge.socket
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/node-%n
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd-%n.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
OverTimeLimit=0
KillWait=30
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={node1} CPUs=1 RealMemory=4000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={node2} CPUs=1 RealMemory=4000
PartitionName=p Nodes=n1,n2 Default=YES State=UP MaxTime=60
"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster on this machine."""

    work: Path
    env: dict[str, str]

    def call(self, *words: str) -> str:
        """Run a SLURM command and return its output."""
        done = subprocess.run(words, env=self.env, cwd=self.work, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def submit(self, dataset: str, out: Path, *options: str) -> str:
        """Submit an array of two jobs that make a dataset; returns its id."""
        script = ("--dataset", dataset, "--out", str(out), "--samples", str(SAMPLES))
        log = f"--output={self.work}/{out.name}-%a.log"
        return self.call("sbatch", "--parsable", "--array=0-1", log, *options, str(ROOT / "scripts/slurm"), *script)

    def states(self, job: str) -> list[dict[str, str]]:
        """Return the fields of the array's jobs from ``scontrol``, with ended jobs."""
        listing = self.call("scontrol", "show", "job", "--oneliner", job).splitlines()
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in listing]


def commands_missing() -> list[str]:
    """Name the programs that are not installed."""
    return [name for name in NEEDED if shutil.which(name) is None]


@contextlib.contextmanager
def cluster(work: Path, port: int) -> Iterator[Cluster]:
    """Run munge, the controller and two nodes."""
    host = socket.gethostname().partition(".")[0]
    work.mkdir(parents=True)
    text = CONFIGURATION.format(host=host, work=work, port=port, node1=port + 1, node2=port + 2)
    (work / "slurm.conf").write_text(text)
    (work / "state").mkdir()
    subprocess.run(["mungekey", "--create", f"--keyfile={work}/munge.key"], check=True)
    env = {**os.environ, "SLURM_CONF": str(work / "slurm.conf"), "UAVSIM": str(ROOT / ".venv/bin/uavsim")}
    files = {name: work / f"munge.{name}" for name in ("socket", "pid", "log", "seed")}
    munge = ["munged", "--foreground", "--force", f"--key-file={work}/munge.key", f"--socket={files['socket']}"]
    munge += [f"--{name}-file={files[name]}" for name in ("pid", "log", "seed")]
    daemons = [munge, ["slurmctld", "-D"], ["slurmd", "-D", "-N", "n1"], ["slurmd", "-D", "-N", "n2"]]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for words in daemons:
            with (work / "daemons.log").open("ab") as log:
                started.append(subprocess.Popen(words, env=env, cwd=work, stdout=log, stderr=log))
            if words is munge:
                wait_for(files["socket"].exists, started[-1])
        running = Cluster(work, env)
        wait_for(lambda: nodes_idle(running) == 2, started[1])
        yield running
    finally:
        subprocess.run(["scancel", "--user=root"], env=env, check=False)
        queue = ["squeue", "--noheader"]
        while subprocess.run(queue, env=env, check=False, capture_output=True, text=True).stdout:
            time.sleep(0.2)  # SLURM kills jobs after KillWait
        for process in reversed(started):
            process.terminate()
            process.wait(60)


def nodes_idle(slurm: Cluster) -> int:
    """Count the nodes that take jobs; 0 while the controller does not answer."""
    with contextlib.suppress(subprocess.CalledProcessError):
        return slurm.call("sinfo", "--noheader", "--Node", "--states=idle").count("idle")
    return 0


def wait_for(done: Callable[[], object], process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until a condition holds.

    Raises:
        RuntimeError: the time limit passed, or the process ended.
    """
    end = time.monotonic() + WAIT_S
    while not done():
        if time.monotonic() > end or (process is not None and process.poll() is not None):
            raise RuntimeError("a daemon did not start or a job did not end in time: see the logs")
        time.sleep(0.1)


def in_flight(out: Path) -> bool:
    """Return whether two scenes are in flight and one is committed."""
    last = [reported[-1]["event"] for reported in events(out).values() if reported]
    return sum(event in {"flying", "sample"} for event in last) >= 2 and "committed" in last


def ended(slurm: Cluster, array: str) -> bool:
    """Return whether all jobs of an array have ended; requeued jobs skip SLURM's wait of two minutes.

    A node refuses a job that begins in the same second as the kill of the preceding job.
    """
    states = slurm.states(array)
    for state in states:
        if state["JobState"] == "PENDING" and int(state["Restarts"]) > 0:
            begins = state["StartTime"]  # unknown at first
            if begins[:1].isdigit() and datetime.fromisoformat(begins) - datetime.now() > timedelta(seconds=30):
                sooner = ["scontrol", "update", f"JobId={array}_{state['ArrayTaskId']}", "StartTime=now+5"]
                subprocess.run(
                    sooner, env=slurm.env, check=False, capture_output=True
                )  # refused while its processes still end
    return all(state["JobState"] in {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"} for state in states)


def disturb(slurm: Cluster, array: str, out: Path, how: str) -> None:
    """Apply the disturbance of a row while scenes fly."""
    if how in {"undisturbed", "time limit"}:
        return
    wait_for(lambda: in_flight(out))
    if how == "requeue":
        slurm.call("scontrol", "requeue", f"{array}_1")
    if how == "SIGTERM":
        slurm.call("scancel", "--batch", "--signal=TERM", f"{array}_1")
    if how == "node lost":
        slurm.call("scancel", "--full", "--signal=KILL", f"{array}_1")
        slurm.call("scontrol", "requeue", f"{array}_1")


def row(slurm: Cluster, dataset: str, how: str, *, expected: dict[str, str], scenes: int) -> bool:
    """Make the dataset under one disturbance, and print and return whether the outcome is right."""
    out = slurm.work / how.replace(" ", "-")
    limit = ("--time=2", "--signal=B:TERM@60") if how == "time limit" else ("--time=30",)
    begun = time.monotonic()
    array = slurm.submit(dataset, out, *limit)
    disturb(slurm, array, out, how)
    wait_for(lambda: ended(slurm, array))
    seconds = time.monotonic() - begun
    states = slurm.states(array)
    differ = differing(expected, dataset_files(out))
    stray = orphans(out, scenes)
    again = sum(int(s.get("Restarts", "0")) for s in states)
    print(
        f"{how:12s} 2 jobs, {' '.join(s['JobState'] for s in states)}, begun again {again} times, {seconds:4.0f} s; "
        f"{len(expected)} files, {len(differ)} differ; leftovers: {stray or 'none'}",
        flush=True,
    )
    good = not differ and not stray and all(s["JobState"] == "COMPLETED" for s in states)
    good = good and (again > 0 if how == "time limit" else again == (how != "undisturbed"))  # the other job continues
    for log in () if good else sorted(slurm.work.glob(f"{out.name}-*.log")):
        print(log.name, *log.read_text(errors="replace").splitlines()[-12:], sep="\n  ")
    return good


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=30)  # longer than the time limit for two jobs
    parser.add_argument("--port", type=int, default=22100)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    if missing := commands_missing():
        sys.exit(f"not installed: {', '.join(missing)}; apt-get install slurm-wlm munge")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        work = Path(folder)
        work.chmod(0o755)
        plans = write_plans(work / "cluster-plans", scenes=options.scenes)
        single = work / "single"
        words = ("generate", "--dataset", str(plans), "--out", str(single), "--samples", str(SAMPLES))
        subprocess.run(
            [ROOT / ".venv/bin/uavsim", *words, "--no-check", "--quiet"], cwd=work / "cluster-plans", check=True
        )
        expected = dataset_files(single)
        with cluster(work / "cluster", options.port) as slurm:
            rows = ("undisturbed", "requeue", "SIGTERM", "node lost", "time limit")
            held = [row(slurm, str(plans), how, expected=expected, scenes=options.scenes) for how in rows]
    return 0 if all(held) else 1
