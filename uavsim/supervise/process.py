"""A child process under ``guard.py``, with a log file and a guaranteed end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from uavsim.files.logs import open_appending, tail_of

_GUARD = Path(__file__).with_name("guard.py")
_GUARD_GRACE_S = 40.0  # the guard may be running a stop command
_lifeline_lock = threading.Lock()
_lifeline: tuple[int, int] | None = None


def own_lifeline_fd() -> int:
    """Return the reading end of this process's lifeline; its writing end closes when this process dies."""
    global _lifeline
    with _lifeline_lock:
        if _lifeline is None:
            _lifeline = os.pipe2(os.O_CLOEXEC)
        return _lifeline[0]


def forget_lifeline() -> None:
    """Give a forked process a lifeline of its own; otherwise it would keep the parent's open."""
    global _lifeline
    if _lifeline is not None:
        for descriptor in _lifeline:
            os.close(descriptor)
    _lifeline = None


os.register_at_fork(after_in_child=forget_lifeline)


class GuardedProcess:
    """A child process that ends with this process, together with all its descendants.

    Args:
        command: the command line.
        log: file that gets the child's stderr (and stdout, unless ``pipes``); appended to.
        env: additions to this process's environment; None removes a variable.
        pipes: stdin and stdout are pipes (``stdin``, ``stdout_fd``); otherwise stdin is empty.
        stop_command: command that the guard runs after killing the child.
        cwd: working folder.

    Raises:
        StorageError: the log cannot be written.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str | None] | None = None,
        pipes: bool = False,
        stop_command: Sequence[str] = (),
        cwd: Path | None = None,
    ) -> None:
        self.command = tuple(command)
        self.log = log
        log_file = open_appending(log)
        self._log_start = os.fstat(log_file.fileno()).st_size
        lifeline = own_lifeline_fd()
        guard = [sys.executable, "-I", "-S", str(_GUARD), str(lifeline), json.dumps(list(stop_command))]
        with log_file:
            self._process = subprocess.Popen(
                [*guard, *command],
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else log_file,
                stderr=log_file,
                pass_fds=[lifeline],
                start_new_session=True,
                env={name: value for name, value in {**os.environ, **(env or {})}.items() if value is not None},
                cwd=cwd,
            )

    def __enter__(self) -> GuardedProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(grace_s=2.0)

    @property
    def pid(self) -> int:
        """Process id of the guard, the parent of the command."""
        return self._process.pid

    @property
    def child_pid(self) -> int | None:
        """Process id of the command itself, or None after its end."""
        with contextlib.suppress(OSError, ValueError):
            children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
            return int(children[0]) if children else None
        return None

    @property
    def stdout_fd(self) -> int:
        """The reading end of the child's standard output."""
        assert self._process.stdout is not None, "started without pipes"
        return self._process.stdout.fileno()

    def send_line(self, line: str) -> None:
        """Write one line to the child's standard input.

        Raises:
            BrokenPipeError: the child has ended.
        """
        assert self._process.stdin is not None, "started without pipes"
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def close_stdin(self) -> None:
        """End the child's standard input."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    def poll(self) -> int | None:
        """Return the exit code (minus the signal's number for a signal), or None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the end and return the exit code; None after ``timeout_s``."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, *, grace_s: float) -> int:
        """End the child and its descendants: SIGTERM, then SIGKILL after ``grace_s``; returns the exit code."""
        if self._process.poll() is None and grace_s > 0:
            self._process.terminate()
            self.wait(grace_s)
        code = self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        return code

    def kill(self) -> int:
        """Kill the child and all its descendants at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)
        code = self.wait(_GUARD_GRACE_S)
        if code is None:
            self._process.kill()  # the guard hangs; its death ends the child
            code = self._process.wait()
        return code

    def log_tail(self, *, lines: int = 12) -> str:
        """Return the last lines of the child's log.

        Raises:
            StorageError: the log cannot be read.
        """
        return tail_of(self.log, lines=lines, start_bytes=self._log_start)


def exit_text(code: int) -> str:
    """Return an exit code in words: ``ended with code 3``, ``killed by SIGSEGV``."""
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def rss_bytes(pid: int | None) -> int:
    """Return the resident memory of a process; 0 after its end."""
    if pid is None:
        return 0
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGESIZE")


def core_s(pid: int | None) -> float:
    """Return the processor seconds of a process and its descendants so far; 0 after its end."""
    ticks = sum(sum(map(int, fields[11:15])) for fields in _stats(pid))
    return ticks / os.sysconf("SC_CLK_TCK")


def is_stopped(pid: int | None) -> bool:
    """Return whether a process or one of its descendants is stopped by a signal (SIGSTOP)."""
    return any(fields[0] in {"T", "t"} for fields in _stats(pid))


def _stats(pid: int | None) -> list[list[str]]:
    """Return ``/proc/PID/stat`` after the name, of a process and its descendants; empty after its end."""
    if pid is None:
        return []
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = [
            int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()
        ]
    except (OSError, ValueError):
        return []
    return [fields, *(stat for child in children for stat in _stats(child))]
