"""The AirSim port: accepts clients, checks and serves their calls."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from typing import Any, Final

from headless_simulator.airsim import methods
from headless_simulator.airsim.host import AirSimHost, FaultsLike
from headless_simulator.airsim.settings import AirSimSettings
from headless_simulator.airsim.simulation import Later, Simulation
from headless_simulator.airsim.wire import Connection
from headless_simulator.rendering import Rendering

MAX_CLIENTS: Final = 256
MAX_COUNTED_NAMES: Final = 1000
NAME_SHOWN: Final = 100
POSE_METHODS: Final = frozenset(
    ("simGetVehiclePose", "getMultirotorState", "simGetGroundTruthKinematics", "simGetCameraInfo", "simGetObjectPose")
)


class AirSimServer:
    """An AirSim that answers on a TCP port.

    Args:
        host: the world it flies in.
        settings: read from settings.json.
        port: 0 takes a free one.
        faults: faults on demand.
        rendering: how images are made.
        address: where to listen.
    """

    def __init__(
        self,
        host: AirSimHost,
        settings: AirSimSettings,
        *,
        port: int = 0,
        faults: FaultsLike | None = None,
        rendering: Rendering = Rendering(),  # noqa: B008  (frozen)
        address: str = "127.0.0.1",
    ) -> None:
        self.simulation = Simulation(host, settings, faults=faults, rendering=rendering)
        self.calls: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.malformed = 0
        self._address, self._wanted_port = address, port
        self._lock = threading.Lock()
        self._clients: set[Connection] = set()
        self._listener: socket.socket | None = None
        self._acceptor = threading.Thread(target=self._accept, name="airsim-accept", daemon=True)
        self._stopping = False

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._listener is not None, "start() first"
        return int(self._listener.getsockname()[1])

    def start(self) -> int:
        """Listen and let time pass; gives the port.

        Raises:
            OSError: the port is taken.
        """
        self.simulation.start()
        try:
            self._listener = socket.create_server((self._address, self._wanted_port), backlog=64)
        except OSError:
            self.simulation.stop()
            raise
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
            except OSError:  # closed by stop(), or a client that went away before it was accepted
                continue
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = Connection(sock, self._serve, self._closed)
            with self._lock:
                full = len(self._clients) >= MAX_CLIENTS
                if not full:
                    self._clients.add(client)
            if full:
                sock.close()
            else:
                client.start()

    def _closed(self, client: Connection) -> None:
        with self._lock:
            self._clients.discard(client)
            self.malformed += client.malformed

    # ---- calls -------------------------------------------------------------------------------------------------------

    def _serve(self, client: Connection, message_id: int | None, name: str, arguments: list[Any]) -> None:
        method = methods.ALL.get(name)
        if method is None:
            self._count(self.unknown, name)
            shown = name[:NAME_SHOWN]
            client.reply(
                message_id,
                f"rpclib: server could not find function '{shown}' with argument count {len(arguments)}.",
                None,
            )
            return
        self._count(self.calls, name)
        if not method.required <= len(arguments) <= method.allowed:
            expected = method.allowed if method.required == method.allowed else f"{method.required} to {method.allowed}"
            problem = f"was called with an invalid number of arguments. Expected: {expected}, got: {len(arguments)}"
            client.reply(message_id, f"rpclib: function '{name}' {problem}", None)
            return
        vehicle = method.vehicle(arguments)
        self.simulation.faults.before_call(name, vehicle)  # may cut the connection: that goes up to the reader
        try:
            self.simulation.follow_town()
            result = method.handler(self.simulation, *arguments)
            if isinstance(result, Later):
                result.begin(lambda outcome: self._finish(client, message_id, name, outcome))
                return
            if name in POSE_METHODS:
                result = self.simulation.faults.pose_result(name, vehicle, result)
        except ConnectionAbortedError:
            raise
        except Exception as error:  # noqa: BLE001  (a client's mistake is answered, it must not end the server)
            result = error
        self._finish(client, message_id, name, result)

    def _finish(self, client: Connection, message_id: int | None, name: str, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            why = str(outcome) or type(outcome).__name__
            client.reply(message_id, f"rpclib: function '{name}' threw an exception: {why}", None)
        else:
            client.reply(message_id, None, outcome)

    def _count(self, counter: Counter[str], name: str) -> None:
        with self._lock:
            if name in counter or len(counter) < MAX_COUNTED_NAMES:
                counter[name[:NAME_SHOWN]] += 1
