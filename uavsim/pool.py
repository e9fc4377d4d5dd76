"""Work on many tasks in processes of their own, in order, with few of them in flight."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Final, TypeVar

from uavsim.errors import SystemFailure
from uavsim.memory import collect_seldom, keep_freed_memory

__all__ = ["in_order"]

T = TypeVar("T")
R = TypeVar("R")
_AHEAD: Final = 8  # tasks in flight for each worker: keeps memory flat on big datasets


def in_order(
    work: Callable[[T], R], tasks: Iterable[T], *, workers: int, begin: Callable[[], None] | None = None
) -> Iterator[R]:
    """Yield what ``work`` returns of each task; with one worker, in this process.

    Args:
        work: on a task.
        tasks: in order.
        workers: processes.
        begin: what a process of ours does first.

    Raises:
        SystemFailure: a process died.
    """
    if workers <= 1:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of whoever calls us
    try:
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(begin,))
        try:
            flying: deque[Future[R]] = deque()
            for task in tasks:
                with _interrupts_later():  # a process begins with the mask of who starts it
                    flying.append(pool.submit(work, task))
                if len(flying) > _AHEAD * workers:
                    yield flying.popleft().result()
            while flying:
                yield flying.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
    except BrokenProcessPool as error:
        hint = "out of memory? a script without `if __name__ == '__main__'`?"
        raise SystemFailure(f"a process that looks at images died ({hint}); try workers=1") from error


@contextmanager
def _interrupts_later() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(more: Callable[[], None] | None) -> None:
    threading.Thread(target=_end_with_the_parent, name="parent", daemon=True).start()
    _leave_interrupts_to_the_parent()
    keep_freed_memory()
    collect_seldom()
    if more is not None:
        more()


def _leave_interrupts_to_the_parent() -> None:
    """Let Ctrl-C, which reaches every process of a terminal, end the work where it is reported, in one process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_with_the_parent() -> None:
    """Wait until the parent is gone: a kill gives workers no notice, and each holds the others' pipes open."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
