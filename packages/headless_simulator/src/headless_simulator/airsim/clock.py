"""The thread that advances simulated time: with the wall clock, or at full speed for ``simContinueForTime``."""

import threading
import time
from collections.abc import Callable
from typing import Final

from headless_simulator.airsim.fleet import STEP_NS, Fleet

CATCH_UP_S: Final = 0.25  # a busy machine falls behind instead of jumping
TURN_S: Final = 0.004
ALONE_TURN_S: Final = 0.05  # without a connected client: an idle simulator takes a fiftieth of a core, not a twelfth
BURST_NS: Final = 60_000_000  # longest simulated time under one hold of the lock


class ClockThread:
    """Advances a fleet's time until stopped.

    Args:
        fleet: the vehicles and their time.
        every_turn: called once per loop with the simulated time, without the fleet's lock.
    """

    def __init__(self, fleet: Fleet, *, every_turn: Callable[[int], None]) -> None:
        self._fleet, self._every_turn = fleet, every_turn
        self._stopping, self._turn_s = False, TURN_S
        self._thread = threading.Thread(target=self._run, name="airsim-clock", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and join it."""
        with self._fleet.lock:
            self._stopping = True
            self._fleet.changed.notify_all()
        self._thread.join()

    def watch(self, *, watched: bool) -> None:
        """Advance time in fine increments while clients are connected, else in coarse ones; flight steps stay 3 ms."""
        with self._fleet.lock:
            self._turn_s = TURN_S if watched else ALONE_TURN_S
            self._fleet.changed.notify_all()

    def _run(self) -> None:
        fleet, last_s, owed_s = self._fleet, time.monotonic(), 0.0
        while not self._stopping:
            self._every_turn(fleet.now_ns)
            with fleet.lock:
                if not fleet.running:
                    fleet.changed.wait()
                    last_s, owed_s = time.monotonic(), 0.0
                    continue
                if fleet.budget is not None:
                    fleet.run_for(BURST_NS)
                    last_s, owed_s = time.monotonic(), 0.0
                    continue
                now_s = time.monotonic()
                speed = fleet.settings.clock_speed
                owed_s = min(owed_s + (now_s - last_s) * speed, CATCH_UP_S * max(1.0, speed))
                last_s = now_s
                steps_ns = int(owed_s * 1e9) // STEP_NS * STEP_NS
                fleet.run_for(min(steps_ns, BURST_NS))
                owed_s -= min(steps_ns, BURST_NS) * 1e-9
                if owed_s < TURN_S * speed:
                    fleet.changed.wait(self._turn_s)
