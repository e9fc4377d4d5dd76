"""Which tick after ``listen()`` sends first: the next one (CARLA 0.9.14 and later, PR 5616), or the one after it."""

import threading
from collections.abc import Collection

from uavsim.errors import MissedTick, SimulatorError
from uavsim.simulate.carla.world import CarlaWorld

__all__ = ["FirstImage"]


class FirstImage:
    """Watches the RGB cameras that are listened to first in a session; the latest of them decides.

    Attributes:
        TICKS: how long before a scene's first step a camera is to be listened to, so that the answer is known by then.
    """

    TICKS = 3

    def __init__(self) -> None:
        """Know nothing yet."""
        self._lag: int | None = None
        self._listened_at: int | None = None  # step
        self._cameras: frozenset[int] = frozenset()
        self._first_frame: dict[int, int] = {}  # by camera
        self._all_came = threading.Event()

    def listened(self, step: int, cameras: Collection[int]) -> None:
        """Note the numbers of the RGB cameras that are listened to at ``step``, before they are."""
        if self._listened_at is None and cameras:
            self._listened_at, self._cameras = step, frozenset(cameras)

    def note(self, camera: int, frame: int) -> None:
        """Note an image; called in libcarla's threads."""
        if camera in self._cameras and camera not in self._first_frame:
            self._first_frame[camera] = frame
            if len(self._first_frame) == len(self._cameras):
                self._all_came.set()

    def lag(self, step: int, world: CarlaWorld, *, deadline_s: float) -> int | None:
        """Return how many ticks late a camera sends after ``listen()``, 0 or 1; None while two ticks have not passed.

        Args:
            step: that is prepared; the world's last tick was that of the step before.
            world: whose frames are counted.
            deadline_s: for the images that tell.

        Raises:
            MissedTick: an image did not come in time.
            SimulatorError: it came later than of any known server.
        """
        if self._lag is not None or self._listened_at is None or step - self._listened_at < 2:
            return self._lag
        if not self._all_came.wait(deadline_s):
            late = len(self._cameras) - len(self._first_frame)
            raise MissedTick(
                f"step {step}: no image came within {deadline_s:g} s of the two ticks after listen(), from {late} of "
                f"{len(self._cameras)} cameras"
            )
        lag = max(self._first_frame.values()) - (world.frame - (step - 1 - self._listened_at))
        if lag not in (0, 1):
            raise SimulatorError(f"the first image after listen() came {lag} ticks late; 0 and 1 are handled")
        self._lag = lag
        return lag
