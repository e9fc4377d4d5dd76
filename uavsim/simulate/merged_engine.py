"""Calls AirSim in a merged build, where half of its calls are answered only within a CARLA tick.

In synchronous mode CARLA blocks Unreal's game thread between two ticks, and AirSim's calls that need that thread wait for the
next tick (docs/airsim-variants.md). A thread that calls and then ticks would wait forever. So each AirSim call runs in a
thread with its own client, and this thread ticks until all have answered. These ticks run while ``simPause`` holds the world,
and without a step of the Traffic Manager, so they move nothing; every snapshot of such a tick is compared with the captured
one to verify that.

The first call measures the kind of engine: if it returns without a tick, the engine is free.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final, Literal, Protocol, TypeVar

import numpy as np

from uavsim.config.deadlines import Deadlines
from uavsim.errors import SceneVoid, SimulatorLost, SystemFailure
from uavsim.simulate.ports import Heartbeat, TickState

EngineWay = Literal["", "free", "ticks"]
"""When AirSim's calls are answered: unknown yet, at once, or within a tick."""
_PATIENCE_S: Final = 2.0  # a call that needs no tick returns within it; a slower free engine gets useless ticks
_DEFAULT_DEADLINES: Final = Deadlines()
_REPORT_S: Final = 10.0  # a tick that takes longer is reported as progress
_TICK_WAIT_S: Final = 0.002  # wait after a tick for a thread's next call
_STILL_M: Final = 1e-4  # float32 at a kilometre
_HEARTBEAT_TICKS: Final = 20
_LAST_TICKS: Final = 200
T = TypeVar("T")


class PausableWorld(Protocol):
    """The part of the CARLA world that the engine uses."""

    paused_s: float

    def cue(self) -> None:
        """Request a tick of the server alone; returns at once."""

    def newer_than(self, frame: int, *, timeout_s: float) -> TickState | None:
        """Wait for the state of a later frame; None after the time limit."""

    def now(self) -> TickState:
        """Return the last received state."""

    @property
    def frame(self) -> int:
        """Frame of the last received state, without converting it."""


