"""Runs without a Prefect server, in threads."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.run.every_front import EveryFront, Fly, Paper, interrupted_when
from tests.run.test_stages import on_its_own_simulator, run_all
from tools.common.leftovers import contents
from uavsim.annotate.scene import annotate
from uavsim.flows import command
from uavsim.flows.command import generate
from uavsim.records.recording import Recording
from uavsim.run.request import Request
from uavsim.run.result import Result
from uavsim.store.local import LocalOutput
from uavsim.terminal import Screen


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(command, "configured_api_url", lambda: None)
    monkeypatch.setattr(command, "account_address", lambda: None)
    before = psutil.Process().children(recursive=True)
    yield
    assert psutil.Process().children(recursive=True) == before


def run(request: Request) -> Result:
    unchecked = on_its_own_simulator(request).model_copy(update={"check": False})
    return generate(unchecked, console=Screen(quiet=True))


@pytest.fixture
def fly() -> Fly:
    return run


@pytest.mark.release
class TestThreads(EveryFront):
    pass


def test_the_flow_makes_the_same_dataset_as_the_stages_alone(paper: Paper, tmp_path: Path) -> None:
    result = run(paper())
    assert result.error is None
    assert result.committed == ("scene_00", "scene_01", "scene_02")
    assert result.images == 3 * 5 * 2
    assert result.contact_sheet is not None
    run_all(paper(out=tmp_path / "plain"))
    flown, plain = contents(tmp_path / "out"), contents(tmp_path / "plain")
    assert flown == plain


def test_a_mistake_of_ours_in_one_scene_is_reported_with_it(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(recording: Recording) -> object:
        if recording.plan.scene_name == "scene_01":
            raise TypeError("a mistake")
        return annotate(recording)

    monkeypatch.setattr("uavsim.annotate.scene.annotate", mistaken)
    result = run(paper())
    assert result.committed == ("scene_00", "scene_02")
    assert result.unfinished == ("scene_01",)
    assert "1 unfinished: scene_01" in str(result.error)
    assert (tmp_path / "out/v1.0-mini/scene.json").read_text().count('"name"') == 2


def test_a_scene_that_another_process_holds_is_flown_when_it_comes_free(paper: Paper, tmp_path: Path) -> None:
    held = LocalOutput(tmp_path / "out").lock("scene_00")
    assert held.__enter__()
    log = tmp_path / "out/.uavsim/logs/scene_01.jsonl"

    def die_when_the_other_is_flown() -> None:
        while not (log.exists() and '"committed"' in log.read_text()):
            time.sleep(0.02)
        held.__exit__(None, None, None)

    thread = threading.Thread(target=die_when_the_other_is_flown)
    thread.start()
    result = run(paper(scenes="2"))
    thread.join()
    assert result.committed == ("scene_00", "scene_01")


def test_an_interrupt_does_not_wait_for_the_next_attempt(paper: Paper, tmp_path: Path) -> None:
    request = paper(faults={"scene_00": ["SceneVoid"]}, scenes="1")
    patient = request.run_config().model_copy(update={"retry_delay_s": 600.0})
    with interrupted_when("failed", tmp_path / "out"):
        run(request.model_copy(update={"run": patient}))
