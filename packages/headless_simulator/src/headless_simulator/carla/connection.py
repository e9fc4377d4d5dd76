"""One CARLA client's RPC connection.

A request is ``[0, id, method, [[asynchronous], args...]]``, its answer ``[1, id, error or nil, result]``.

Calls that advance the simulation run in a second thread per connection, so that other calls are answered meanwhile. The
client's Traffic Manager wakes its worker without holding the lock under which the worker waits; a step that arrives
just before the wait is lost, and both hang indefinitely. The worker requests the episode settings immediately before it
waits, so the answer to a tick is delayed until ``_WAKE_GAP_S`` after that request. A batch that ticks wakes no worker:
its answer is not delayed. If the step is lost nevertheless, no step follows the answer: after ``_HUNG_S`` the server
wakes the worker through the manager's port for other processes. ``set_synchronous_mode`` is the only call of that port
that wakes it and takes no lock. It would make an asynchronous manager synchronous; that one is recognised by its
continual requests for the settings, while a hung worker may make one after the answer.

An asynchronous Traffic Manager reads the world in its own loop, and aborts the process if the client has no episode
during ``load_world``. Every iteration begins with a request for the episode settings. While a map loads, the answer waits
until the client has its new episode, so that the manager pauses.

Such a manager also aborts the process if it reads an actor object that ``destroy`` has cleared. The client clears it with
the answer, and the manager drops the actor with the next snapshot: the manager pauses in between.
"""

import os
import queue
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from msgpack import packb

from headless_simulator.carla.load_silence import delivery_s
from headless_simulator.rpc.connections import Connection
from headless_simulator.rpc.messages import Dialect, ProtocolError, Request, encode_whole
from headless_simulator.terminal import note

LARGEST_MESSAGE: Final = 32 << 20
_WAKE_GAP_S: Final = 0.003
_WAKE_LIMIT_S: Final = 0.1
_HUNG_S: Final = 10.0  # without a step after a tick; a worker begins one in milliseconds
_WAKING_LIMIT_S: Final = 2.0
_WAKE: Final = b"".join(packb([0, number, "set_synchronous_mode", [mode]]) for number, mode in enumerate((False, True)))
_IDLE_ANSWER_S: Final = 0.002  # an asynchronous Traffic Manager requests the settings in a busy loop
_QUEUED_STEPS: Final = 1024
_ROUND_LIMIT_S: Final = 0.25  # of an asynchronous manager
_BUSY_ROUND_LIMIT_S: Final = 1.0  # on a busy machine
_NEW_EPISODE_S: Final = 0.3  # from informing a client of its episode until it has seen a snapshot of it
_HELD_LIMIT_S: Final = 3.0

DIALECT: Final = Dialect("surrogateescape", LARGEST_MESSAGE, encode_whole)
Answer = tuple[Any, Any]  # error, result


