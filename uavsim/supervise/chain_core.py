"""One core for the threads of a simulator and of its client that wait for each other.

A tick is a chain: client, libcarla's Traffic Manager, simulator, client. One of them works at a time, on what the one before
wrote. Where Linux moves each to whichever core is idle, all of it goes from cache to cache, and what draws and encodes beside
it is moved about, too. Kept on one core the chain takes 0.85 of the time; what has lowered its own priority goes where it
likes, also there. This process, which labels the last scene meanwhile, leaves that core alone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

_NAME: Final = "uavsim-chain-core"
_CPUS: Final = Path("/sys/devices/system/cpu")
_ours: Final[set[int]] = set()  # cores that chains of this process have
_ours_change: Final = threading.Lock()


class ChainCore:
    """A core of this machine that no other chain of ours has; claimed when it is first asked for."""

    def __init__(self) -> None:
        self._claim: socket.socket | None = None
        self._number: int | None = None

    def keep(self, processes: Iterable[int | None]) -> None:
        """Move the threads of these processes there that have their process's own priority; threads they start follow.

        Where there is one core only, where others of ours have all of them, or where the system keeps no thread on a core,
        nothing is moved.

        Args:
            processes: their ids; None for one that is gone.
        """
        if self._claim is None:
            self._number = self._claimed()
        if self._number is None:
            return
        for process in filter(None, processes):
            for thread in _of_full_priority(process):
                with contextlib.suppress(OSError):  # it has ended
                    os.sched_setaffinity(thread, {self._number})

    def release(self) -> None:
        """Let another chain have the core."""
        if self._claim is not None and self._number is not None:
            self._claim.close()
            with _ours_change:
                _ours.discard(self._number)
                _leave_chains_alone()
        self._claim = self._number = None

    def _claimed(self) -> int | None:
        cores = _every_core()
        for core in sorted(cores, key=_place) if len(cores) > 1 else ():
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                claim.bind(f"\0{_NAME}-{core}")  # in no folder: it is free again when this process ends
            except OSError:
                claim.close()
                continue
            self._claim = claim
            with _ours_change:
                _ours.add(core)
                _leave_chains_alone()
            return core
        return None


def _place(core: int) -> tuple[int, bool, int]:
    """Return what cores are sorted by: the fast ones first where there are two kinds, and last the one that serves devices."""
    try:
        most_khz = int((_CPUS / f"cpu{core}/cpufreq/cpuinfo_max_freq").read_text())
    except (OSError, ValueError):  # a virtual machine's are alike
        most_khz = 0
    return -most_khz, core == 0, core


@cache
def _every_core() -> frozenset[int]:
    """Return the cores that this process had before it left any alone; none where a system keeps no thread on one."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else frozenset()


def _leave_chains_alone() -> None:
    """Move this process's threads off the cores of its chains, while there are others."""
    for thread in _of_full_priority(os.getpid()):
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setaffinity(thread, (_every_core() - _ours) or _every_core())


def _of_full_priority(process: int) -> list[int]:
    """Return the threads of a process whose niceness is that of its first one."""
    niceness: dict[int, str] = {}
    for path in Path(f"/proc/{process}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            niceness[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()[16]
    return [thread for thread, nice in niceness.items() if nice == niceness.get(process)]
