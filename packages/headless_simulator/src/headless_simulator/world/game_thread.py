"""The game thread of a build with CARLA and AirSim in one process: its calls are served only within ticks.

In synchronous mode CARLA's ``FCarlaEngine::OnPreTick`` keeps Unreal's game thread in a loop until a tick request. The loop
serves only CARLA's calls. AirSim runs many of its calls on that thread (``UAirBlueprintLib::RunCommandOnGameThread``;
``RenderRequest::getScreenshot``) and waits for their end without a time-out, so that such a call between two ticks waits for
the next tick. While no client owns the clock, frames run freely and calls are served immediately.

``simPause`` also calls ``UGameplayStatics::SetGamePaused`` (AirSim, ``ASimModeBase::pause``). The effect of a tick in a paused
game has not been measured: each assumption is a switch of ``EngineRules`` with its source.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

from headless_simulator.errors import ClientError

Part = Literal["scene", "image"]
_MARKS: Final = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class EngineRules:
    """A build's behaviour; the defaults follow the sources.

    Attributes:
        waits_for_tick: calls that need the game thread wait for a tick (CARLA 0.9.16, ``CarlaEngine.cpp``, ``OnPreTick``;
            CarlaAir issue 42). False: the free engine, which no public build has.
        pause_freezes: actors and traffic lights stand still under ``simPause`` (Unreal ticks no actor of a paused game).
        pause_sends_snapshots: a tick under a pause sends CARLA's snapshot (``OnPostTick`` depends on the world's tick, which
        continues in a paused game; its sender ignores pauses).
        pause_keeps_counting: CARLA's elapsed time continues under a pause (``OnPreTick`` adds the step before any check of
        the pause, ``TickTimers``).
    """

    waits_for_tick: bool = False
    pause_freezes: bool = True
    pause_sends_snapshots: bool = True
    pause_keeps_counting: bool = True

    def assuming(self, words: list[str]) -> EngineRules:
        """Parse rules such as ``pause-freezes=no``.

        Raises:
            ClientError: unknown rule, or a value other than yes and no.
        """
        names = {field.name.replace("_", "-"): field.name for field in fields(self) if field.name != "waits_for_tick"}
        rules = self
        for word in words:
            name, _, mark = word.partition("=")
            if name not in names or mark not in _MARKS:
                raise ClientError(
                    f"--merged-assume {word!r}: write RULE=yes or RULE=no, RULE one of {', '.join(names)}"
                )
            rules = replace(rules, **{names[name]: _MARKS[mark]})
        return rules


class _Call:
    """A call that waits for the game thread."""

    def __init__(self, part: Part, late_frames: int) -> None:
        self.part, self.late_frames = part, late_frames
        self.turn, self.done = threading.Event(), threading.Event()


class GameThread:
    """Serves calls of the game thread per frame; by default immediately.

    Args:
        rules: the build's rules.

    Attributes:
        is_synchronous: whether a client owns the clock; otherwise frames run freely.
        paused: whether ``simPause`` paused the game.
        leaks: ticks that leak through a pause, as an injected fault.
    """

    def __init__(self, rules: EngineRules = EngineRules()) -> None:
        self.rules = rules
        self.is_synchronous: Callable[[], bool] = lambda: False
        self.paused = False
        self.leaks = 0
        self._lock = threading.Lock()
        self._waiting: list[_Call] = []

    def run(self, act: Callable[[], Any], *, part: Part, late_frames: int = 0) -> Any:
        """Run ``act`` within a frame and return its result.

        Args:
            act: runs in the calling thread.
            part: part of the frame; images come at its end.
            late_frames: frames that an injected fault delays the call by.
        """
        if not self.rules.waits_for_tick or not self.is_synchronous():
            return act()
        call = _Call(part, late_frames)
        with self._lock:
            self._waiting.append(call)
        call.turn.wait()
        try:
            return act()
        finally:
            call.done.set()

    def frame(self) -> None:
        """Serve all earlier calls in order, and images together at the frame's end."""
        with self._lock:
            calls = [call for call in self._waiting if call.late_frames <= 0]
            for call in self._waiting:
                call.late_frames -= 1
            self._waiting = [call for call in self._waiting if call not in calls]
        for call in calls:
            if call.part == "scene":
                call.turn.set()
                call.done.wait()
        images = [call for call in calls if call.part == "image"]
        for call in images:
            call.turn.set()
        for call in images:
            call.done.wait()

    @property
    def waiting(self) -> int:
        """Return the number of calls that wait for a frame."""
        with self._lock:
            return len(self._waiting)

    def pause(self, paused: bool) -> None:
        """Pause or resume the game."""
        self.paused = paused

    def takes_step(self) -> bool:
        """Return whether the world moves in the next tick."""
        if self.leaks > 0:
            self.leaks -= 1
            return True
        return not (self.paused and self.rules.waits_for_tick and self.rules.pause_freezes)

    @property
    def sends_snapshot(self) -> bool:
        """Return whether the next tick sends a snapshot."""
        return not (self.paused and self.rules.waits_for_tick) or self.rules.pause_sends_snapshots
