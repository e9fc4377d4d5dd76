"""``python -m uavsim``, and the command ``uavsim``: the command line, which a signal ends in one line from the start."""

from __future__ import annotations

import os
import signal

__all__ = ["main"]


def main() -> None:
    """Import the command line and run it; until it takes the signals itself, nothing is made that could be left behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    # Before numpy is imported: our products are small, threads that wait for each other cost more than they bring, and sums
    # that are split by the number of cores would end in other bits on another machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from uavsim.cli import main as run

    run(take_signals=True)


def _end(*_: object) -> None:
    os.write(2, b"error: interrupted; run the same command again\n")
    os._exit(130)


if __name__ == "__main__":
    main()
