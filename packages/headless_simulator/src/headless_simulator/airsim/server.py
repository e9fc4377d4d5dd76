"""The AirSim port: accepts clients, and checks and serves their calls."""

import contextlib
import os
import socket
import threading
import time
from typing import Any, Final

from headless_simulator.airsim.dialects import AIRSIM, AirSimDialect
from headless_simulator.airsim.engine import EngineTurns
from headless_simulator.airsim.fault_injection import AirSimFaults
from headless_simulator.airsim.host import AirSimHost
from headless_simulator.airsim.method import Traits
from headless_simulator.airsim.method_table import method_table
from headless_simulator.airsim.settings import AirSimSettings
from headless_simulator.airsim.simulation import DelayedAnswer, Simulation
from headless_simulator.behaviours import IDEAL, Behaviours
from headless_simulator.errors import ClientError
from headless_simulator.rendering import Rendering
from headless_simulator.rpc.arguments import WrongCount
from headless_simulator.rpc.call_counts import CallCounts
from headless_simulator.rpc.connections import QueuedConnection
from headless_simulator.rpc.messages import Dialect, Request, encode_in_parts
from headless_simulator.rpc.methods import Bound, InternalError, guarded, internal_error
from headless_simulator.terminal import note_bug
from headless_simulator.world.game_thread import GameThread

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
MAX_ITEMS: Final = 1_000_000
MAX_CLIENTS: Final = 256
NAME_CHARS: Final = 100
_NO_MORE_FILES_S: Final = 0.05
DIALECT: Final = Dialect("replace", MAX_MESSAGE_BYTES, encode_in_parts, most_items=MAX_ITEMS)
POSE_METHODS: Final = frozenset(
    ("simGetVehiclePose", "getMultirotorState", "simGetGroundTruthKinematics", "simGetCameraInfo", "simGetObjectPose")
)


