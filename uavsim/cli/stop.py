"""Ctrl-C, SIGTERM and SIGHUP: the first one stops the work, whatever the command; what was begun is put in order."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S: Final = 10.0  # who asks again later than this does not want to wait for order
_AGAIN_S: Final = 0.02
_EXIT_S: Final = 5


class StopSignals:
    """Lets the first signal raise ``KeyboardInterrupt`` in the main thread; more of them do not disturb the tidying up.

    A signal that is ignored when the process starts, as ``nohup`` has it, stays ignored.
    """

    def __init__(self) -> None:
        self._since_s: float | None = None
        self._code: int | None = None
        self._taken = False

    def install(self) -> None:
        """Take the signals."""
        self._taken = True
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)
        signal.signal(signal.SIGALRM, self._stop)
        sys.unraisablehook = self._lost
        atexit.register(self._leave)

    def end_with(self, code: int) -> None:
        """Let a signal end the process at once from now on: the work is done, its exit code is known.

        Threads of libraries that still have something to send, as to a Prefect server that is gone, are given five seconds.
        """
        self._code = code
        for number in (*_SIGNALS, signal.SIGALRM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: os._exit(code))
        signal.alarm(_EXIT_S)

    @property
    def is_unasked(self) -> bool:
        """Return whether the signals are taken and none came."""
        return self._taken and self._since_s is None

    def raise_if_asked(self, error: BaseException) -> None:
        """Call what a library made of the interrupt by its name.

        Raises:
            KeyboardInterrupt: a signal came.
        """
        if self._since_s is not None:
            raise KeyboardInterrupt from error

    def _stop(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        now_s = time.monotonic()
        if self._since_s is None:
            self._since_s = now_s
            raise KeyboardInterrupt
        if now_s - self._since_s > _PATIENCE_S:
            os._exit(INTERRUPTED)

    def _leave(self) -> None:
        """End here, behind everybody else's last work.

        An interpreter that is taken apart has no handlers, and one whose imports were interrupted kills itself by SIGINT.
        """
        if self._code is not None:
            os._exit(self._code)

    def _lost(self, unraisable: UnraisableHookArgs) -> None:
        """Ask again when the interpreter dropped the interrupt, as it does in destructors and callbacks."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._since_s = None
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            sys.__unraisablehook__(unraisable)
