"""Speak to AirSim inside a merged build, where half of its calls are answered within a CARLA tick only.

In synchronous mode CARLA keeps Unreal's game thread between two ticks, and AirSim's calls that need that thread wait for the
next one (docs/airsim-variants.md). A client that asks, then ticks, hangs. So each AirSim call runs in a thread with its own
client, and this thread ticks until all have answered. The ticks are passed while ``simPause`` holds the world, and without a
step of the Traffic Manager, so they let calls through and move nothing. That is not assumed: every snapshot of such a tick is
compared with the captured one.

Which kind of engine it is, is measured at the first connection: a call that returns without a tick has a free engine behind
it.
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

__all__ = ["EngineWay", "MergedEngine", "PausableWorld", "largest_move_m"]

EngineWay = Literal["", "free", "ticks"]
"""How AirSim's calls are answered: not measured yet, at once, or within a tick."""
_PATIENCE_S: Final = 2.0  # what returns without a tick has returned by then; a slower free engine is ticked for nothing
_PATIENT: Final = Deadlines()
_LOOK_S: Final = 10.0  # a tick that takes longer than this is reported as progress, up to its limit
_BREATH_S: Final = 0.002  # after a tick, for the next call of a thread to arrive
_STILL_M: Final = 1e-4  # float32 at a kilometre
_HEARTBEAT_TICKS: Final = 20
_LAST_TICKS: Final = 200
T = TypeVar("T")


class PausableWorld(Protocol):
    """The engine's needs of the CARLA world."""

    paused_s: float

    def cue(self) -> None:
        """Ask for a tick of the server alone; returns at once."""

    def newer_than(self, frame: int, *, timeout_s: float) -> TickState | None:
        """Wait for the state of a later frame; None when none comes."""

    def now(self) -> TickState:
        """Return the last state that the server sent."""

    @property
    def frame(self) -> int:
        """Of that state, which is not read for it."""