class AirSimServer:
    """An AirSim server on a TCP port.

    Args:
        host: the world.
        settings: parsed settings.json.
        port: 0 takes a free one.
        faults: faults to inject.
        rendering: rendering options.
        address: listening address.
        game_thread: game thread of a merged build; without one every call is served immediately.
        dialect: wire dialect of AirSim or of a fork.
        behaviours: emulated server behaviours.
    """

    def __init__(
        self,
        host: AirSimHost,
        settings: AirSimSettings,
        *,
        port: int = 0,
        faults: AirSimFaults | None = None,
        rendering: Rendering = Rendering(),  # noqa: B008  (frozen)
        address: str = "127.0.0.1",
        game_thread: GameThread | None = None,
        dialect: AirSimDialect = AIRSIM,
        behaviours: Behaviours = IDEAL,
    ) -> None:
        self.simulation = Simulation(host, settings, faults=faults, rendering=rendering, behaviours=behaviours)
        self.dialect = dialect
        self.methods = dialect.speak(method_table(self.simulation))
        self.engine = EngineTurns(game_thread or GameThread())
        self.counts = CallCounts()
        self.malformed = 0
        self._address, self._requested_port = address, port
        self._lock = threading.Lock()
        self._clients: set[QueuedConnection] = set()
        self._listener: socket.socket | None = None
        self._acceptor = threading.Thread(target=self._accept, name="airsim-accept", daemon=True)
        self._stopping = False

    @property
    def port(self) -> int:
        """The listening port."""
        assert self._listener is not None, "start() first"
        return int(self._listener.getsockname()[1])

    def start(self) -> int:
        """Listen and start time; returns the port.

        Raises:
            OSError: the port is taken; the message contains it.
        """
        self.simulation.clock.watch(watched=False)
        self.simulation.start()
        try:
            self._listener = socket.create_server((self._address, self._requested_port), backlog=64)
        except OSError as problem:
            self.simulation.stop()
            reason = os.strerror(problem.errno or 0)  # str(problem) would add the address
            raise OSError(problem.errno, f"port {self._requested_port} of {self._address}: {reason}") from problem
        self._acceptor.start()
        return self.port

    def stop(self) -> None:
        """Cut every client and end all threads."""
        assert self._listener is not None, "start() first"
        self._stopping = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._acceptor.join()
        self.simulation.stop()
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.cut()
        for client in clients:
            client.join(timeout_s=2.0)

    def _accept(self) -> None:
        assert self._listener is not None, "started"
        while not self._stopping:
            try:
                sock, _ = self._listener.accept()
            except OSError:  # closed by stop(), a client that left early, or too many open files
                time.sleep(_NO_MORE_FILES_S)
                continue
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = QueuedConnection(sock, DIALECT, serve=self._serve, closed=self._closed)
            with self._lock:
                full = len(self._clients) >= MAX_CLIENTS
                if not full:
                    self._clients.add(client)
                    self.simulation.clock.watch(watched=True)
            if full:
                sock.close()
            else:
                client.start()

    def _closed(self, client: QueuedConnection) -> None:
        with self._lock:
            self._clients.discard(client)
            self.simulation.clock.watch(watched=bool(self._clients))
            self.malformed += client.malformed

    # ---- calls -------------------------------------------------------------------------------------------------------

    def _serve(self, client: QueuedConnection, request: Request) -> None:
        name, arguments = request.method, request.arguments
        bound = self.methods.get(name)
        if bound is None:
            self.counts.add(self.counts.unknown, name)
            short_name = name[:NAME_CHARS]
            why = f"server could not find function '{short_name}' with argument count {len(arguments)}."
            client.answer(request, f"rpclib: {why}", None)
            return
        self.counts.add(self.counts.served, name)
        vehicle = bound.traits.vehicle(arguments)
        try:
            values = bound.read(arguments)
            self.simulation.faults.before_call(
                name, vehicle
            )  # may raise ConnectionAbortedError, which the reader handles
            result = guarded(name, lambda: self._take_turn(bound, values, vehicle))
            self.engine.served(name, values)
            if isinstance(result, DelayedAnswer):
                guarded(name, lambda: result.begin(lambda outcome: self._finish_late(client, request, outcome)))
                return
        except (ClientError, InternalError) as problem:
            result = problem
        self._finish(client, request, result)

    def _take_turn(self, bound: Bound[Traits], values: list[Any], vehicle: str) -> Any:
        name = bound.method.name
        late_frames, leaked_ticks = self.simulation.faults.turn(name, vehicle)
        if leaked_ticks:
            self.engine.leak(leaked_ticks)
        return self.engine.run(name, lambda: self._run(bound, values, vehicle), late_frames=late_frames)

    def _finish_late(self, client: QueuedConnection, request: Request, outcome: Any) -> None:
        self.engine.ended(request.method)
        self._finish(client, request, outcome)

    def _run(self, bound: Bound[Traits], values: list[Any], vehicle: str) -> Any:
        self.simulation.catch_up()
        result = bound.run(values)
        if bound.method.name in POSE_METHODS:
            return self.simulation.faults.pose_result(bound.method.name, vehicle, result)
        return result

    def _finish(self, client: QueuedConnection, request: Request, outcome: Any) -> None:
        """Answer a call with its result or error; a flight command may end long after its call."""
        name = request.method
        if isinstance(outcome, WrongCount):
            problem = (
                f"was called with an invalid number of arguments. Expected: {outcome.expected}, got: {outcome.got}"
            )
            client.answer(request, f"rpclib: function '{name}' {problem}", None)
        elif isinstance(outcome, ClientError):
            client.answer(request, f"rpclib: function '{name}' threw an exception: {outcome}", None)
        elif isinstance(outcome, Exception):
            self.counts.add(self.counts.internal_errors, name)
            if not isinstance(outcome, InternalError):  # a command that failed while it ran
                note_bug(name, outcome)
                outcome = internal_error(name, outcome)
            client.answer(request, f"rpclib: function '{name}' threw an exception: {outcome}", None)
        else:
            client.answer(request, None, outcome)

    def report(self) -> str | None:
        """One line about unimplemented or failed calls, or None."""
        return "; ".join(self.counts.report()) or None
