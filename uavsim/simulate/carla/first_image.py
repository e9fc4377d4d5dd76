"""Which tick after ``listen()`` sends first: the next one (CARLA 0.9.14 and later, PR 5616), or the one after it."""

import threading

from uavsim.errors import MissedTick, SimulatorError
from uavsim.simulate.carla.world import CarlaWorld

__all__ = ["FirstImage"]


class FirstImage:
    """Watches one camera of a session from its first ``listen()`` on.

    Attributes:
        TICKS: how long before a scene's first step that camera is to be listened to, so that the answer is known by then.
    """

    TICKS = 3

    def __init__(self) -> None:
        """Know nothing yet."""
        self._lag: int | None = None
        self._listened_at: int | None = None  # step
        self._first_frame = 0
        self._came = threading.Event()

    def listened(self, step: int) -> None:
        """Note that the camera is listened to at ``step``."""
        if self._listened_at is None:
            self._listened_at = step

    def note(self, frame: int) -> None:
        """Note an image of the camera; called in libcarla's threads."""
        if not self._came.is_set():
            self._first_frame = frame
            self._came.set()

    def lag(self, step: int, world: CarlaWorld, *, deadline_s: float) -> int | None:
        """Return how many ticks late a camera sends after ``listen()``, 0 or 1; None while two ticks have not passed.

        Args:
            step: that is prepared; the world's last tick was that of the step before.
            world: whose frames are counted.
            deadline_s: for the image that tells.

        Raises:
            MissedTick: no image came in time.
            SimulatorError: it came later than of any known server.
        """
        if self._lag is not None or self._listened_at is None or step - self._listened_at < 2:
            return self._lag
        if not self._came.wait(deadline_s):
            raise MissedTick(f"step {step}: no image came within {deadline_s:g} s of the two ticks after listen()")
        lag = self._first_frame - (world.frame - (step - 1 - self._listened_at))
        if lag not in (0, 1):
            raise SimulatorError(f"the first image after listen() came {lag} ticks late; 0 and 1 are handled")
        self._lag = lag
        return lag
