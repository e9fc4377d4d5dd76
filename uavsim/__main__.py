"""``python -m uavsim`` and the command ``uavsim``; a signal ends them with one line from the start."""

import os
import signal
import sys
from pathlib import Path

import uavsim


def main() -> None:
    """Import the command line and run it; nothing needs cleanup before it installs its own signal handlers."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    _refuse_another_package()
    # Before numpy is imported: our products are small, threads that wait for each other cost more than they bring, and sums
    # that are split by the number of cores would end in other bits on another machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from uavsim.cli import main as run

    run(take_signals=True)


def _refuse_another_package() -> None:
    """Refuse a different package ``uavsim`` from an index: installed over this one, it would replace files."""
    if getattr(uavsim, "__distribution__", None) != "uavsim-datagen":
        folder = Path(__file__).parent
        print(  # noqa: T201 (before the screen is)
            f"error: {folder} also has files of another package named 'uavsim' from a package index; "
            "pip uninstall uavsim, then install uavsim-datagen again",
            file=sys.stderr,
        )
        sys.exit(2)


def _end(*_: object) -> None:
    os.write(2, b"error: interrupted; run the same command again\n")
    os._exit(130)


if __name__ == "__main__":
    main()
