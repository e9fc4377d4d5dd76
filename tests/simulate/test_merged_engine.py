"""Ticks for AirSim's calls, with a stub world that runs its game thread within ticks only."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from uavsim.config.deadlines import Deadlines
from uavsim.errors import SceneVoid, SimulatorLost
from uavsim.geometry.se3 import SE3
from uavsim.records.recording import ActorStates
from uavsim.simulate import merged_engine
from uavsim.simulate.merged_engine import MergedEngine, largest_move_m
from uavsim.simulate.ports import TickState

STEP_S = 0.05


def state(frame: int, *, x_m: float = 0.0, ids: tuple[int, ...] = (1, 2)) -> TickState:
    n = len(ids)
    position_m = np.tile([x_m, 2.0, 0.5], (n, 1)) * np.arange(n, dtype=np.float64)[:, None]
    zero = np.zeros((n, 3))
    poses = SE3(np.tile([1.0, 0, 0, 0], (n, 1)), position_m)
    states = ActorStates(np.array(ids), poses, zero, zero, zero, zero)
    return TickState(frame, frame * STEP_S, lambda: states)


class PaperWorld:
    """A stub of CARLA's half: a cue makes a frame, which serves calls that wait for the game thread."""

    def __init__(self, *, moves_m: float = 0.0, sends: bool = True) -> None:
        self.paused_s = 0.0
        self.frame, self._moves_m, self._sends = 7, moves_m, sends
        self._state = state(7)
        self.served = threading.Event()
        self.image_requested = threading.Event()

    def cue(self) -> None:
        self.frame += 1
        if self._sends:
            self._state = state(self.frame, x_m=self._moves_m * (self.frame - 7))
        if self.image_requested.is_set():
            self.served.set()

    def newer_than(self, frame: int, *, timeout_s: float) -> TickState | None:
        return self._state if self._state.frame > frame else None

    def now(self) -> TickState:
        return self._state

    def image(self) -> str:
        """Simulate an AirSim call that waits for the next frame."""
        self.served.clear()
        self.image_requested.set()
        assert self.served.wait(30), "nobody ticked"
        self.image_requested.clear()
        return "image"


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged_engine, "_PATIENCE_S", 0.2)


def pauses(into: list[bool]) -> Callable[[bool], None]:
    return into.append


def test_waiting_call_gets_ticks() -> None:
    world = PaperWorld()
    engine = MergedEngine(world)
    assert engine.ask({"uav0": world.image}, doing="taking images") == {"uav0": "image"}
    assert engine.way == "ticks"
    assert engine.ticks_passed >= 1
    assert world.paused_s == pytest.approx(STEP_S * engine.ticks_passed), "a scene's clock does not count them"


def test_free_engine_gets_no_ticks() -> None:
    world = PaperWorld()
    engine = MergedEngine(world)
    assert engine.ask({"a": lambda: 1, "b": lambda: 2}, doing="connecting") == {"a": 1, "b": 2}
    assert engine.way == "free"
    with engine.proven():
        pass
    assert world.frame == 7, "a free engine is not ticked"


def test_call_without_ticks_measures_nothing() -> None:
    engine = MergedEngine(PaperWorld())
    assert engine.ask({"a": lambda: 1}, doing="pausing", ticks=False) == {"a": 1}
    assert engine.way == ""


def held(world: PaperWorld, *, deadlines: Deadlines | None = None) -> MergedEngine:
    engine = MergedEngine(world, deadlines=deadlines or Deadlines())
    engine.way = "ticks"
    return engine


def test_paused_world_is_verified_and_continued() -> None:
    world, pauses_sent = PaperWorld(), []
    engine = held(world)
    assert engine.hold(pauses(pauses_sent)).frame == 8, "the state of a tick of its own"
    with engine.proven():
        engine.ask({"uav0": world.image}, doing="taking images")
        passed = engine.ticks_passed
    assert pauses_sent == [True, False]
    assert engine.ticks_passed == passed + 1


