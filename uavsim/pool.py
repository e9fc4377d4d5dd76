"""Run tasks in worker processes, in order, with a bounded number in flight."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol, TypeVar

from uavsim.errors import SystemFailure

__all__ = ["Run", "in_order", "started"]

T = TypeVar("T")
R = TypeVar("R")
_AHEAD: Final = 8  # tasks in flight for each worker: keeps memory flat on big datasets


class Run(Protocol):
    """Runs tasks in processes, in order."""

    def __call__(self, work: Callable[[T], R], tasks: Iterable[T], /) -> Iterator[R]:
        """Yield the result of ``work`` for each task.

        Raises:
            SystemFailure: a process died.
        """
        ...


def in_order(work: Callable[[T], R], tasks: Iterable[T], *, workers: int) -> Iterator[R]:
    """Yield the result of ``work`` for each task, in worker processes; see ``started``."""
    with started(workers) as run:
        yield from run(work, tasks)


@contextmanager
def started(workers: int) -> Iterator[Run]:
    """Start worker processes; they import for half a second while the caller prepares tasks.

    Args:
        workers: processes; with one, tasks run in this process.

    Yields:
        The function that runs tasks in the processes.

    Raises:
        SystemFailure: a process died.
    """
    if workers <= 1:
        yield map
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the caller's locks
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
    try:
        with _died_reported(), _interrupts_later():  # a process inherits the signal mask
            for _ in range(workers):
                pool.submit(os.getpid)  # a process each
        yield partial(_run, pool, workers)
    finally:
        pool.shutdown(cancel_futures=True)


def _run(pool: ProcessPoolExecutor, workers: int, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
    with _died_reported():
        flying: deque[Future[R]] = deque()
        for task in tasks:
            with _interrupts_later():
                flying.append(pool.submit(work, task))
            if len(flying) > _AHEAD * workers:
                yield flying.popleft().result()
        while flying:
            yield flying.popleft().result()


@contextmanager
def _died_reported() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        hint = "out of memory? a script without `if __name__ == '__main__'`?"
        raise SystemFailure(f"a worker process ended unexpectedly ({hint}); try workers=1") from error


@contextmanager
def _interrupts_later() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    threading.Thread(target=_end_with_the_parent, name="parent", daemon=True).start()
    _leave_interrupts_to_the_parent()


def _leave_interrupts_to_the_parent() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal, so that only the parent reports it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_with_the_parent() -> None:
    """Exit with the parent: a killed parent cannot notify workers, and each holds the others' pipes open."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
