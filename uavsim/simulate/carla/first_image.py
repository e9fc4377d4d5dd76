"""Measure which tick after ``listen()`` sends the first image: the next (CARLA 0.9.14 and later, PR 5616) or the second."""

import threading
from collections.abc import Collection

from uavsim.errors import MissedTick, SimulatorError
from uavsim.simulate.carla.world import CarlaWorld


class FirstImage:
    """Watches the first RGB cameras that a session listens to; the latest of them decides."""

    def __init__(self) -> None:
        """Start without a measurement."""
        self._lag: int | None = None
        self._listened_at: int | None = None  # step
        self._cameras: frozenset[int] = frozenset()
        self._first_frame: dict[int, int] = {}  # by camera
        self._all_came = threading.Event()

    def listened(self, step: int, cameras: Collection[int]) -> None:
        """Record the numbers of the RGB cameras that are about to be listened to at ``step``."""
        if self._listened_at is None and cameras:
            self._listened_at, self._cameras = step, frozenset(cameras)

    def note(self, camera: int, frame: int) -> None:
        """Record an image; called in libcarla's threads."""
        if camera in self._cameras and camera not in self._first_frame:
            self._first_frame[camera] = frame
            if len(self._first_frame) == len(self._cameras):
                self._all_came.set()

    def lag(self, step: int, world: CarlaWorld, *, deadline_s: float) -> int | None:
        """Return the lag of the first image after ``listen()``, 0 or 1 ticks; None before two ticks have passed.

        Args:
            step: being prepared; the world's last tick was the previous step.
            world: counts the frames.
            deadline_s: time limit for the images.

        Raises:
            MissedTick: an image did not come in time.
            SimulatorError: the lag is larger than that of any known server.
        """
        if self._lag is not None or self._listened_at is None or step - self._listened_at < 2:
            return self._lag
        if not self._all_came.wait(deadline_s):
            late = len(self._cameras) - len(self._first_frame)
            raise MissedTick(
                f"step {step}: {late} of {len(self._cameras)} cameras sent no image within {deadline_s:g} s of the "
                "two ticks after listen()"
            )
        lag = max(self._first_frame.values()) - (world.frame - (step - 1 - self._listened_at))
        if lag not in (0, 1):
            raise SimulatorError(f"the first image after listen() came {lag} ticks late; 0 and 1 are handled")
        self._lag = lag
        return lag
