"""A simulator slot: one simulator with one client process; flies one scene at a time and restarts after failures."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from uavsim.capture.client_events import ClientEvent, ClientReady, SceneFlown
from uavsim.config.backends import backend_of
from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.errors import SimulatorLost, SystemFailure, UavsimError
from uavsim.files.logs import tail_of
from uavsim.simulate.answerers import client_python_of
from uavsim.simulate.ports import Endpoint
from uavsim.supervise.client_process import ClientProcess, client_command
from uavsim.supervise.health import LOW_FREE_GPU_MB, MIN_FREE_GPU_MB, Pace, free_gpu_mb, is_on_this_machine
from uavsim.supervise.process import core_s
from uavsim.supervise.simulator import Simulator
from uavsim.supervise.start_watch import watched_start

__all__ = ["NoSlotLeft", "SimulatorSlot", "SlotPool"]

T = TypeVar("T")
_SLOT_ATTEMPTS = 3
_POLL_S = 0.1
_TIDY_S = 60.0  # an ending client process removes its actors, with hundreds of calls on a busy server


class NoSlotLeft(SystemFailure):
    """No simulator is usable: all slots failed, or the run ends."""


class SimulatorSlot:
    """One simulator, one client process.

    Args:
        config: configuration of the simulator.
        run: deadlines and recycling limits.
        topology: the backend, a name of ``config/backends.py``.
        name: for logs.
        logs: folder for the output of the two processes.
        home: $HOME of the client: CARLA's client writes its cache there.
        command: returns the client process's command line, see ``client_command``; replaced in tests.
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
        command: Callable[..., list[str]] = client_command,
    ) -> None:
        self.name = name
        self._backend = backend_of(topology)
        if config.kind == "mock":
            config = config.model_copy(update={"arguments": (*self._backend.headless, *config.arguments)})
        self.simulator = Simulator(config, servers=self._backend.servers, name=name, logs=logs)
        self._run, self._home, self._command = run, home, command
        self._python = self.simulator.config.client_python or self._backend.python
        self._client_log = logs / f"{name}-client.log"
        self._client: ClientProcess | None = None
        self.town = ""
        self.client_facts: ClientReady | None = None
        self.scenes_flown = self.client_starts = self.simulator_starts = self.failures = 0
        self.given_up = self._warned = False
        self.pace = Pace(config.recycle_below_pace)

    def ready(self) -> ClientReady:
        """Start simulator and client process if needed, and check that both answer.

        Raises:
            SimulatorError: the simulator is missing, dead, or has another version.
        """
        self._recycle_if_due()
        if self._client is not None and self._client.alive:
            self.client_facts = self._guarded(self._client.probe)
            return self.client_facts
        self._stop_client(grace_s=0)  # a client that died between two scenes leaves open pipes
        with watched_start(self.simulator, kill=self._kill):
            self.client_facts = self._start()
        return self.client_facts

    def _start(self) -> ClientReady:
        """Start the client, and the simulator unless it runs."""
        fresh = self.simulator.is_ours and self.simulator.pid is None
        python = self._python
        early = fresh and not python  # both import for most of a second; another interpreter's worker may be older
        client = self._started_client(python) if early else None
        try:
            endpoints = self.simulator.ensure()
        except UavsimError:
            self._stop_client(grace_s=0)
            raise
        self.simulator_starts += fresh
        if not python and (python := client_python_of(self._backend.topology, _parsed(endpoints))):
            self._python, client = python, None  # another environment has the client of the server's version
            self._stop_client(grace_s=0)
        if client is None:
            client = self._started_client(python, endpoints)
        else:
            self._guarded(lambda: client.connect(endpoints))
        return self._guarded(client.wait_ready)

    def _started_client(self, python: str, endpoints: Mapping[str, str] = MappingProxyType({})) -> ClientProcess:
        self._client = client = ClientProcess(
            self._command(
                topology=self._backend.topology, endpoints=endpoints, deadlines=self._run.deadlines, python=python
            ),
            log=self._client_log,
            deadlines=self._run.deadlines,
            home=self._home,
        )
        self.client_starts += 1
        if self.simulator.ending.is_set():  # set between its start and this line
            client.kill()
        return client

    def fly(self, plan: Path, *, out: Path, town: str, on_event: Callable[[ClientEvent], None]) -> SceneFlown:
        """Fly one scene; after an error, end the failed processes, so that the slot stays usable.

        Raises:
            UavsimError: see ``ClientProcess.fly`` and ``ready``.
        """
        self.ready()
        client = self._client
        assert client is not None
        flown = self._guarded(lambda: client.fly(plan, out=out, on_event=on_event))
        self.town = town
        self.scenes_flown += 1
        self.simulator.scenes_flown += 1
        return flown

    @property
    def core_s(self) -> float:
        """Processor seconds so far of the client and of the simulator, unless attached or in a container."""
        return (self._client.core_s if self._client is not None else 0.0) + core_s(self.simulator.pid)

    def client_log_tail(self) -> str:
        """Return the last lines of the client process's log."""
        return tail_of(self._client_log, lines=20)

    def simulator_log_tail(self) -> str:
        """Return the last lines of the simulator's log; empty when attached."""
        return self.simulator.log_tail()

    def interrupt(self) -> None:
        """End the slot permanently: kill the client process, even in flight, and fail a waiting start."""
        self.simulator.ending.set()
        self._kill_client()

    def _kill(self) -> None:
        self.simulator.kill()
        self._kill_client()

    def _kill_client(self) -> None:
        client = self._client  # another thread may end it
        if client is not None:
            client.kill()

    def close(self) -> None:
        """End client process and simulator; the client skips the cleanup of a simulator that ends too."""
        self._stop_client(grace_s=0 if self.simulator.is_ours else _TIDY_S)
        self.simulator.stop()

    def _guarded(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except UavsimError as error:
            end = self.simulator.end
            # A failed client leaves vehicles and cameras behind: our own simulator restarts; the next client clears others.
            self._stop_client(grace_s=0.5)
            self.simulator.lost()
            if end is not None and not isinstance(error, SimulatorLost):  # the client's report is only its own view
                raise SimulatorLost(f"{self.name}: the simulator {end}: {error}") from error
            raise

    def _recycle_if_due(self) -> None:
        client = self._client
        heavy = client is not None and client.rss_bytes > self._run.client_recycle_rss_mb * 1e6
        if client is not None and (heavy or client.scenes_flown >= self._run.client_recycle_scenes):
            self._stop_client(grace_s=_TIDY_S)
        if self.simulator.due_for_recycling or self._needs_recycling():
            self._stop_client(grace_s=0)
            self.pace.forget()
            self.simulator.stop()

    def _needs_recycling(self) -> bool:
        """Return whether a simulator should be restarted; False when attached or before its first scene."""
        if not self.simulator.is_ours or not self.simulator.scenes_flown:
            return False
        free_mb = self._free_gpu_mb()
        return self.pace.is_slow or (free_mb is not None and free_mb < MIN_FREE_GPU_MB)

    def _free_gpu_mb(self) -> int | None:
        config = self.simulator.config
        return free_gpu_mb(config.gpu) if is_on_this_machine(config) else None

    def card_warning(self) -> str:
        """Return a warning the first time a local server's card is nearly full; else ""."""
        free_mb = None if self._warned else self._free_gpu_mb()
        if free_mb is None or free_mb >= LOW_FREE_GPU_MB:
            return ""
        self._warned = True
        return (
            f"{free_mb} MB of graphics memory are free; below {MIN_FREE_GPU_MB} MB images are spoiled: use fewer or smaller "
            "cameras, or a lower recycle_scenes"
        )

    def _stop_client(self, *, grace_s: float) -> None:
        client = self._client
        if client is not None:
            client.stop(grace_s=grace_s)
        self._client = None


class SlotPool:
    """The simulator slots of a run; scenes in several threads borrow them."""

    def __init__(self, slots: Sequence[SimulatorSlot]) -> None:
        self.slots = tuple(slots)
        self._free = list(self.slots)
        self._changed = threading.Condition()
        self._last_failure: UavsimError | None = None
        self._ending = False
        self.closed_s: float | None = None  # return times of simulators, monotonic clock

    def __enter__(self) -> SlotPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def borrow_ready(self, *, town: str, journal: Callable[..., None]) -> Iterator[SimulatorSlot]:
        """Wait for a ready slot, preferably one with the town loaded: loading a map is slow and leaks memory.

        A slot is given up after three failed starts in a row; the scene's attempts do not count them.

        Args:
            town: town of the next scene.
            journal: receives an event for every failure of a slot.

        Raises:
            NoSlotLeft: all slots were given up; the message is the last reason.
        """
        slot = self._take(town)
        try:
            while True:
                try:
                    slot.ready()
                    slot.failures = 0
                    break
                except UavsimError as error:
                    if self._ending:
                        raise NoSlotLeft("the run is ending") from error
                    slot.failures += 1
                    journal("slot failed", slot=slot.name, times=slot.failures, reason=str(error))
                    self._last_failure = error
                if slot.failures >= _SLOT_ATTEMPTS:
                    slot.given_up = True
                    slot.close()
                    slot = self._take(town)
            yield slot
        finally:
            with self._changed:
                if not slot.given_up:
                    self._free.append(slot)
                self._changed.notify_all()

    def _take(self, town: str) -> SimulatorSlot:
        with self._changed:
            while not self._free or self._ending:
                if self._ending:
                    raise NoSlotLeft("the run is ending")
                if all(slot.given_up for slot in self.slots):
                    raise NoSlotLeft(f"no simulator is left: {self._last_failure}") from self._last_failure
                self._changed.wait()
            slot = min(self._free, key=lambda s: (s.town != town, s.town != ""))
            self._free.remove(slot)
            return slot

    def interrupt(self) -> None:
        """Kill all client processes in flight, and lend no further slot."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        for slot in self.slots:
            slot.interrupt()

    def ready_all(
        self, *, say: Callable[[str], None] | None = None, meanwhile: Callable[[], object] | None = None
    ) -> None:
        """Start all slots in parallel; failed starts are retried as in flight.

        Args:
            say: receives lines of progress, from any thread.
            meanwhile: called once, in this thread, while they start.

        Raises:
            UavsimError: the first failure of a slot that did not start.
        """
        failures: queue.SimpleQueue[UavsimError] = queue.SimpleQueue()
        # Waited for by events: a join that is interrupted makes Python 3.11 take a running thread for one that has ended.
        over = [threading.Event() for _ in self.slots]

        def bring_up(slot: SimulatorSlot, done: threading.Event) -> None:
            slot.simulator.say = say or slot.simulator.say
            try:
                self._bring_up(slot)
            except UavsimError as error:
                failures.put(error)
            finally:
                done.set()

        threads = [
            threading.Thread(target=bring_up, args=(slot, done), name=f"ready-{slot.name}")
            for slot, done in zip(self.slots, over, strict=True)
        ]
        try:
            for thread in threads:
                thread.start()
            if meanwhile is not None:
                meanwhile()
            for done in over:
                while not done.wait(_POLL_S):  # a signal just before an unlimited wait would be noticed at its end only
                    pass
        except BaseException:  # after an interrupt, starting simulators end, and their waiting threads fail
            self._ending = True
            while any(thread.is_alive() for thread in threads):
                self.close()
                for done in over:
                    done.wait(_POLL_S)
            raise
        for thread in threads:
            thread.join()
        if not failures.empty():
            raise failures.get()

    def _bring_up(self, slot: SimulatorSlot) -> None:
        for left in reversed(range(_SLOT_ATTEMPTS)):
            try:
                slot.ready()
                return
            except SimulatorLost as error:  # a simulator that died may return; a missing one or a wrong version stays
                if not left or self._ending or slot.simulator.ending.is_set():
                    raise
                reason = str(error).removeprefix(f"{slot.name}: ")
                slot.simulator.say(f"{slot.name}: {reason}; it is started again")

    def close(self) -> None:
        """End all client processes and all simulators that are not attached."""
        self.closed_s = self.closed_s or time.monotonic()
        for slot in self.slots:
            slot.close()


def _parsed(endpoints: Mapping[str, str]) -> dict[str, Endpoint]:
    return {server: Endpoint.parse(at, what=server) for server, at in endpoints.items()}