class MergedEngine:
    """Runs AirSim's calls in separate threads and passes the ticks that they need."""

    def __init__(self, world: PausableWorld, *, deadlines: Deadlines = _DEFAULT_DEADLINES) -> None:
        """Use the CARLA half ``world``; ``deadlines`` limits calls and ticks."""
        self._world, self.deadlines = world, deadlines
        self._threads: dict[str, ThreadPoolExecutor] = {}
        self._heartbeat: Heartbeat = lambda _phase, _n: None
        self._captured: TickState | None = None
        self._last: TickState | None = None  # of the last passed tick; reading all actors costs as much as the tick
        self._pause: Callable[[bool], None] = lambda _paused: None
        self._held = self._sent_before = False
        self.way: EngineWay = ""
        self.ticks_passed = 0

    def begin(self, heartbeat: Heartbeat) -> None:
        """Start a scene. Commands sent to vehicles before take effect in the next tick, paused or not."""
        self._heartbeat, self._sent_before, self._last = heartbeat, True, None

    def ask(
        self, jobs: Mapping[str, Callable[[], T]], *, doing: str, ticks: bool = True, within_s: float | None = None
    ) -> dict[str, T]:
        """Run jobs concurrently, each in the thread of its name, and return their results.

        Args:
            jobs: by thread name; a client belongs to one thread.
            doing: for messages.
            ticks: pass ticks meanwhile, in a paused world; False for calls that AirSim always answers.
            within_s: time limit for images and long jobs, besides the client's own for each call.

        Raises:
            SimulatorLost: a call was not answered despite ticks.
            SceneVoid: an actor moved in a tick of the paused world.
        """
        futures = {name: self._thread(name).submit(job) for name, job in jobs.items()}
        if ticks and self.way == "":
            done = not wait(futures.values(), timeout=_PATIENCE_S).not_done
            self.way = "free" if done else "ticks"
        if ticks and self.way == "ticks":
            try:
                self._tick_until(list(futures.values()), doing, within_s=within_s or self.deadlines.airsim_s)
            except SystemFailure:
                self._pass_last_ticks(list(futures.values()))
                raise
        return {name: future.result() for name, future in futures.items()}

    def _thread(self, name: str) -> ThreadPoolExecutor:
        if name not in self._threads:
            self._threads[name] = ThreadPoolExecutor(1, thread_name_prefix=name)
        return self._threads[name]

    def _tick_until(self, futures: list[Future[T]], doing: str, *, within_s: float) -> None:
        end = time.monotonic() + within_s
        while wait(futures, timeout=_TICK_WAIT_S).not_done:
            self.pass_tick(within_s=within_s)
            if any(future.done() and future.exception() for future in futures):
                self._pass_last_ticks(futures)
                return
            if time.monotonic() > end:
                raise SimulatorLost(f"AirSim did not answer within {within_s:g} s of ticks while {doing}")

    def _pass_last_ticks(self, futures: list[Future[T]]) -> None:
        """Pass ticks for calls that still wait, after a failure: the scene is void, but the threads are needed again."""
        self._captured = None
        for _ in range(_LAST_TICKS):
            if not wait(futures, timeout=_TICK_WAIT_S).not_done:
                return
            self._world.cue()

    def pass_tick(self, *, still: bool = True, within_s: float | None = None) -> TickState:
        """Run the game thread once in a paused world, and verify that nothing moved.

        Args:
            still: refuse motion since the previous tick, except in a scene's first one. A tick that moves traffic before a
                scene's first image would change the scene of a seed.
            within_s: time limit of the tick, in which AirSim renders images.

        Raises:
            SimulatorLost: the server sends no snapshot of that tick.
            SceneVoid: an actor moved.
        """
        before = self._last if self._last is not None and self._last.frame == self._world.frame else self._world.now()
        self._last = None
        self._world.cue()
        state = self._newer_than(before.frame, within_s=within_s or self.deadlines.call_s)
        if state is None:
            raise SimulatorLost(
                f"no snapshot came after frame {before.frame} under simPause; topology merged does not support this build"
            )
        self._world.paused_s += state.elapsed_s - before.elapsed_s
        self.ticks_passed += 1
        if self.ticks_passed % _HEARTBEAT_TICKS == 0:
            self._heartbeat("swarm", self.ticks_passed)
        still, self._sent_before = still and not self._sent_before, False
        if self._captured is not None or still:
            _refuse_motion(self._captured or before, state)
        self._last = state
        return state

    def _newer_than(self, frame: int, *, within_s: float) -> TickState | None:
        for _ in range(math.ceil(within_s / _REPORT_S)):
            state = self._world.newer_than(frame, timeout_s=min(_REPORT_S, within_s))
            if state is not None:
                return state
            self._heartbeat("swarm", self.ticks_passed)
        return None

    def hold(self, pause: Callable[[bool], None]) -> TickState:
        """Pause the world, and return the state that images show from now on.

        It is that of an additional tick: teleports of the Traffic Manager's hybrid mode are sent after the last tick, and
        take effect in the next one, paused or not.

        Args:
            pause: calls ``simPause``, which needs no game thread.
        """
        self._pause, self._captured, self._held = pause, None, True
        pause(True)
        self._captured = self.pass_tick(still=False)
        return self._captured

    @contextlib.contextmanager
    def proven(self) -> Iterator[None]:
        """Context for captures of a paused world; a final tick verifies that it stood still, then it continues.

        Raises:
            SceneVoid: an actor moved.
        """
        try:
            yield
            if self._captured is not None:
                self.pass_tick()
        finally:
            self.release()

    def release(self) -> None:
        """Continue a paused world, also after a scene that ended while it was paused."""
        held, self._held, self._captured = self._held, False, None
        if held:
            self._pause(False)

    def close(self) -> None:
        """Stop the threads."""
        for thread in self._threads.values():
            thread.shutdown(wait=False, cancel_futures=True)  # a thread that waits for a tick waits indefinitely
        self._threads = {}


def largest_move_m(before: TickState, after: TickState) -> tuple[float, int]:
    """Return the largest movement of an actor, metres, and its instance id; 0 and 0 without actors.

    Raises:
        SceneVoid: actors appeared or disappeared.
    """
    if not np.array_equal(before.actors.instance_id, after.actors.instance_id):
        raise SceneVoid(f"actors appeared or vanished between frames {before.frame} and {after.frame}, under simPause")
    if not len(before.actors.instance_id):
        return 0.0, 0
    off = after.actors.map_SE3_actor.translation_m - before.actors.map_SE3_actor.translation_m
    turn_deg = np.abs((after.actors.ue_euler_deg - before.actors.ue_euler_deg + 180.0) % 360.0 - 180.0).max(axis=1)
    move_m = np.linalg.norm(off, axis=1) + np.radians(turn_deg)  # a turn moves points a metre off the origin
    row = int(move_m.argmax())
    return float(move_m[row]), int(before.actors.instance_id[row])


def _refuse_motion(captured: TickState, state: TickState) -> None:
    move_m, instance_id = largest_move_m(captured, state)
    if move_m > _STILL_M:
        raise SceneVoid(
            f"simPause does not hold the world: actor {instance_id} moved {move_m:.3f} m from frame {captured.frame} to "
            f"{state.frame}; pedestrians that CARLA's client walks always do (traffic: walkers: 0)"
        )