class MergedEngine:
    """Runs AirSim's calls in threads of their own, with the ticks that they need."""

    def __init__(self, world: PausableWorld, *, deadlines: Deadlines = _PATIENT) -> None:
        """Take the CARLA half; nothing is measured yet. Calls and ticks may take as long as ``deadlines`` say."""
        self._world, self.deadlines = world, deadlines
        self._threads: dict[str, ThreadPoolExecutor] = {}
        self._heartbeat: Heartbeat = lambda _phase, _n: None
        self._captured: TickState | None = None
        self._last: TickState | None = None  # of the last tick passed: reading all actors costs as much as the tick
        self._pause: Callable[[bool], None] = lambda _paused: None
        self._held = self._sent_before = False
        self.way: EngineWay = ""
        self.ticks_passed = 0

    def begin(self, heartbeat: Heartbeat) -> None:
        """Name whom to report progress to. What was sent to the vehicles before shows in the next tick, pause or not."""
        self._heartbeat, self._sent_before, self._last = heartbeat, True, None

    def ask(
        self, jobs: Mapping[str, Callable[[], T]], *, doing: str, ticks: bool = True, within_s: float | None = None
    ) -> dict[str, T]:
        """Carry out jobs at the same time, each in the thread of its name, and return what they return.

        Args:
            jobs: by name of the thread; a client lives in one thread only.
            doing: for messages.
            ticks: pass ticks meanwhile, which only a paused world takes; off for calls that AirSim answers at any time.
            within_s: for images, and jobs of thousands of calls; each call has its client's time-out besides.

        Raises:
            SimulatorLost: no answer came, however many ticks were passed.
            SceneVoid: a tick that was to move nothing moved something.
        """
        futures = {name: self._thread(name).submit(job) for name, job in jobs.items()}
        if ticks and self.way == "":
            done = not wait(futures.values(), timeout=_PATIENCE_S).not_done
            self.way = "free" if done else "ticks"
        if ticks and self.way == "ticks":
            try:
                self._tick_until(list(futures.values()), doing, within_s=within_s or self.deadlines.airsim_s)
            except SystemFailure:
                self._let_go(list(futures.values()))
                raise
        return {name: future.result() for name, future in futures.items()}

    def _thread(self, name: str) -> ThreadPoolExecutor:
        if name not in self._threads:
            self._threads[name] = ThreadPoolExecutor(1, thread_name_prefix=name)
        return self._threads[name]

    def _tick_until(self, futures: list[Future[T]], doing: str, *, within_s: float) -> None:
        end = time.monotonic() + within_s
        while wait(futures, timeout=_BREATH_S).not_done:
            self.pass_tick(within_s=within_s)
            if any(future.done() and future.exception() for future in futures):
                self._let_go(futures)
                return
            if time.monotonic() > end:
                raise SimulatorLost(f"AirSim did not answer within {within_s:g} s of ticks while {doing}")

    def _let_go(self, futures: list[Future[T]]) -> None:
        """Pass ticks for calls that still wait, whatever they move: the scene is void, the threads are needed again."""
        self._captured = None
        for _ in range(_LAST_TICKS):
            if not wait(futures, timeout=_BREATH_S).not_done:
                return
            self._world.cue()

    def pass_tick(self, *, still: bool = True, within_s: float | None = None) -> TickState:
        """Let the game thread run once in a paused world; what it moves, it must not.

        Args:
            still: nothing may have moved since the tick before, but in a scene's first one. A tick that moves traffic unseen,
                before a scene's first image, makes it another scene than that of its seed.
            within_s: how long the tick may take: AirSim draws images in it.

        Raises:
            SimulatorLost: the server sends no snapshot of that tick.
            SceneVoid: something moved.
        """
        before = self._last if self._last is not None and self._last.frame == self._world.frame else self._world.now()
        self._last = None
        self._world.cue()
        state = self._newer_than(before.frame, within_s=within_s or self.deadlines.call_s)
        if state is None:
            raise SimulatorLost(
                f"no snapshot came of the tick after {before.frame}, under simPause; this build cannot be captured"
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
        for _ in range(math.ceil(within_s / _LOOK_S)):
            state = self._world.newer_than(frame, timeout_s=min(_LOOK_S, within_s))
            if state is not None:
                return state
            self._heartbeat("swarm", self.ticks_passed)
        return None

    def hold(self, pause: Callable[[bool], None]) -> TickState:
        """Hold the world, and return the state that it is held at: what images show from now on.

        It is that of a tick of its own. What the Traffic Manager teleports in hybrid mode was sent after the last tick, and
        shows in the next one, pause or not.

        Args:
            pause: calls ``simPause``, which needs no game thread.
        """
        self._pause, self._captured, self._held = pause, None, True
        pause(True)
        self._captured = self.pass_tick(still=False)
        return self._captured

    @contextlib.contextmanager
    def proven(self) -> Iterator[None]:
        """Take images of a held world; one more tick looks at whether it stood still, then it goes on.

        Raises:
            SceneVoid: it did not stand still.
        """
        try:
            yield
            if self._captured is not None:
                self.pass_tick()
        finally:
            self.release()

    def release(self) -> None:
        """Let a held world go on; a scene that ended while it was held must not hold the next one's traffic."""
        held, self._held, self._captured = self._held, False, None
        if held:
            self._pause(False)

    def close(self) -> None:
        """End the threads."""
        for thread in self._threads.values():
            thread.shutdown(wait=False, cancel_futures=True)  # one that waits for a tick waits for ever
        self._threads = {}


def largest_move_m(before: TickState, after: TickState) -> tuple[float, int]:
    """Return how far the actor that moved most moved, and its instance id; 0 and 0 without actors.

    Raises:
        SceneVoid: actors came or went.
    """
    if not np.array_equal(before.actors.instance_id, after.actors.instance_id):
        raise SceneVoid(f"actors came or went between frames {before.frame} and {after.frame}, under simPause")
    if not len(before.actors.instance_id):
        return 0.0, 0
    off = after.actors.map_SE3_actor.translation_m - before.actors.map_SE3_actor.translation_m
    turn_deg = np.abs((after.actors.ue_euler_deg - before.actors.ue_euler_deg + 180.0) % 360.0 - 180.0).max(axis=1)
    move_m = np.linalg.norm(off, axis=1) + np.radians(turn_deg)  # a turn moves what is a metre off the origin
    row = int(move_m.argmax())
    return float(move_m[row]), int(before.actors.instance_id[row])


def _refuse_motion(captured: TickState, state: TickState) -> None:
    move_m, instance_id = largest_move_m(captured, state)
    if move_m > _STILL_M:
        raise SceneVoid(
            f"simPause does not hold the world: actor {instance_id} moved {move_m:.3f} m from frame {captured.frame} to "
            f"{state.frame}; pedestrians that CARLA's client walks always do (traffic: walkers: 0)"
        )
