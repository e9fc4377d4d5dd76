"""A station: one simulator with one pilot, flying one scene at a time and rebuilt when it fails."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.errors import SystemFailure, UavsimError
from uavsim.supervise.health import MIN_FREE_GPU_MB, Pace, free_gpu_mb
from uavsim.supervise.pilot import Deadlines, Flown, Pilot, PilotFacts, pilot_command
from uavsim.supervise.simulator import Simulator
from uavsim.typing import JsonDict

__all__ = ["NoStationLeft", "Station", "StationPool", "StationStatus"]

T = TypeVar("T")
_STATION_ATTEMPTS = 3
_TIDY_S = 60.0  # a pilot that leaves takes its actors with it; on a busy server that is some hundred calls


class NoStationLeft(SystemFailure):
    """Every simulator of the run was given up."""


@dataclass(frozen=True, slots=True)
class StationStatus:
    """For people."""

    name: str
    address: str
    scenes_flown: int
    pilot_restarts: int
    simulator_restarts: int


class Station:
    """One simulator, one pilot.

    Args:
        config: of the simulator.
        run: deadlines and recycling.
        topology: given to the pilot.
        name: for logs.
        logs: folder for what the two processes print.
        home: $HOME of the pilot: CARLA's client writes its cache there.
        command: makes the pilot's command line from ``carla`` and ``airsim``; replaced in tests.
    """

    def __init__(
        self,
        config: SimulatorConfig,
        *,
        run: RunConfig,
        topology: str,
        name: str,
        logs: Path,
        home: Path,
        command: Callable[..., list[str]] = pilot_command,
    ) -> None:
        self.name = name
        self.simulator = Simulator(config, name=name, logs=logs)
        self._run, self._topology, self._home, self._command = run, topology, home, command
        self._pilot_log = logs / f"{name}-pilot.log"
        self._pilot: Pilot | None = None
        self.town = ""
        self.facts: PilotFacts | None = None
        self.scenes_flown = self.pilot_starts = self.simulator_starts = self.failures = 0
        self.given_up = False
        self.pace = Pace(config.recycle_below_pace)

    def ready(self) -> PilotFacts:
        """Bring up simulator and pilot and ask for a sign of life; cheap when both are up.

        Raises:
            SimulatorError: not there, another version, dead.
        """
        self._recycle_if_due()
        if self._pilot is not None and self._pilot.alive:
            self.facts = self._guarded(self._pilot.probe)
            return self.facts
        fresh = self.simulator.is_ours and self.simulator.pid is None
        endpoints = self.simulator.ensure()
        self.simulator_starts += fresh
        self._pilot = Pilot(
            self._command(carla=endpoints.carla, airsim=endpoints.airsim, topology=self._topology),
            log=self._pilot_log,
            deadlines=Deadlines(**self._run.deadlines.model_dump()),
            home=self._home,
        )
        self.pilot_starts += 1
        self.facts = self._guarded(self._pilot.wait_ready)
        return self.facts

    def fly(self, plan: Path, *, out: Path, town: str, on_event: Callable[[JsonDict], None]) -> Flown:
        """Fly one scene; after an error the station is torn down as far as needed and may be used again.

        Raises:
            UavsimError: see ``Pilot.fly`` and ``ready``.
        """
        self.ready()
        pilot = self._pilot
        assert pilot is not None
        flown = self._guarded(lambda: pilot.fly(plan, out=out, on_event=on_event))
        self.town = town
        self.scenes_flown += 1
        self.simulator.scenes_flown += 1
        return flown

    def pilot_log_tail(self) -> str:
        """Return the last lines that the pilot printed."""
        if not self._pilot_log.exists():
            return ""
        return "\n".join(self._pilot_log.read_text(errors="replace").splitlines()[-20:])

    def simulator_log_tail(self) -> str:
        """Return the last lines that the simulator's process printed; empty for an attached one."""
        return self.simulator.log_tail()

    def status(self) -> StationStatus:
        """Say how it stands."""
        address = self.simulator.config.kind
        restarts = max(self.pilot_starts - 1, 0), max(self.simulator_starts - 1, 0)
        return StationStatus(self.name, address, self.scenes_flown, *restarts)

    def interrupt(self) -> None:
        """Kill the pilot under whoever is flying with it."""
        pilot = self._pilot
        if pilot is not None:
            pilot.kill()

    def close(self) -> None:
        """End pilot and simulator."""
        self._stop_pilot(grace_s=5.0 if self.simulator.is_ours else _TIDY_S)
        self.simulator.stop()

    def _guarded(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except UavsimError:
            # A pilot that fails leaves its vehicles and cameras behind: a simulator that is ours is started anew, whatever
            # the failure was. An attached one is cleared by the next pilot.
            self._stop_pilot(grace_s=0.5)
            self.simulator.lost()
            raise

    def _recycle_if_due(self) -> None:
        pilot = self._pilot
        heavy = pilot is not None and pilot.rss_bytes > self._run.pilot_recycle_rss_mb * 1e6
        if pilot is not None and (heavy or pilot.scenes_flown >= self._run.pilot_recycle_scenes):
            self._stop_pilot(grace_s=_TIDY_S)
        if self.simulator.due_for_recycling or self._is_ill():
            self._stop_pilot(grace_s=5.0)
            self.pace.forget()
            self.simulator.stop()

    def _is_ill(self) -> bool:
        """Tell whether a simulator that is ours had better be started anew; one that has flown nothing gets a chance."""
        if not self.simulator.is_ours or not self.simulator.scenes_flown:
            return False
        free_mb = None if self.simulator.config.kind == "mock" else free_gpu_mb(self.simulator.config.gpu)
        return self.pace.is_slow or (free_mb is not None and free_mb < MIN_FREE_GPU_MB)

    def _stop_pilot(self, *, grace_s: float) -> None:
        if self._pilot is not None:
            self._pilot.stop(grace_s=grace_s)
        self._pilot = None


class StationPool:
    """The stations of a run; a scene borrows one and gives it back. Threads may borrow at the same time."""

    def __init__(self, stations: Sequence[Station]) -> None:
        self.stations = tuple(stations)
        self._free = list(self.stations)
        self._changed = threading.Condition()
        self._last_failure: UavsimError | None = None
        self._ending = False

    def __enter__(self) -> StationPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def borrow_ready(self, *, town: str, journal: Callable[..., None]) -> Iterator[Station]:
        """Wait for a station that is up; one that has the town loaded is preferred: loading a map is slow and leaks.

        A station that cannot be brought up three times in a row is given up. That is its failure, not the scene's.

        Args:
            town: that is to be flown.
            journal: told of stations that fail.

        Raises:
            NoStationLeft: every station was given up; the message is the last reason.
        """
        station = self._take(town)
        try:
            while True:
                try:
                    station.ready()
                    station.failures = 0
                    break
                except UavsimError as error:
                    station.failures += 1
                    journal("station failed", station=station.name, times=station.failures, reason=str(error))
                    self._last_failure = error
                if station.failures >= _STATION_ATTEMPTS:
                    station.given_up = True
                    station.close()
                    station = self._take(town)
            yield station
        finally:
            with self._changed:
                if not station.given_up:
                    self._free.append(station)
                self._changed.notify_all()

    def _take(self, town: str) -> Station:
        with self._changed:
            while not self._free or self._ending:
                if self._ending:
                    raise NoStationLeft("the run is ending")
                if all(station.given_up for station in self.stations):
                    raise NoStationLeft(f"no simulator is left: {self._last_failure}") from self._last_failure
                self._changed.wait()
            station = min(self._free, key=lambda s: (s.town != town, s.town != ""))
            self._free.remove(station)
            return station

    def interrupt(self) -> None:
        """End every flight at once and lend nothing more; whoever has a station sees its pilot die."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        for station in self.stations:
            station.interrupt()

    def ready_all(self) -> None:
        """Bring up every station, all at the same time.

        Raises:
            UavsimError: the first failure.
        """
        failures: queue.SimpleQueue[UavsimError] = queue.SimpleQueue()

        def bring_up(station: Station) -> None:
            try:
                station.ready()
            except UavsimError as error:
                failures.put(error)

        threads = [threading.Thread(target=bring_up, args=(s,), name=f"ready-{s.name}") for s in self.stations]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not failures.empty():
            raise failures.get()

    def close(self) -> None:
        """End every pilot and every simulator that is ours."""
        for station in self.stations:
            station.close()
