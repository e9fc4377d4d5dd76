"""Work on many samples in processes of their own, in order, with few of them in flight."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Final, TypeVar

from uavsim.errors import SystemFailure

__all__ = ["in_order"]

T = TypeVar("T")
R = TypeVar("R")
_AHEAD: Final = 3  # tasks a process, so that none waits for the next


def in_order(work: Callable[[T], R], tasks: Iterable[T], *, workers: int) -> Iterator[R]:
    """Yield what ``work`` returns of each task; with one worker, in this process.

    Raises:
        SystemFailure: a process died.
    """
    if workers <= 1:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of whoever calls us
    try:
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_interrupts_to_the_parent)
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
        raise SystemFailure("a process that labels images died (out of memory?); try --workers 1") from error


@contextmanager
def _interrupts_later() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
