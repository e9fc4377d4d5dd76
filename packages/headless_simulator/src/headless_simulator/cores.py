"""The cores that threads of this process run on."""

import contextlib
import os
import threading
from typing import Final

_NICER: Final = 4
_CORES: Final = getattr(os, "sched_getaffinity", lambda _: set[int]())(0)  # when the process began


def leave_tick_core() -> None:
    """Let this thread run on every core that the process had when it began.

    Who started the simulator may keep the threads that compute ticks on one core, beside the client that waits for them. For
    threads whose work a tick does not wait for.
    """
    if _CORES:
        with contextlib.suppress(OSError):  # cores were taken from the process meanwhile
            os.sched_setaffinity(0, _CORES)


def yield_to_ticks() -> None:
    """Lower this thread's priority, a thread's own on Linux: a client that waits for a tick waits for all that follows it."""
    with contextlib.suppress(OSError):  # a limit of the system's
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _NICER)
    leave_tick_core()
