"""Child processes end in time, and never outlive their parent."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from uavsim.errors import StorageError
from uavsim.supervise.process import GuardedProcess, core_s, exit_text, rss_bytes

STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
BUSY_S = 0.2
BUSY_FIRST = f"import time\nwhile time.process_time() < {BUSY_S}: pass\n"


def wait_until_gone(pid: int, *, timeout_s: float = 10.0) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):  # gone already
        psutil.wait_procs([psutil.Process(pid)], timeout=timeout_s)
    assert not psutil.pid_exists(pid)


def read_line(process: GuardedProcess) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(process.stdout_fd, 1)
    return line


def test_exit_codes_and_signals_pass_through(tmp_path: Path) -> None:
    with GuardedProcess([sys.executable, "-c", "raise SystemExit(3)"], log=tmp_path / "log") as process:
        assert process.wait(10) == 3
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    with GuardedProcess([sys.executable, "-c", crash], log=tmp_path / "log") as process:
        assert process.wait(10) == -signal.SIGSEGV
        assert exit_text(-signal.SIGSEGV) == "killed by SIGSEGV"


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    with GuardedProcess(["/no/such/simulator"], log=tmp_path / "log") as process:
        assert process.wait(10) == 127
        assert "cannot run /no/such/simulator: No such file" in process.log_tail()


def test_a_log_is_never_written_through_a_link(tmp_path: Path) -> None:
    target = tmp_path / "mine.txt"
    target.write_text("of another program")
    (tmp_path / "log").symlink_to(target)
    with pytest.raises(StorageError, match="is a link"):
        GuardedProcess(["true"], log=tmp_path / "log")
    assert target.read_text() == "of another program"


def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    process = GuardedProcess([sys.executable, "-c", BUSY_FIRST + STUBBORN], log=tmp_path / "log", pipes=True)
    assert read_line(process) == b"up\n"
    child = process.child_pid
    assert child is not None
    assert rss_bytes(child) > 1_000_000
    # The system counts in hundredths; a guard that only started Python may have none, with its child's it has as many.
    assert core_s(child) > BUSY_S / 2
    assert core_s(process.pid) > BUSY_S / 2
    assert process.stop(grace_s=0.3) == -signal.SIGKILL
    wait_until_gone(child)
    assert rss_bytes(child) == core_s(child) == core_s(None) == 0


def test_grandchildren_that_left_the_group_die_too(tmp_path: Path) -> None:
    spawner = (
        f"import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], start_new_session=True)\n"
        "print(p.pid, flush=True); time.sleep(600)"
    )
    process = GuardedProcess([sys.executable, "-c", spawner], log=tmp_path / "log", pipes=True)
    grandchild = int(read_line(process).split()[0])
    process.stop(grace_s=1.0)
    wait_until_gone(grandchild)


@pytest.mark.parametrize("victim", ["supervisor", "guard"])
def test_kill_minus_nine_takes_all_along(tmp_path: Path, victim: str) -> None:
    """The child starts from a thread that has ended, because a death signal is bound to the thread."""
    supervisor_code = f"""
import sys, threading, time
from pathlib import Path
from uavsim.errors import StorageError
from uavsim.supervise.process import GuardedProcess
started = []
def start():
    started.append(GuardedProcess([sys.executable, "-c", {STUBBORN!r}], log=Path({str(tmp_path / "log")!r})))
thread = threading.Thread(target=start); thread.start(); thread.join()
time.sleep(0.5)
while started[0].child_pid is None: time.sleep(0.01)
print(started[0].pid, started[0].child_pid, flush=True)
time.sleep(600)
"""
    supervisor = subprocess.Popen([sys.executable, "-c", supervisor_code], stdout=subprocess.PIPE, text=True)
    guard, child = map(int, supervisor.stdout.readline().split())
    assert psutil.pid_exists(child)
    os.kill(supervisor.pid if victim == "supervisor" else guard, signal.SIGKILL)
    wait_until_gone(child)
    if victim == "supervisor":
        wait_until_gone(guard)
    supervisor.kill()
    supervisor.communicate()


def test_the_stop_command_runs_after_the_kill(tmp_path: Path) -> None:
    mark = tmp_path / "removed"
    process = GuardedProcess([sys.executable, "-c", STUBBORN], log=tmp_path / "log", stop_command=["touch", str(mark)])
    deadline = time.monotonic() + 10
    while process.child_pid is None:
        assert time.monotonic() < deadline
    process.kill()
    assert mark.exists()
    process.stop(grace_s=0)
