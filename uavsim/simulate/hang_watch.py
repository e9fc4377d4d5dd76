"""Detect a client that hangs in a tick that the server has simulated, and wake it.

libcarla notifies its Traffic Manager without the lock under which the Traffic Manager begins to wait: the notification may be
lost, and then tick and Traffic Manager wait for each other, below every time-out (CARLA's issue 9172, fixed after 0.9.16). The
symptom is unique: the state of the requested tick has arrived, and the call does not return. A world that can wake its Traffic
Manager does so, and the flight continues with the missed step. If that does not help, the client is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, runtime_checkable

_WOKEN_S: Final = 10.0  # time limit of a woken client
_POLL_S: Final = 1.0
_PHASES: Final = ("warmup", "fly")


@runtime_checkable
class WakeableWorld(Protocol):
    """A ``WorldPort`` with ticks that can hang; merged builds pass ticks while they wait for images, and are excluded."""

    @property
    def frame(self) -> int:
        """Frame number of the newest state that the server sent, in any thread."""

    def wake(self) -> bool:
        """Wake the hanging tick from any thread; returns False on failure."""


class HangWatch:
    """Watches a scene; use as a context manager.

    Args:
        world: to watch.
        on_hang: called once, in the watch's thread, with the frame from which the client does not return.
        on_woken: called in that thread with the frame of a woken tick.
        limit_s: time limit of the client's return from a simulated tick, longer than any of its calls.
        woken_s: time limit after it was woken.
        poll_s: polling interval.
    """

    def __init__(
        self,
        world: WakeableWorld,
        on_hang: Callable[[int], None],
        *,
        on_woken: Callable[[int], None] = lambda _: None,
        limit_s: float,
        woken_s: float = _WOKEN_S,
        poll_s: float = _POLL_S,
    ) -> None:
        self._world, self._on_hang, self._on_woken = world, on_hang, on_woken
        self._limit_s, self._woken_s, self._poll_s = limit_s, woken_s, poll_s
        self._returned: int | None = None  # frame of the last tick that returned; None in phases without ticks
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="hang watch", daemon=True)

    def __enter__(self) -> HangWatch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def note(self, phase: str) -> None:
        """Record that the client returned from a tick; phases with other work than ticks are not watched."""
        self._returned = self._world.frame if phase in _PHASES else None

    def _watch(self) -> None:
        pending = None  # (frame, time) of a state that is newer than the last returned tick
        woken = None  # frame of the last woken tick
        while not self._stop.wait(self._poll_s):
            newest, returned = self._world.frame, self._returned
            if returned is None or newest <= returned:
                pending = None
                continue
            now = time.monotonic()
            if pending is None or pending[0] != newest:
                pending = (newest, now)
            elif now - pending[1] < (self._woken_s if woken == newest else self._limit_s):
                continue
            elif woken != newest and self._world.wake():
                woken, pending = newest, (newest, time.monotonic())
                self._on_woken(newest)
            else:
                self._on_hang(newest)
                return
