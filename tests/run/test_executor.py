"""Scenes that another process holds are waited for, as long as this run has something to wait for."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from uavsim.run import executor
from uavsim.run.executor import fly_all
from uavsim.run.outcome import SceneOutcome


class Run:
    """A run's context, as far as rounds know it."""

    def __init__(self) -> None:
        self._end = threading.Event()
        self.waited = 0
        self.pool = SimpleNamespace(interrupt=lambda: None)

    @property
    def stopped(self) -> bool:
        return self._end.is_set()

    def wait_for_end(self, _seconds: float) -> None:
        self.waited += 1

    def abort(self, _error: object) -> None:
        self._end.set()


def rounds(run: Any, outcomes: dict[str, list[str]]) -> list[SceneOutcome]:
    def submit(name: str) -> Any:
        state = outcomes[name].pop(0)
        return lambda: SceneOutcome(name, state)

    return fly_all(run, list(outcomes), submit=submit, note=lambda _: None)


def test_a_scene_of_another_process_is_asked_for_until_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run()
    monkeypatch.setattr(executor, "is_held", lambda *_: run.waited < 3)
    done = rounds(run, {"a": ["committed"], "b": ["elsewhere", "committed"]})
    assert [outcome.state for outcome in done] == ["committed", "committed"]
    assert run.waited == 3


def test_a_run_that_ends_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run()

    def held(*_: object) -> bool:
        run.abort(None)
        return True

    monkeypatch.setattr(executor, "is_held", held)
    done = rounds(run, {"a": ["committed"], "b": ["elsewhere"]})
    assert [outcome.state for outcome in done] == ["committed", "skipped"]
    assert run.waited == 2  # the second time it is reported that the run is over
