import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from uavsim.pool import started


def own_pid(_: int) -> int:
    return os.getpid()


def test_one_worker_works_here_and_lazily() -> None:
    taken: list[int] = []

    def double(number: int) -> int:
        taken.append(number)
        return 2 * number

    with started(1) as run:
        found = run(double, iter(range(5)))
        assert (next(found), taken) == (0, [0])
        assert list(found) == [2, 4, 6, 8]


def test_several_processes_answer_in_order() -> None:
    with started(2) as run:
        assert list(run(abs, range(-9, 0))) == list(range(9, 0, -1))


def test_processes_start_before_there_is_a_task() -> None:
    """They are ready after a caller has read tables for seconds."""
    before = {child.pid for child in psutil.Process().children()}
    with started(2) as run:
        ready = {child.pid for child in psutil.Process().children()} - before
        assert set(run(own_pid, range(2))) <= ready


KILLED = """
import os, time
from uavsim.pool import started

if __name__ == "__main__":
    with started(2) as run:
        for _ in run(time.sleep, [0.0, 600.0, 600.0, 600.0, 600.0]):
            print("works", flush=True)
"""


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(KILLED)
    with subprocess.Popen([sys.executable, tmp_path / "killed.py"], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"works\n"
        workers = psutil.Process(parent.pid).children(recursive=True)
        os.kill(parent.pid, signal.SIGKILL)
    assert len(workers) >= 2
    _, alive = psutil.wait_procs(workers, timeout=30)
    for worker in alive:
        worker.kill()
    assert not alive
