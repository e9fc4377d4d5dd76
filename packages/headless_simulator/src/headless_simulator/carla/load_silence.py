"""The silence around a load: without it the unmodified client crashes.

``load_world`` in libcarla 0.9.16 calls ``load_new_episode``, drops its ``Episode`` on the answer, and makes a new one.
Dropping it stops the reader of the episode's stream, which is registered by the stream's number. If the client's network
thread is delivering a snapshot at that time, it holds the last reference: it drops the old ``Episode`` later and stops the
reader of the new one, which is then used after free. A real server sends nothing meanwhile, because its game thread loads
the map. Therefore no tick happens between the load and the loader's request for the new episode's stream, and the answer
to the load waits until earlier snapshots are delivered.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Final

from headless_simulator.carla import snapshot, wire
from headless_simulator.carla.streams import EPISODE_STREAM, Streams
from headless_simulator.world.world import World

DELIVERY_S: Final = 0.05  # from sending a snapshot to the end of its delivery in a busy client
_BUSY: Final = 2.0  # threads that want to run, for each processor: with more, delivery takes longer
_LONGEST_DELIVERY_S: Final = 0.25
LOADER_WAIT_S: Final = 1.0  # a loader without a request by then is not libcarla, or has disconnected
_SENDING_LIMIT_S: Final = 1.0


def delivery_s(load: float) -> float:
    """Return the longest delivery time of a snapshot, seconds, at ``load`` runnable threads per processor."""
    return min(DELIVERY_S * max(load / _BUSY, 1.0), _LONGEST_DELIVERY_S)


class LoadSilence:
    """Silences the episode's stream while a client loads a map.

    Args:
        world: the loaded world.
        streams: the streams to silence.
    """

    def __init__(self, world: World, streams: Streams) -> None:
        self._world, self._streams = world, streams
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._over.set()
        self._loader: object = None
        self._episode_before = 0
        self._limit: threading.Timer | None = None

    @contextlib.contextmanager
    def around_load(self, loader: object) -> Iterator[None]:
        """Block ticks from here on; called while the clock is held.

        A refused load changes nothing; after a successful load, ``end`` or ``LOADER_WAIT_S`` ends the silence.
        """
        with self._lock:
            was_over, earlier = self._over.is_set(), (self._loader, self._episode_before)
            self._over.clear()
            self._loader, self._episode_before = loader, self._world.episode
        try:
            yield
        except BaseException:
            with self._lock:
                self._loader, self._episode_before = earlier
                if was_over:
                    self._over.set()
            raise
        with self._lock:
            if self._limit is not None:
                self._limit.cancel()
            self._limit = threading.Timer(LOADER_WAIT_S, self.end, (loader,))
            self._limit.daemon = True
            self._limit.start()

    def settle(self) -> None:
        """Wait until the snapshots sent before the load are delivered."""
        self._streams.await_sent(EPISODE_STREAM, _SENDING_LIMIT_S)
        time.sleep(delivery_s(os.getloadavg()[0] / (os.cpu_count() or 1)))

    def wait(self) -> None:
        """Wait for the end of the silence."""
        self._over.wait()

    def episode_for(self, caller: object) -> int:
        """Return the episode number; the loader gets the previous one, as a real server answers in its last tick.

        The loader resets its Traffic Managers only if the first snapshot changes the number.
        """
        with self._lock:
            is_loader = not self._over.is_set() and caller is self._loader
            return self._episode_before if is_loader else self._world.episode

    def end(self, loader: object) -> None:
        """If ``loader`` is the awaited client, announce the new map and resume the clock."""
        with self._lock:
            if self._over.is_set() or loader is not self._loader:
                return
            if self._limit is not None:
                self._limit.cancel()
            self.announce_map()
            self._over.set()

    def announce_map(self) -> None:
        """Send the snapshot that tells clients of a new map."""
        observer = self._streams.version.world_observer
        self._streams.send(EPISODE_STREAM, (snapshot.pack(self._world, flags=wire.MAP_CHANGE, observer=observer),))
