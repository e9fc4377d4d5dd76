"""Watch the start of a simulator: report silence, and kill a stopped process so that the start fails."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Final

from uavsim.supervise.simulator import Simulator

_LOOK_S: Final = 0.5
_SILENT_LOOKS: Final = 30  # 15 s


@contextlib.contextmanager
def watched_start(simulator: Simulator, *, kill: Callable[[], None]) -> Iterator[None]:
    """Watch a simulator in a thread while it and its client start; report by ``simulator.say``.

    Args:
        simulator: the starting simulator.
        kill: kills a stopped simulator and its waiting client.
    """
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(simulator, over, kill), daemon=True, name=f"start-{simulator.name}")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(simulator: Simulator, over: threading.Event, kill: Callable[[], None]) -> None:
    silent = stopped = 0  # looks in sequence
    printed_bytes = simulator.printed_bytes
    while not over.wait(_LOOK_S):
        silent = silent + 1 if simulator.printed_bytes == printed_bytes else 0
        stopped = stopped + 1 if simulator.is_stopped else 0
        printed_bytes = simulator.printed_bytes
        seconds = f"{_SILENT_LOOKS * _LOOK_S:g} s"
        if stopped == _SILENT_LOOKS:
            simulator.say(f"{simulator.name}: its process has been stopped (SIGSTOP) for {seconds} and is killed")
            kill()
        elif silent == _SILENT_LOOKS and not simulator.is_compiling:
            simulator.say(f"{simulator.name}: starts, no answer and no output for {seconds} so far{simulator.log_hint}")
