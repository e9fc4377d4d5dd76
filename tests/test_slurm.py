"""The job of a SLURM array, with stubs of uavsim and scontrol: no job is requeued before its run has ended."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
UAVSIM = """#!/bin/bash
trap 'touch "$LOG.ending"; until [ -e "$LOG.end" ]; do sleep 0.05; done; echo ended >> "$LOG"; exit 130' TERM
echo "$TMPDIR" > "$LOG.scratch"
while :; do sleep 0.05; done
"""


def test_a_job_that_gets_two_signals_is_queued_again_when_its_run_has_ended(tmp_path: Path) -> None:
    log, scratch = tmp_path / "log", tmp_path / "log.scratch"
    for name, text in {"uavsim": UAVSIM, "scontrol": '#!/bin/bash\necho "$@" >> "$LOG"\n'}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log), "SLURM_JOB_ID": "7", "TMPDIR": str(tmp_path)}
    job = subprocess.Popen(["bash", ROOT / "scripts/slurm", "--dataset", "mine"], env={**os.environ, **env})
    wait_for(lambda: scratch.exists() and scratch.read_text() != "")
    folder = Path(scratch.read_text().strip())
    assert folder.is_dir()

    job.send_signal(signal.SIGTERM)
    wait_for((tmp_path / "log.ending").exists)
    job.send_signal(signal.SIGTERM)  # while the run still ends
    time.sleep(0.3)  # nothing is to happen
    assert not log.exists()
    assert folder.is_dir()
    (tmp_path / "log.end").touch()

    assert job.wait(30) in {130, 143}
    assert log.read_text().split("\n") == ["ended", "requeue 7", ""]
    assert not folder.exists()


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)
