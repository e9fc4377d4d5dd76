"""Stages count the processor's time of their threads, each moment once."""

import threading
import time

import pytest
from headless_simulator import stages
from headless_simulator.stages import OTHER, StageTimes, count_stages, stage


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> StageTimes:
    monkeypatch.setattr(stages, "_times", None)
    return count_stages()


def work(until_ms: float) -> None:
    end = time.thread_time() + until_ms / 1e3
    while time.thread_time() < end:
        pass


def test_an_outer_stage_counts_what_its_inner_stages_leave(times: StageTimes) -> None:
    with stage("outer"):
        work(10)
        with stage("inner"):
            work(40)

    found = times.take()

    assert found["inner"][0] >= 40
    assert 10 <= found["outer"][0] < found["inner"][0]


def test_threads_do_not_count_each_others_stages(times: StageTimes) -> None:
    def run() -> None:
        with stage("aside"):
            work(20)

    with stage("waiting"):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    found = times.take()
    assert found["aside"][0] >= 20 > found["waiting"][0]


def test_a_look_begins_anew(times: StageTimes) -> None:
    for _ in range(3):
        with stage("often"):
            pass

    assert times.take()["often"][1] == 3
    assert set(times.take()) == {OTHER}


def test_nothing_is_counted_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "_times", None)
    with stage("unseen"):
        pass

    assert set(count_stages().take()) == {OTHER}
