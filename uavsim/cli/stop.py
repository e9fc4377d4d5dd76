"""Ctrl-C, SIGTERM and SIGHUP: the first one interrupts any command, which then cleans up."""

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
_PATIENCE_S: Final = 10.0  # a second signal later than this ends the process at once
_AGAIN_S: Final = 0.02
_EXIT_S: Final = 5


class StopSignals:
    """Raises ``KeyboardInterrupt`` in the main thread on the first signal; later ones do not disturb the cleanup.

    Signals that are ignored at the start of the process, as under ``nohup``, stay ignored.
    """

    def __init__(self) -> None:
        self._since_s: float | None = None
        self._code: int | None = None
        self._taken = False

    def install(self) -> None:
        """Install the signal handlers."""
        self._taken = True
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)
        signal.signal(signal.SIGALRM, self._stop)
        sys.unraisablehook = self._raise_again
        atexit.register(self._leave)

    def end_with(self, code: int) -> None:
        """End the process at once on later signals, with the given exit code, because the work is done.

        Threads of libraries get five seconds to send pending data, such as reports to a lost Prefect server.
        """
        self._code = code
        for number in (*_SIGNALS, signal.SIGALRM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: os._exit(code))
        signal.alarm(_EXIT_S)

    @property
    def is_unsignalled(self) -> bool:
        """Return whether the handlers are installed and no signal came."""
        return self._taken and self._since_s is None

    def raise_if_signalled(self, error: BaseException) -> None:
        """Raise ``KeyboardInterrupt`` if a signal came, in place of a library's error.

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
        """End the process after all other exit handlers.

        During finalisation the interpreter has no handlers, and after interrupted imports it kills itself by SIGINT.
        """
        if self._code is not None:
            os._exit(self._code)

    def _raise_again(self, unraisable: UnraisableHookArgs) -> None:
        """Raise the interrupt again after the interpreter dropped it in a destructor or callback."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._since_s = None
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            sys.__unraisablehook__(unraisable)
