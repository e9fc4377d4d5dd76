"""The job of a SLURM array, with stand-ins for uavsim and scontrol: nothing is queued again before a run has ended."""

import os
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
UAVSIM = """#!/bin/bash
trap 'sleep 0.6; echo ended >> "$LOG"; exit 130' TERM
echo "$TMPDIR" > "$LOG.scratch"
while :; do sleep 0.05; done
"""


def test_a_job_that_gets_two_signals_is_queued_again_when_its_run_has_ended(tmp_path: Path) -> None:
    log, scratch = tmp_path / "log", tmp_path / "log.scratch"
    for name, text in {"uavsim": UAVSIM, "scontrol": '#!/bin/bash\necho "$@" >> "$LOG"\n'}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    own = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log), "SLURM_JOB_ID": "7", "TMPDIR": str(tmp_path)}
    job = subprocess.Popen(["bash", ROOT / "scripts/slurm", "--dataset", "mine"], env={**os.environ, **own})
    deadline = time.monotonic() + 30
    while not (scratch.exists() and scratch.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    folder = Path(scratch.read_text().strip())
    assert folder.is_dir()

    job.send_signal(signal.SIGTERM)
    time.sleep(0.2)  # the second one comes while the run still ends
    job.send_signal(signal.SIGTERM)

    assert job.wait(30) in {130, 143}
    assert log.read_text().split("\n") == ["ended", "requeue 7", ""]
    assert not folder.exists()
