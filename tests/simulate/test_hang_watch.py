"""A client that hangs in a tick is distinguished from one that waits for a simulator or does other work."""

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
    """A stub world with a newest frame and a counter of queries."""

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

    def wake(self) -> bool:
        return False

    def wait_for_looks(self) -> None:
        with self._looked:
            until = self.looks + MANY_LOOKS
            assert self._looked.wait_for(lambda: self.looks >= until, SOON_S)


class WakingWorld(World):
    """A stub world with a tick that returns after a wake-up, or never."""

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

    return HangWatch(world, on_hang, limit_s=0.0, woken_s=0.0, poll_s=0.001)


def test_hang_is_reported_once() -> None:
    world, reported, heard = World(), list[int](), threading.Event()
    with watched(world, reported, heard=heard) as watch:
        watch.note("fly")
        world.newest = 8
        assert heard.wait(SOON_S)
    assert reported == [8]


def test_woken_tick_is_no_hang() -> None:
    world, hung, woken = WakingWorld(helps=True), list[int](), list[int]()
    with HangWatch(world, hung.append, on_woken=woken.append, limit_s=0.0, poll_s=0.001) as watch:
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
def test_failed_wake_is_a_hang(is_reported: bool) -> None:
    world, reported, heard = WakingWorld(helps=False, is_reported=is_reported), list[int](), threading.Event()
    with watched(world, reported, heard=heard) as watch:
        watch.note("fly")
        world.newest = 8
        assert heard.wait(SOON_S)
    assert reported == [8]
    assert world.woken == 1


@pytest.mark.parametrize("phase", ["connect", "load", "spawn", "swarm"])
def test_other_phases_are_not_watched(phase: str) -> None:
    world, reported = World(), list[int]()
    with watched(world, reported) as watch:
        watch.note("fly")
        watch.note(phase)
        world.newest = 8
        world.wait_for_looks()
    assert reported == []


@pytest.mark.parametrize("runs", [False, True])
def test_no_hang_between_ticks_or_with_an_asynchronous_server(runs: bool) -> None:
    world, reported = World(runs=runs), list[int]()
    with watched(world, reported) as watch:
        watch.note("fly")
        world.wait_for_looks()
    assert reported == []


def test_worker_reports_a_hang_and_exits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(client_worker, "HangWatch", functools.partial(HangWatch, poll_s=0.001))
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


def test_order_of_time_limits() -> None:
    assert Deadlines().call_s < Deadlines().hang_s
    assert Deadlines().silence_s("fly") > Deadlines().hang_s + hang_watch._WOKEN_S


def test_carla_world_has_frame_and_wake() -> None:
    assert isinstance(vars(carla_world.CarlaWorld)["frame"], property)
    assert callable(carla_world.CarlaWorld.wake)


def test_merged_world_is_not_watched() -> None:
    assert not hasattr(MergedWorld, "frame")
