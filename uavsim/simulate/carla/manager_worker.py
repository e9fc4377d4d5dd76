"""The wait of the worker of this process's Traffic Manager for its next step, as the kernel shows it.

libcarla notifies the worker without the lock under which the worker looks whether there is a step and begins to wait: a notice
that comes in between is lost, and tick and manager wait for each other for ever (CARLA's issue 9172, fixed after 0.9.16). A
thread that the kernel shows in that wait was counted among those to be notified before, so a tick that is asked for then is
never lost. What it looks like: ``futex(2)`` with ``FUTEX_WAIT_BITSET`` and no time-out, which is ``pthread_cond_wait`` of
glibc; libcarla's calls to its server wait with a time-out, and a lock is waited for by another operation. A map that is loaded
has the worker end and another thread take its place, which waits at the same address.

Sources: proc(5), ``/proc/PID/task/TID/syscall``; futex(2); ``TrafficManagerLocal.cpp`` (``Run``, ``SynchronousTick``) of
LibCarla 0.9.16, whose wheels are for x86-64 alone; glibc's ``pthread_cond_t``, whose two futexes share eight bytes.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_TASKS: Final = Path("/proc/self/task")
_FUTEX: Final = b"202"
_WAIT: Final = 9  # FUTEX_WAIT_BITSET
_OPERATION: Final = 0x7F  # above it are flags
_NO_TIMEOUT: Final = b"0x0"
_RUNS: Final = b" 0 0 0 0"  # of a thread that waits for nothing there is no more than a word
_ONE_CONDITION: Final = ~7
_FOUND_WITHIN_S: Final = 2.0
_WAITS_WITHIN_S: Final = (
    1.0  # its server answers a question of it before, but a machine may be busy; then a tick is asked for
)
_LOOK_S: Final = 2e-5
_SETTLED_S: Final = 1e-3


def threads() -> frozenset[int]:
    """Return the threads of this process."""
    return frozenset(int(task.name) for task in _TASKS.iterdir())


class ManagerWorker:
    """The worker's thread.

    Args:
        thread: its number; it waits for its first step.
        condition: where it waits.
    """

    def __init__(self, thread: int, condition: int) -> None:
        self._condition = condition
        self._file = _opened(thread)

    def waits(self) -> bool:
        """Return whether it waits for its next step."""
        return _waits_at(self._file) == self._condition

    def let_wait(self, *, within_s: float = _WAITS_WITHIN_S) -> bool:
        """Return as soon as it waits, with True, or after a time."""
        end = time.monotonic() + within_s
        while not self.waits():
            if time.monotonic() > end:
                return False
            time.sleep(_LOOK_S)
            if _is_gone(self._file):
                self._follow()
        return True

    def close(self) -> None:
        """Look no more."""
        os.close(self._file)

    def _follow(self) -> None:
        """Find the thread that has taken its place, once that waits."""
        for thread, condition in _waiting(threads()):
            if condition == self._condition:
                with contextlib.suppress(FileNotFoundError):  # it ended meanwhile, too
                    file = _opened(thread)
                    os.close(self._file)
                    self._file = file


def worker_among(came: frozenset[int], *, within_s: float = _FOUND_WITHIN_S) -> ManagerWorker | None:
    """Return the worker of a manager that is in synchronous mode; None where it is not known, or this system does not show it.

    Args:
        came: threads that came with the manager: its server's, and the worker.
        within_s: the worker has to wait for its first step.
    """
    end = time.monotonic() + within_s
    last = None
    while time.monotonic() < end:
        waiting = list(_waiting(came))
        if len(waiting) == 1 and waiting == last:
            return ManagerWorker(*waiting[0])
        last = waiting
        time.sleep(_SETTLED_S)
    return None


def _waiting(those: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Give the threads that wait at a condition, and its address."""
    for thread in those:
        try:
            file = _opened(thread)
        except OSError:  # it is gone, or not shown
            continue
        condition = _waits_at(file)
        os.close(file)
        if condition is not None:
            yield thread, condition


def _opened(thread: int) -> int:
    return os.open(_TASKS / str(thread) / "syscall", os.O_RDONLY | os.O_CLOEXEC)


def _waits_at(file: int) -> int | None:
    """Return at which condition a thread waits without end; None while it does something else, or where nobody may know."""
    try:
        number, address, operation, _, timeout, *_rest = (os.pread(file, 256, 0) + _RUNS).split()
    except OSError:  # it is gone, or this system lets nobody read
        return None
    waits = number == _FUTEX and int(operation, 16) & _OPERATION == _WAIT and timeout == _NO_TIMEOUT
    return int(address, 16) & _ONE_CONDITION if waits else None


def _is_gone(file: int) -> bool:
    try:
        return not os.pread(file, 1, 0)
    except ProcessLookupError:
        return True
