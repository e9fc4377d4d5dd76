"""A run waits for scenes of other processes until it ends."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from uavsim.run import town_scenes
from uavsim.run.outcome import SceneOutcome
from uavsim.run.town_scenes import TownScenes


class Run:
    """A stub of a run's context for a town's scenes."""

    def __init__(self, *names: str) -> None:
        self._end = threading.Event()
        self.waited = 0
        self.unchanged: dict[str, object] = {}
        self.job = SimpleNamespace(scenes_of=lambda _: [SimpleNamespace(name=name) for name in names])

    @property
    def stopped(self) -> bool:
        return self._end.is_set()

    def wait_for_end(self, _seconds: float) -> None:
        self.waited += 1

    def abort(self) -> None:
        self._end.set()


def flown(run: Any, outcomes: dict[str, list[str]]) -> list[str]:
    scenes = TownScenes(run, "Town10HD")
    for names in scenes.rounds():
        for name in names:
            scenes.note(name, SceneOutcome(name, outcomes[name].pop(0)))
    return [outcome.state for outcome in scenes.outcomes]


def test_a_scene_of_another_process_is_asked_for_until_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run("a", "b")
    monkeypatch.setattr(town_scenes, "is_held", lambda *_: run.waited < 3)
    assert flown(run, {"a": ["committed"], "b": ["elsewhere", "committed"]}) == ["committed", "committed"]
    assert run.waited == 3


def test_an_ending_run_waits_for_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run("a", "b")

    def held(*_: object) -> bool:
        run.abort()
        return True

    monkeypatch.setattr(town_scenes, "is_held", held)
    assert flown(run, {"a": ["committed"], "b": ["elsewhere"]}) == ["committed", "skipped"]
    assert run.waited == 2  # the second time it is reported that the run is over
