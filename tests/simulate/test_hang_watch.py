"""A client that hangs in a tick is distinguished from one that waits for a simulator, or does something else."""

import functools
import io
import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from uavsim.capture import client_worker
from uavsim.capture.client_events import FlyCommand, to_line
from uavsim.config.deadlines import Deadlines
from uavsim.errors import SimulatorLost
from uavsim.simulate import hang_watch
from uavsim.simulate.carla import world as carla_world
from uavsim.simulate.hang_watch import HangWatch
from uavsim.simulate.merged.world import MergedWorld

SOON_S = 10.0
MANY_LOOKS = 20


class World:
    """A server's newest frame, and how often somebody looked at it."""

    def __init__(self, *, runs: bool = False) -> None:
        self.newest, self.runs = 7, runs
        self.looks = 0
        self._looked = threading.Condition()

    @property
    def frame(self) -> int:
        with self._looked:
            self.looks += 1
            self.newest += self.runs
            self._looked.notify_all()
            return self.newest

    def wait_for_looks(self) -> None:
        with self._looked:
            until = self.looks + MANY_LOOKS
            assert self._looked.wait_for(lambda: self.looks >= until, SOON_S)


class WakingWorld(World):
    """One whose tick comes back when it is woken, or does not."""

    def __init__(self, *, helps: bool, is_reported: bool = True) -> None:
        super().__init__()
        self.helps, self.is_reported = helps, is_reported
        self.woken = 0
        self.watch: HangWatch | None = None

    def wake(self) -> bool:
        self.woken += 1
        if self.helps and self.watch is not None:
            self.watch.note("fly")
        return self.is_reported


def watched(world: World, reported: list[int], *, heard: threading.Event | None = None) -> HangWatch:
    def on_hang(frame: int) -> None:
        reported.append(frame)
        if heard is not None:
            heard.set()

    return HangWatch(world, on_hang, limit_s=0.0, woken_s=0.0, look_s=0.001)


def test_a_tick_that_is_simulated_but_not_returned_from_is_reported_once() -> None:
    world, reported, heard = World(), list[int](), threading.Event()
    with watched(world, reported, heard=heard) as watch:
        watch.note("fly")
        world.newest = 8
        assert heard.wait(SOON_S)
    assert reported == [8]


def test_a_tick_that_comes_back_when_it_is_woken_is_no_hang_and_is_woken_once() -> None:
    world, hung, woken = WakingWorld(helps=True), list[int](), list[int]()
    with HangWatch(world, hung.append, on_woken=woken.append, limit_s=0.0, look_s=0.001) as watch:
        world.watch = watch
        watch.note("fly")
        for newest in (8, 9):
            world.newest = newest
            end = time.monotonic() + SOON_S
            while len(woken) < newest - 7:
                assert time.monotonic() < end
                world.wait_for_looks()
        world.wait_for_looks()
    assert (hung, woken, world.woken) == ([], [8, 9], 2)


@pytest.mark.parametrize("is_reported", [True, False])
def test_a_tick_that_does_not_come_back_after_it_was_woken_or_cannot_be_hangs(is_reported: bool) -> None:
    world, reported, heard = WakingWorld(helps=False, is_reported=is_reported), list[int](), threading.Event()
    with watched(world, reported, heard=heard) as watch:
        watch.note("fly")
        world.newest = 8
        assert heard.wait(SOON_S)
    assert reported == [8]
    assert world.woken == 1


@pytest.mark.parametrize("phase", ["connect", "load", "spawn", "swarm"])
def test_other_phases_may_take_long_after_a_tick(phase: str) -> None:
    world, reported = World(), list[int]()
    with watched(world, reported) as watch:
        watch.note("fly")
        watch.note(phase)
        world.newest = 8
        world.wait_for_looks()
    assert reported == []


@pytest.mark.parametrize("runs", [False, True])
def test_neither_waiting_between_ticks_nor_a_server_that_goes_on_by_itself_is_a_hang(runs: bool) -> None:
    world, reported = World(runs=runs), list[int]()
    with watched(world, reported) as watch:
        watch.note("fly")
        world.wait_for_looks()
    assert reported == []


def test_the_worker_reports_its_supervisor_and_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, left, codes = World(), threading.Event(), list[int]()

    def leave(code: int) -> None:
        codes.append(code)
        left.set()

    def record(*_: object, heartbeat: Any, **__: object) -> None:
        heartbeat("fly", 0)
        world.newest = 8
        assert left.wait(SOON_S)
        raise SimulatorLost("the process would have ended")

    monkeypatch.setattr(client_worker, "record_scene", record)
    monkeypatch.setattr(client_worker, "HangWatch", functools.partial(HangWatch, look_s=0.001))
    monkeypatch.setattr(client_worker, "_read_plan", lambda _: SimpleNamespace(scene_name="scene", samples=1))
    session = SimpleNamespace(world=world, close=lambda: None, deadlines=SimpleNamespace(hang_s=0.0))
    monkeypatch.setattr(client_worker._Reporter, "ready", lambda *_: None)
    out = io.StringIO()
    commands = io.StringIO(to_line(FlyCommand(str(tmp_path / "plan"), str(tmp_path / "out"))) + "\n")
    client_worker.serve(commands, out, connect=lambda: cast(Any, session), leave=leave)
    assert codes == [3]
    said = [json.loads(line) for line in out.getvalue().splitlines()]
    failure = next(event for event in said if event["event"] == "error")
    assert failure["kind"] == "SimulatorLost"
    assert failure["retry"]
    assert "tick 8 is simulated" in failure["message"]


def test_a_slow_call_ends_by_its_own_time_out_first_and_a_hang_before_the_supervisor_is_tired() -> None:
    assert Deadlines().call_s < Deadlines().hang_s
    assert Deadlines().silence_s("fly") > Deadlines().hang_s + hang_watch._WOKEN_S


def test_carlas_world_reports_its_newest_frame_and_wakes_its_traffic_manager() -> None:
    assert isinstance(vars(carla_world.CarlaWorld)["frame"], property)
    assert callable(carla_world.CarlaWorld.wake)


def test_a_merged_world_lets_ticks_pass_and_is_not_watched() -> None:
    assert not hasattr(MergedWorld, "frame")
