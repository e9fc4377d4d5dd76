"""Collects the measurements of CARLA's sensors for a tick from libcarla's threads."""

import queue
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

import carla

from uavsim.errors import MissedTick
from uavsim.simulate.ports import Reading


class Inbox:
    """Collects the measurements of a tick.

    It opens before the tick is requested, when the tick's number is unknown; once that is known, it rejects measurements of
    other ticks.

    Attributes:
        frame: the tick's number, once known.
    """

    def __init__(self) -> None:
        self._arrived: queue.SimpleQueue[tuple[int, carla.SensorData]] = queue.SimpleQueue()
        self.frame: int | None = None
        self._closed = False
        self._came: set[tuple[int, int]] = set()  # sensor, tick
        self._one_came = threading.Condition()

    def put(
        self, index: int, measurement: carla.SensorData, *, copy: Callable[[Any], Any] = lambda taken: taken
    ) -> None:
        """Add a sensor's measurement, or a copy of it; called in libcarla's threads."""
        if not self._closed and self.frame in (None, measurement.frame):
            self._arrived.put((index, copy(measurement)))
            with self._one_came:
                self._came.add((index, measurement.frame))
                self._one_came.notify()

    def expect(self, frame: int) -> None:
        """Set the tick's number."""
        self.frame = frame

    def await_from(self, sensors: Collection[int], *, timeout_s: float) -> None:
        """Wait for the measurements of these sensors; a missing one is reported when the inbox is read."""
        with self._one_came:
            self._one_came.wait_for(lambda: all((index, self.frame) in self._came for index in sensors), timeout_s)

    def get(self, *, timeout_s: float) -> tuple[int, carla.SensorData]:
        """Return the next measurement and its sensor's number.

        Raises:
            queue.Empty: none arrived in time.
        """
        return self._arrived.get(timeout=timeout_s)

    def close(self) -> None:
        """Reject further measurements."""
        self._closed = True


class SensorsPending:
    """The measurements of a tick (``PendingReadings``)."""

    def __init__(
        self,
        inbox: Inbox,
        *,
        frame: int,
        names: list[str],
        silent: Collection[int],
        deadline_s: float,
        proven: Callable[[list[carla.SensorData | None]], list[Reading]],
    ) -> None:
        """Wrap an inbox.

        Args:
            inbox: inbox of the tick.
            frame: the tick's number.
            names: names of the sensors in the order of their numbers, for messages.
            silent: numbers of sensors that send nothing in this tick.
            deadline_s: time limit of ``wait``.
            proven: verifies the measurements (None for silent sensors) and converts them to readings.
        """
        inbox.expect(frame)
        self._inbox, self._frame, self._names = inbox, frame, names
        self._silent, self._deadline_s, self._proven = silent, deadline_s, proven

    def wait(self) -> list[Reading]:
        """See ``PendingReadings``."""
        images: list[carla.SensorData | None] = [None] * len(self._names)
        missing = len(images) - len(self._silent)
        end = time.monotonic() + self._deadline_s
        while missing:
            try:
                arrived = self._inbox.get(timeout_s=max(0.0, end - time.monotonic()))
            except queue.Empty:
                late = next(i for i, image in enumerate(images) if image is None and i not in self._silent)
                raise MissedTick(
                    f"tick {self._frame}: {missing} of {len(images)} images did not come within {self._deadline_s:g} s, "
                    f"first {self._names[late]}"
                ) from None
            index, image = arrived
            if image.frame > self._frame:  # no later tick was requested yet
                raise MissedTick(f"tick {self._frame}: {self._names[index]} sent an image of tick {image.frame}")
            expected = image.frame == self._frame and index not in self._silent
            if expected and images[index] is None:  # not late, and not a duplicate
                images[index] = image
                missing -= 1
        self._inbox.close()
        return self._proven(images)
