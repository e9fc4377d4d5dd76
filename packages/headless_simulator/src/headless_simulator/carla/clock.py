"""The clock of the CARLA server: ticks by clients' calls or in a free run."""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Final

from headless_simulator.behaviours import Behaviours
from headless_simulator.carla import snapshot
from headless_simulator.carla.episode import Episode
from headless_simulator.carla.load_silence import LoadSilence
from headless_simulator.carla.recorder.replay import Replayer
from headless_simulator.carla.recorder.writer import Recorder
from headless_simulator.carla.sensors.hub import Sensors
from headless_simulator.carla.streams import EPISODE_STREAM, Streams
from headless_simulator.faults import Faults
from headless_simulator.terminal import note
from headless_simulator.world.table import LIGHT, SENSOR, SIGN, SPECTATOR, VEHICLE
from headless_simulator.world.world import World

_SNAPSHOT_WAIT_S: Final = 1.0
_SENSORS_WAIT_S: Final = 1.5
_LISTENERS_WAIT_S: Final = 1.0
_SLOWER_S: Final = 0.001
_SLOWEST_S: Final = 0.1
_POLL_S: Final = 0.01  # delay of a free run after clients release the clock


class Clock:
    """Advances the world and sends its state to clients.

    Args:
        world: the world to advance.
        episode: clock owner and length of a tick.
        streams: receive snapshots.
        sensors: measure at each tick.
        recorder: records each tick while it is on.
        replayer: moves actors before each tick while it is on.
        silence: blocks ticks while it lasts.
        faults: faults to inject.
        behaviours: emulated server behaviours.
    """

    def __init__(
        self,
        world: World,
        *,
        episode: Episode,
        streams: Streams,
        sensors: Sensors,
        recorder: Recorder,
        replayer: Replayer,
        silence: LoadSilence,
        faults: Faults,
        behaviours: Behaviours,
    ) -> None:
        self._world, self._episode, self._streams, self._sensors = world, episode, streams, sensors
        self._recorder, self._replayer, self._silence, self._faults = recorder, replayer, silence, faults
        self._behaviours, self._slower_s = behaviours, 0.0
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._snapshot_sent, self._sent_frame = threading.Condition(), 0

    def start(self) -> None:
        """Run freely while no client owns the clock."""
        threading.Thread(target=self._run_freely, name="free run", daemon=True).start()

    def stop(self) -> None:
        """End the free run."""
        self._stop.set()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the clock, so that no tick begins."""
        with self._lock:
            yield

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Hold the clock and the world, for calls that do not run under the world's lock."""
        with self._lock, self._world.lock:  # in a tick's order
            yield

    def tick(self) -> int:
        """Advance by one tick; returns its frame number.

        On return the snapshot is queued, and so are measurements without images, unless they take longer than
        ``_SENSORS_WAIT_S``. Images follow after rendering, as on a real server; the next tick with images waits for them.
        """
        with self._lock:
            self._silence.wait()
            self._streams.await_expected(_LISTENERS_WAIT_S)
            self._sensors.finish_before()
            settings, game = self._episode.settings, self._world.game_thread
            self._faults.before_tick(synchronous=settings.synchronous)
            with self._world.lock:
                self._lose_actors()
                self._stall_traffic()
                if self._replayer.is_on:
                    self._replay(settings.step_s)
                self._world.stream(settings.distances)
                self._world.step(settings.step_s, paused=not game.takes_step())
                if self._recorder.is_on:
                    self._record(settings.step_s)
                packet = snapshot.pack(
                    self._world, flags=0, observer=self._streams.version.world_observer, spoiled=self._spoiled()
                )
                work = self._sensors.gather()
            if self._faults.cuts_stream(0, "world", None):
                self._streams.cut([EPISODE_STREAM])
            if game.sends_snapshot:
                self._streams.send(EPISODE_STREAM, (packet,))
            with self._snapshot_sent:
                self._sent_frame = self._world.frame
                self._snapshot_sent.notify_all()
            self._slow_down(settings.no_rendering and bool(work.views))
            self._sensors.start(work)
            game.frame()
            self._sensors.wait(_SENSORS_WAIT_S)
            return self._world.frame

    def _slow_down(self, draws_without_rendering: bool) -> None:
        """Delay each tick more than the previous one, in cases in which real servers do."""
        if not draws_without_rendering:
            self._slower_s = 0.0
        elif self._behaviours["no-rendering"] == "slows":
            self._slower_s = min(self._slower_s + _SLOWER_S, _SLOWEST_S)
            time.sleep(self._slower_s)

    def await_snapshot_after(self, frame: int) -> None:
        """Wait for a snapshot with a spawned actor before the spawn is answered, in a free run.

        A real server answers one call per frame, and programs rely on it: the client navigates a walker from its pose in
        the last snapshot, and recurses endlessly if no snapshot has it.
        """
        with self._snapshot_sent:
            self._snapshot_sent.wait_for(
                lambda: self._sent_frame > frame or self._episode.settings.synchronous or self._stop.is_set(),
                _SNAPSHOT_WAIT_S,
            )

    def _replay(self, step_s: float) -> None:
        self._replayer.advance(step_s)
        if self._replayer.trouble and not self._replayer.is_on:
            note(f"a replay ended: {self._replayer.trouble}")

    def _record(self, step_s: float) -> None:
        self._recorder.add_frame(step_s)
        if self._recorder.trouble:
            note(self._recorder.trouble)

    def _lose_actors(self) -> None:
        """Destroy the actors that injected faults name."""
        if not self._faults.of_server("carla", "lose_actor"):
            return
        actors = list(self._world.actors.values())
        carriers = {actor.parent_id for actor in actors if actor.kind == SENSOR}
        for actor in actors:
            if actor.kind not in (SENSOR, LIGHT, SIGN, SPECTATOR) and self._faults.loses(
                actor.actor_id, actor.blueprint, carries=actor.actor_id in carriers
            ):
                self._world.destroy(actor.actor_id)

    def _stall_traffic(self) -> None:
        """Brake the vehicles that injected faults name, and keep their pose if a client places them."""
        if not self._faults.of_server("carla", "stall_traffic"):
            return
        world, c = self._world, self._world.table.c
        for actor in world.actors.values():
            if actor.kind == VEHICLE and self._faults.stalls(actor.actor_id, actor.blueprint, episode=world.episode):
                c.control[actor.row], c.control_set[actor.row], c.speed[actor.row] = (0.0, 0.0, 1.0), 1, 0.0
                if not c.physics[actor.row]:
                    c.pose[actor.row, :3] = c.was[actor.row]

    def _spoiled(self) -> list[int]:
        """Return ids of actors with NaN poses in this tick's snapshot."""
        if not self._faults.spoils_poses:
            return []
        return [
            a.actor_id
            for a in self._world.actors.values()
            if a.kind != SENSOR and self._faults.spoils(a.actor_id, a.blueprint)
        ]

    def _run_freely(self) -> None:
        while not self._stop.is_set():
            if self._episode.settings.synchronous:
                self._stop.wait(_POLL_S)
                continue
            started = time.monotonic()
            with self._lock:
                if not self._episode.settings.synchronous:
                    self.tick()
            self._stop.wait(max(0.0, self._episode.settings.step_s - (time.monotonic() - started)))
