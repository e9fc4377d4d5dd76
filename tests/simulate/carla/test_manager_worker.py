"""A wait for the next step is known from all else that a thread may do; the trial ``lost_wakeups`` flies with libcarla's."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from uavsim.simulate.carla import manager_worker
from uavsim.simulate.carla.manager_worker import ManagerWorker, worker_among

SOON_S = 5.0


@contextmanager
def waiting(*works: Callable[[], object]) -> Iterator[tuple[threading.Lock, frozenset[int]]]:
    """Let a thread wait for a lock, and one do each of these; gives the lock and the threads' numbers.

    Python's locks wait as ``pthread_cond_wait`` does: for a bit set, and without a time-out.
    """
    lock = threading.Lock()
    with lock:
        started = [threading.Thread(target=work, daemon=True) for work in (lock.acquire, *works)]
        for thread in started:
            thread.start()
        yield lock, frozenset(int(thread.native_id or 0) for thread in started)
    started[0].join()


def found(came: frozenset[int]) -> ManagerWorker:
    worker = worker_among(came, within_s=SOON_S)
    assert worker is not None
    return worker


def test_the_worker_is_the_thread_that_waits() -> None:
    with waiting(lambda: time.sleep(0.5), lambda: threading.Event().wait(0.5), lambda: sum(range(10**7))) as (_, came):
        worker = found(came)
        assert worker.waits()
        assert worker.let_wait(within_s=SOON_S)
    assert not worker.waits()
    worker.close()


def test_one_that_is_busy_is_waited_for_a_while() -> None:
    with waiting() as (_, came):
        worker = found(came)
    began = time.monotonic()
    assert not worker.let_wait(within_s=0.1)
    assert time.monotonic() - began < SOON_S
    worker.close()


def test_another_thread_at_the_same_condition_takes_its_place() -> None:
    with waiting() as (lock, came):
        worker = found(came)
    second = threading.Thread(target=lock.acquire, daemon=True)  # the first has the lock, and is gone
    second.start()
    assert worker.let_wait(within_s=SOON_S)
    lock.release()
    second.join()
    worker.close()


@pytest.mark.parametrize("other", [lambda: threading.Event().wait(), None], ids=["two wait", "none is there"])
def test_nobody_is_the_worker_where_that_is_not_known(other: Callable[[], object] | None) -> None:
    with waiting(*([] if other is None else [other])) as (_, came):
        time.sleep(0.1)  # so that both wait
        assert worker_among(came if other else frozenset({2**22 + 1}), within_s=0.1) is None


def test_nobody_is_the_worker_on_a_system_that_lets_nobody_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> bytes:
        raise PermissionError

    with waiting() as (_, came):
        monkeypatch.setattr("os.pread", refused)
        assert worker_among(came, within_s=0.1) is None


def test_a_successor_that_is_gone_when_it_is_looked_at_is_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with waiting() as (lock, came):
        worker = found(came)
    gone, opened = [2**22 + 1], manager_worker._waiting
    monkeypatch.setattr(
        manager_worker,
        "_waiting",
        lambda those: [(gone.pop(), worker._condition)] if gone else opened(those),
    )
    second = threading.Thread(target=lock.acquire, daemon=True)
    second.start()
    assert worker.let_wait(within_s=SOON_S)
    assert not gone
    lock.release()
    second.join()
    worker.close()
