"""Threads that no tick waits for leave the core on which those are kept that it does wait for."""

import os
import threading

import pytest
from headless_simulator import cores


@pytest.mark.skipif(
    len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2,
    reason="needs two cores, and a system that keeps threads",
)
@pytest.mark.parametrize(("leave", "nicer"), [(cores.leave_tick_core, 0), (cores.yield_to_ticks, 4)])
def test_a_thread_leaves_the_core_that_its_parent_is_kept_on(
    leave: object, nicer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    every, found = os.sched_getaffinity(0), list[tuple[set[int], int]]()
    monkeypatch.setattr(cores, "_CORES", every)
    niceness = os.getpriority(os.PRIO_PROCESS, 0)

    def kept() -> None:
        os.sched_setaffinity(0, {max(every)})  # of this thread alone
        for begin in (None, leave):
            thread = threading.Thread(target=lambda begin=begin: found.append(_begun(begin)))
            thread.start()
            thread.join()

    parent = threading.Thread(target=kept)
    parent.start()
    parent.join()
    assert found == [({max(every)}, niceness), (every, niceness + nicer)]


def _begun(begin: object) -> tuple[set[int], int]:
    if callable(begin):
        begin()
    return os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