class CarlaConnection(Connection):
    """One client's connection.

    Args:
        sock: accepted socket.
        call: answers a request.
        advances: whether a request advances the simulation.
        is_synchronous: whether clients own the clock.
        await_snapshot: waits until a current snapshot is sent.

    Attributes:
        managers: ports of the Traffic Managers in the client.
    """

    def __init__(
        self,
        sock: socket.socket,
        *,
        call: Callable[[Request], Answer],
        advances: Callable[[Request], bool],
        is_synchronous: Callable[[], bool],
        await_snapshot: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(sock, DIALECT)
        self._call = call
        self._advances = advances
        self._is_synchronous = is_synchronous
        self._await_snapshot = await_snapshot
        self.managers: set[int] = set()
        self._requested_s = 0.0
        self._stepped_s = self._ticked_s = 0.0
        self._settings_condition = threading.Condition()
        self._steps: queue.Queue[Request | None] = queue.Queue(_QUEUED_STEPS)
        self._stepper: threading.Thread | None = None
        self._loading = self._opening = False  # until a manager pauses, and until it may continue
        self._removals = 0  # destroyed actors that no snapshot lacks yet
        self._held: list[Request] = []  # managers' requests that wait for a new episode or for a snapshot

    def serve(self) -> None:
        """Answer requests until the client disconnects or sends an invalid one."""
        try:
            for request in self.requests():
                if request.message_id is not None:
                    self._take(request)
        except ProtocolError:
            return  # no client is left to answer
        finally:
            if self._stepper is not None:
                self._steps.put(None)
            self.cut()

    def _take(self, request: Request) -> None:
        if request.method == "load_new_episode" and self.managers:
            self._loading = self._opening = True
        removes = request.method == "destroy_actor" and bool(self.managers) and not self._is_synchronous()
        if removes:
            with self._settings_condition:
                self._removals += 1
        if (self._loading or self._removals) and request.method == "get_episode_settings":
            with self._settings_condition:
                self._held.append(request)
                self._settings_condition.notify_all()
            return
        if removes or self._advances(request):
            self._start_stepper()
            self._steps.put(request)
            return
        error, result = self._call(request)
        if request.method == "add_traffic_manager_running" and result == [[1, True]]:
            self.managers.add(request.arguments[1][1])
        self.answer(request, error, result)
        self._note(request.method)
        if self._held and request.method == "get_episode_info":
            self._release_in(_NEW_EPISODE_S)

    def _note(self, name: str) -> None:
        is_first = self._stepped_s <= self._ticked_s  # since the last tick: the worker's; clients read them, too
        if name == "get_vehicle_light_states" and is_first:
            self._stepped_s = time.monotonic()
        elif name == "get_episode_settings":
            with self._settings_condition:
                self._requested_s = time.monotonic()
                self._settings_condition.notify_all()
            if self.managers and not self._is_synchronous():
                time.sleep(_IDLE_ANSWER_S)

    def _start_stepper(self) -> None:
        if self._stepper is None:
            self._stepper = threading.Thread(target=self._run_steps, name="rpc-steps", daemon=True)
            self._stepper.start()

    def _run_steps(self) -> None:
        while (request := self._next_step()) is not None:
            try:
                answer = self._call(request)
            except ConnectionAbortedError:
                self.cut()
                return
            if self.managers and request.method == "tick_cue":
                self._await_worker_pause()
            if self._loading and request.method == "load_new_episode":
                self._await_manager_pause()
                self._loading = False
                self._release_in(_HELD_LIMIT_S)
            if request.method == "destroy_actor":
                self._await_manager_pause(_BUSY_ROUND_LIMIT_S)
            if request.method == "tick_cue":
                self._ticked_s = time.monotonic()  # before the worker steps
            self.answer(request, *answer)
            if request.method == "destroy_actor":
                threading.Thread(target=self._end_removal, daemon=True).start()

    def _next_step(self) -> Request | None:
        """Wait for the next advancing request, and wake the managers if none has stepped since the last tick."""
        while True:
            try:
                return self._steps.get(timeout=_HUNG_S if self.managers else None)
            except queue.Empty:
                is_silent = time.monotonic() - self._requested_s > _HUNG_S / 2  # an asynchronous manager never is
                if 0.0 < self._stepped_s < self._ticked_s and is_silent and self._is_synchronous():
                    self._ticked_s = 0.0
                    for port in self.managers:
                        self._wake(port)

    def _wake(self, port: int) -> None:
        try:
            with socket.create_connection((self._sock.getpeername()[0], port), timeout=_WAKING_LIMIT_S) as manager:
                manager.sendall(_WAKE)
                manager.recv(1)  # it reads what came before the end
        except OSError as problem:
            note(f"the Traffic Manager at port {port} takes no step after a tick and cannot be woken: {problem}")
        else:
            note(f"the Traffic Manager at port {port} took no step after a tick for {_HUNG_S:.0f} s and was woken")

    def _await_manager_pause(self, limit_s: float = _ROUND_LIMIT_S) -> None:
        """Wait until an asynchronous manager pauses."""
        with self._settings_condition:
            is_active = time.monotonic() - self._requested_s < limit_s
            self._settings_condition.wait_for(lambda: bool(self._held), limit_s if is_active else 0.0)

    def _end_removal(self) -> None:
        self._await_snapshot()
        time.sleep(delivery_s(os.getloadavg()[0] / (os.cpu_count() or 1)))
        with self._settings_condition:
            self._removals -= 1
            waits = self._removals > 0 or self._opening
        if not waits:
            self._release()

    def _release_in(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._release)
        timer.daemon = True
        timer.start()

    def _release(self) -> None:
        with self._settings_condition:
            held, self._held, self._opening = self._held, [], False
        for request in held:
            self.answer(request, *self._call(request))

    def _await_worker_pause(self) -> None:
        end = time.monotonic() + _WAKE_LIMIT_S
        with self._settings_condition:
            while (now := time.monotonic()) < end:
                rest_s = self._requested_s + _WAKE_GAP_S - now if self._requested_s >= self._stepped_s else end - now
                if rest_s <= 0:
                    return
                self._settings_condition.wait(min(rest_s, end - now))
