"""``python guard.py LIFELINE_FD STOP_JSON COMMAND...``: run a command that cannot outlive the process that started it.

Simulators fork helpers, ignore signals and are started from threads, so a death signal alone is not enough. The guard
adopts every descendant of the command (child subreaper) and holds the reading end of a pipe; only the supervisor has the
writing end: when the supervisor dies for any reason, the pipe closes, and the guard kills all descendants and exits.
It uses the standard library only and starts with ``-I -S``, which costs milliseconds and a few megabytes.

It exits with the command's exit code or signal. It forwards SIGTERM and SIGINT to the command's group; SIGUSR1 kills all
descendants at once. STOP_JSON is a command (a JSON list, may be empty) that runs after the kill: ``docker rm -f NAME``.
"""

import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_STOP_COMMAND_S = 30
_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)


def main() -> None:
    """Run the command under guard and exit with its status."""
    lifeline, stop_command, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for number in _SIGNALS:
        signal.signal(number, lambda *_: None)
    child = _start(command, lifeline=lifeline)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)  # only the command may hold its pipes, so that they close when it dies
    os.dup2(null, 1)
    status = _watch(child, lifeline=lifeline, wake_read=wake_read)
    _kill_descendants()
    if stop_command != "[]":
        _stop(stop_command, null)
    _end_like(status)


def _stop(stop_command: str, null: int) -> None:
    import json  # saves two megabytes: most guards need no json while the command runs
    import subprocess

    words = json.loads(stop_command)
    subprocess.run(words, timeout=_STOP_COMMAND_S, check=False, stdin=null, stdout=null, stderr=null)


def _start(command: list[str], *, lifeline: int) -> int:
    child = os.fork()
    if child:
        try:  # noqa: SIM105 (contextlib is a megabyte); both sides set the group, so that the later one finds it set
            os.setpgid(child, child)
        except OSError:
            pass
        return child
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the guard itself may be killed
    signal.set_wakeup_fd(-1)
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    os.close(lifeline)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"guard: cannot run {command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _watch(child: int, *, lifeline: int, wake_read: int) -> int:
    """Wait until the command or the supervisor ends; returns the wait status."""
    ready = select.poll()
    ready.register(lifeline, select.POLLIN)
    ready.register(wake_read, select.POLLIN)
    while True:
        for descriptor, _ in ready.poll():
            if descriptor == lifeline:
                os.killpg(child, signal.SIGKILL)
                return os.waitpid(child, 0)[1]
            for number in os.read(wake_read, 64):
                if number != signal.SIGCHLD:
                    os.killpg(child, signal.SIGKILL if number == signal.SIGUSR1 else number)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status


def _kill_descendants() -> None:
    """Kill the command's remaining descendants; orphans were re-parented to this process."""
    me = os.getpid()
    while True:
        with open(f"/proc/{me}/task/{me}/children") as file:  # noqa: PTH123 (pathlib is a megabyte)
            children = [int(pid) for pid in file.read().split()]
        if not children:
            return
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)


def _end_like(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
