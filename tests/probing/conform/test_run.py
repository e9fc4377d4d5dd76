import json
import threading
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import carla
import pytest
from headless_simulator.testing import running_simulator

from tests.e2e.command import uavsim
from tools.trials.conform import FAST_CLOCK, PLANTED, Planted, found_by
from uavsim.config.deadlines import Deadlines
from uavsim.errors import SimulatorError
from uavsim.probing.conform import run
from uavsim.probing.conform.answers import Answer, AnswerFile, read_answers
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.behaviours import faults, selected
from uavsim.probing.conform.carla import driving
from uavsim.probing.conform.carla.site import Site
from uavsim.probing.conform.worker import CARLA, gathered
from uavsim.simulate.hang_watch import HangWatch
from uavsim.simulate.versions import CLIENT_VERSION


@pytest.mark.release
def test_the_headless_simulator_answers_as_stored(tmp_path: Path) -> None:
    """After an intended change of the simulator, copy answers.json of ``uavsim conform`` to conform/headless.json."""
    (tmp_path / "settings.json").write_text(json.dumps(FAST_CLOCK))
    out = tmp_path / "out"
    with running_simulator("--airsim-settings", str(tmp_path / "settings.json")) as simulator:
        done = uavsim(
            "conform",
            "--simulator",
            simulator.carla,
            "--airsim",
            simulator.airsim,
            "--out",
            str(out),
            "--strict",
            "--json",
        )
    assert json.loads(done.stdout)["differ"] == []
    assert done.returncode == 0, done.stderr
    answers = read_answers(out / "answers.json")
    assert (answers.simulator, answers.server, answers.airsim) == ("headless", "0.9.16", "1")
    assert (selected(answers), faults(answers)) == ({}, [])
    assert "as here" in (out / "index.html").read_text()


@pytest.mark.parametrize(
    "planted",
    [PLANTED[2], *(pytest.param(PLANTED[k], marks=pytest.mark.release) for k in (5, 9))],
    ids=lambda p: p.fault["fault"],
)
def test_a_planted_fault_is_found(tmp_path: Path, planted: Planted) -> None:
    assert found_by(planted, tmp_path)


def test_answers_before_an_error_are_kept() -> None:
    def answers() -> Iterator[Answer]:
        yield Ask("lockstep").equal("a", 1)
        raise SimulatorError("it is gone")

    found = list(gathered(answers(), group="clock"))
    assert [(a.capability, a.question, a.value) for a in found] == [
        ("lockstep", "a", 1),
        ("lockstep", "asked to the end", None),
    ]
    assert "it is gone" in found[1].note


def test_answering_probe_may_exceed_the_silence_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_LIMIT_S", 1.5)
    answer = Ask("stamps").equal("a", 1)
    line = json.dumps({"answer": answer.model_dump(exclude_defaults=True)})
    slow = _script(tmp_path / "slow", f"for i in 1 2 3 4 5 6 7 8; do echo '{line}'; sleep 0.25; done; echo '{{}}'")
    assert run.answers_of("stamps", "", "", python=slow) == [answer] * 8
    silent = _script(tmp_path / "silent", f"echo '{line}'; exec sleep 60")
    monkeypatch.setattr(run, "_LIMIT_S", 0.3)
    first, end = run.answers_of("stamps", "", "", python=silent)
    assert first == answer
    assert (end.question, end.note) == ("asked to the end", "no answer within 0.3 s")


_WHO = json.dumps({"simulator": "headless", "client": "", "server": "", "town": "", "airsim": ""})


@pytest.mark.parametrize(
    ("who", "probe_count"), [("[ -e town ] && exec sleep 60; ", 2), ("", 4)], ids=["frozen", "drops some"]
)
def test_remaining_probes_are_skipped_for_a_silent_server(
    who: str, probe_count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers so far are reported after each probe; further probes are skipped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "require", lambda *_: SimpleNamespace(detail=CLIENT_VERSION))
    monkeypatch.setattr(run, "_LIMIT_S", 0.5)
    monkeypatch.setattr(run, "_WHO_S", 2.0)
    line = json.dumps({"answer": Ask("server").equal("a", 1).model_dump(exclude_defaults=True)})
    python = _script(
        tmp_path / "python",
        f"""case $4 in
        who) {who}echo '{_WHO}';;
        server) echo '{line}'; echo '{{}}';;
        *) touch $4; exec sleep 60;;
        esac""",
    )
    reports: list[AnswerFile] = []
    final = run.ask_everything("1.2.3.4:5", "", heard=lambda _, answers, __: reports.append(answers), python=python)
    assert [len(answers.answers) for answers in reports] == list(range(1, len(CARLA) + 1))
    assert [answer.note for answer in final.answers].index(run.NOT_ASKED) == probe_count


def _script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_a_tick_that_hangs_by_the_clients_lost_wake_up_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    """libcarla's Traffic Manager and its tick wait for each other (CARLA's issue 9172) until a message wakes the manager."""
    woken = threading.Event()
    frames = count()

    class World:
        frame = 0

        def tick(self, _: float) -> int:
            frame = next(frames)
            self.frame = frame
            if frame == 20:
                assert woken.wait(10.0)
            return frame

        def get_snapshot(self) -> Any:
            return SimpleNamespace(frame=self.frame, find=lambda _: car)

    class Port:
        def __init__(self, _: int) -> None:
            return

        def wake(self) -> bool:
            woken.set()
            return True

        def close(self) -> None:
            return

    at = carla.Location()
    car = SimpleNamespace(id=1, set_autopilot=lambda *_: None, get_transform=lambda: carla.Transform(at))
    site = object.__new__(Site)
    manager = SimpleNamespace(set_synchronous_mode=lambda _: None, set_random_device_seed=lambda _: None)
    site.client = cast(Any, SimpleNamespace(get_trafficmanager=lambda _: manager))
    site.world, site._actors, site.ticked = cast(Any, World()), [], lambda: None
    site.spawn_points = [carla.Transform()] * 12
    site.town = cast(Any, SimpleNamespace(get_waypoint=lambda _: SimpleNamespace(transform=carla.Transform(at))))
    monkeypatch.setattr(Site, "spawn", lambda *_: car)
    monkeypatch.setattr(driving, "ManagerPort", Port)
    monkeypatch.setattr(Deadlines, "hang_s", 0.0)
    monkeypatch.setattr(driving, "HangWatch", partial(HangWatch, poll_s=0.001))
    assert next(driving.traffic(site)).question == "cars of 10 that drive"
    assert woken.is_set()


def test_missing_server_is_reported_in_one_line(tmp_path: Path) -> None:
    done = uavsim("conform", "--simulator", "127.0.0.1:9", "--out", str(tmp_path / "out"))
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
