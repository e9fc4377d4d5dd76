import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from uavsim.pool import in_order

MIB = 1 << 20


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def kept_of_freed(mib: int) -> float:
    """Take memory and give it back; return the share that the process still has."""
    before = resident_bytes()
    block = bytearray(mib * MIB)
    block[::4096] = bytes(len(block[::4096]))
    del block
    return (resident_bytes() - before) / (mib * MIB)


def test_one_worker_works_here_and_lazily() -> None:
    taken: list[int] = []

    def double(number: int) -> int:
        taken.append(number)
        return 2 * number

    found = in_order(double, iter(range(5)), workers=1)
    assert (next(found), taken) == (0, [0])
    assert list(found) == [2, 4, 6, 8]


def test_several_processes_answer_in_order() -> None:
    assert list(in_order(abs, range(-9, 0), workers=2)) == list(range(9, 0, -1))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep memory by other rules")
def test_workers_keep_the_memory_of_one_image_for_the_next() -> None:
    assert min(in_order(kept_of_freed, [16, 16], workers=2)) > 0.9


KILLED = """
import os, time
from uavsim.pool import in_order

if __name__ == "__main__":
    for _ in in_order(time.sleep, [0.0, 600.0, 600.0, 600.0, 600.0], workers=2):
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