def test_paused_world_continues_after_refused_images() -> None:
    """Otherwise, the next scene's vehicles would spawn in a paused world, and its images would differ."""
    pauses_sent: list[bool] = []
    engine = held(PaperWorld())
    engine.hold(pauses(pauses_sent))
    with pytest.raises(SceneVoid, match="of another tick"), engine.proven():
        engine.ask({"uav0": lambda: (_ for _ in ()).throw(SceneVoid("of another tick"))}, doing="taking images")
    assert pauses_sent == [True, False]
    engine.release()
    assert pauses_sent == [True, False], "it goes on once"


def test_motion_before_the_first_image_voids_the_scene() -> None:
    """The first tick is exempt: in hybrid mode the Traffic Manager's last teleports take effect in it."""
    world = PaperWorld(moves_m=0.3)
    engine = held(world)
    engine.begin(lambda _phase, _n: None)
    assert engine.pass_tick().frame == 8
    with pytest.raises(SceneVoid, match=r"simPause does not hold the world: actor 2 moved 0\.3\d* m from frame 8 to 9"):
        engine.ask({"airsim": world.image}, doing="listing vehicles")


def test_release_continues_a_paused_world() -> None:
    pauses_sent: list[bool] = []
    engine = held(PaperWorld())
    engine.hold(pauses(pauses_sent))
    engine.release()
    assert pauses_sent == [True, False]


@pytest.mark.parametrize("moves_m", [0.001, 0.5])
def test_ineffective_pause_voids_the_scene(moves_m: float) -> None:
    world = PaperWorld(moves_m=moves_m)
    engine = held(world)
    refused = pytest.raises(SceneVoid, match=r"simPause does not hold the world: actor 2 moved 0\.\d+ m")
    engine.hold(lambda _paused: None)
    with refused, engine.proven():
        engine.ask({"uav0": world.image}, doing="taking images")


def test_missing_snapshot_is_reported() -> None:
    world = PaperWorld(sends=False)
    with pytest.raises(SimulatorLost, match="no snapshot came after frame 7 under simPause"):
        held(world).ask({"uav0": world.image}, doing="taking images")


class SlowWorld(PaperWorld):
    """A stub world with ticks longer than a polling interval, as when AirSim renders."""

    looks = 4

    def newer_than(self, frame: int, *, timeout_s: float) -> TickState | None:
        self.looks -= 1
        return None if self.looks > 0 else super().newer_than(frame, timeout_s=timeout_s)


def test_slow_tick_reports_progress_up_to_its_limit() -> None:
    heard: list[str] = []
    engine = held(SlowWorld())
    engine.begin(lambda phase, _n: heard.append(phase))
    assert engine.pass_tick(within_s=40.0).frame == 8
    assert heard == ["swarm"] * 3, "the supervisor hears of it meanwhile"
    with pytest.raises(SimulatorLost, match="no snapshot came"):
        held(SlowWorld()).pass_tick(within_s=30.0)


def test_unanswered_call_ends_at_its_limit() -> None:
    stop = threading.Event()
    with pytest.raises(SimulatorLost, match=r"did not answer within 0\.3 s of ticks while taking images"):
        held(PaperWorld(), deadlines=Deadlines(airsim_s=0.3)).ask(
            {"uav0": lambda: stop.wait(30)}, doing="taking images"
        )
    stop.set()


def test_error_of_a_call_ends_the_others() -> None:
    world = PaperWorld()

    def fail() -> str:
        raise SimulatorLost("gone")

    with pytest.raises(SimulatorLost, match="gone"):
        held(world).ask({"uav0": fail, "uav1": world.image}, doing="taking images")
    world.served.set()


def test_largest_move_includes_rotation() -> None:
    before, after = state(1), state(2)
    assert largest_move_m(before, after) == (0.0, 1)
    after.actors.ue_euler_deg[1] = (0.0, 0.0, 1.0)
    move_m, who = largest_move_m(state(1), after)
    assert (move_m, who) == (pytest.approx(np.radians(1.0)), 2)
    with pytest.raises(SceneVoid, match="appeared or vanished"):
        largest_move_m(before, state(2, ids=(1, 3)))
