"""Notice that a client hangs in a tick that the server has long simulated, and wake it.

libcarla wakes its Traffic Manager without the lock under which the Traffic Manager begins to wait: the wake-up may be lost,
and then tick and Traffic Manager wait for each other, below every time-out (CARLA's issue 9172, fixed after 0.9.16). It looks
like nothing else: the state of the tick that was asked for is here, and the call does not return. A world that can wake its
Traffic Manager does, and the flight goes on where it was: with the step that was missed. Where that does not help, the client
is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, runtime_checkable

_WOKEN_S: Final = 10.0  # in which a client that was woken comes back
_LOOK_S: Final = 1.0
_PHASES: Final = ("warmup", "fly")


@runtime_checkable
class ReportsFrame(Protocol):
    """A ``WorldPort`` that knows the newest state that its server sent, in any thread.

    That of merged builds reports none: it lets ticks pass while it waits for images, and they mean nothing here.
    """

    @property
    def frame(self) -> int:
        """Number of that state."""


@runtime_checkable
class Wakes(Protocol):
    """A world that can wake what its tick waits for."""

    def wake(self) -> bool:
        """Wake it, from any thread; False where that cannot be."""


class HangWatch:
    """Watches one scene; use as a context manager.

    Args:
        world: whose ticks they are.
        on_hang: called once, in a thread of the watch, with the frame that the client does not come back from.
        on_woken: called in that thread with a frame whose tick was woken.
        limit_s: how long a client may take to return from a tick that is simulated, longer than any of its calls.
        woken_s: how long it may take after it was woken.
        look_s: how often somebody looks.
    """

    def __init__(
        self,
        world: ReportsFrame,
        on_hang: Callable[[int], None],
        *,
        on_woken: Callable[[int], None] = lambda _: None,
        limit_s: float,
        woken_s: float = _WOKEN_S,
        look_s: float = _LOOK_S,
    ) -> None:
        self._world, self._on_hang, self._on_woken = world, on_hang, on_woken
        self._limit_s, self._woken_s, self._look_s = limit_s, woken_s, look_s
        self._returned: int | None = None  # the last tick that the client came back from; None: it does something else
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="hang watch", daemon=True)

    def __enter__(self) -> HangWatch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def note(self, phase: str) -> None:
        """Note that the client came back from a tick; in phases with other work than ticks, nothing is watched."""
        self._returned = self._world.frame if phase in _PHASES else None

    def _watch(self) -> None:
        seen = None  # (frame, since when) of a state that is newer than the last tick that the client came back from
        woken = None  # the frame whose tick was woken last
        while not self._stop.wait(self._look_s):
            newest, returned = self._world.frame, self._returned
            if returned is None or newest <= returned:
                seen = None
                continue
            now = time.monotonic()
            if seen is None or seen[0] != newest:
                seen = (newest, now)
            elif now - seen[1] < (self._woken_s if woken == newest else self._limit_s):
                continue
            elif woken != newest and isinstance(self._world, Wakes) and self._world.wake():
                woken, seen = newest, (newest, time.monotonic())
                self._on_woken(newest)
            else:
                self._on_hang(newest)
                return
