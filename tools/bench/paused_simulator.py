"""The headless simulator with a note of when its graphics card works: ``python -m tools.bench.paused_simulator FILE MS ...``.

``--render-latency MS`` stands for a graphics card: images wait for it one after the other. The begin and end of its work on
each of them (``time.monotonic``) become a line of FILE; nothing else of the simulator is changed.
"""

import os
import sys

from headless_simulator.cli import main
from headless_simulator.rendering import GraphicsCard


def noting(file: str) -> None:
    """Let the work of every card be noted in a file."""
    notes = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    make = GraphicsCard.make

    def noted(self: GraphicsCard) -> tuple[float, float]:
        began_s, ended_s = make(self)
        os.write(notes, f"{began_s:.6f} {ended_s:.6f}\n".encode())
        return began_s, ended_s

    setattr(GraphicsCard, "make", noted)  # noqa: B010 (mypy knows that it is a method)


if __name__ == "__main__":
    noting(sys.argv[1])
    sys.argv[1:3] = ["--render-latency", sys.argv[2]]
    main()
