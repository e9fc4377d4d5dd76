"""The CARLA server: its two ports and the dispatch of calls."""

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any, Final

from headless_simulator.behaviours import IDEAL, Behaviours
from headless_simulator.carla import snapshot, wire
from headless_simulator.carla.caller import CALLER
from headless_simulator.carla.connection import Answer, CarlaConnection
from headless_simulator.carla.context import build_context
from headless_simulator.carla.method import Traits
from headless_simulator.carla.method_table import method_table
from headless_simulator.carla.streams import EPISODE_STREAM, HOST
from headless_simulator.carla.versions import CARLA_0_9_16, CarlaVersion
from headless_simulator.errors import ClientError
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.rpc.arguments import WrongCount
from headless_simulator.rpc.call_counts import NAME_CHARS
from headless_simulator.rpc.messages import Request
from headless_simulator.rpc.methods import Bound, InternalError
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.world import World

_BACKLOG: Final = 256
_MOST_CONNECTIONS: Final = 4096  # one per subscribed camera
_NO_MORE_FILES_S: Final = 0.05
_TRIES: Final = 200  # to find two consecutive free ports


class CarlaServer:
    """One simulated CARLA server.

    Args:
        world: the served world.
        towns: the loadable towns.
        faults: faults to inject.
        rendering: rendering options.
        behaviours: emulated server behaviours.
        version: the served CARLA version.

    Attributes:
        context: the server's parts.
        methods: RPC methods by name.
        port: the RPC port; streams use the next one.
    """

    def __init__(
        self,
        world: World,
        *,
        towns: TownLibrary,
        faults: Faults,
        rendering: Rendering,
        behaviours: Behaviours = IDEAL,
        version: CarlaVersion = CARLA_0_9_16,
    ) -> None:
        world.stream_large_maps(behaviours["large-map"] == "streamed")
        self.context = build_context(
            world, towns=towns, faults=faults, rendering=rendering, behaviours=behaviours, version=version
        )
        self.context.streams.greeting[EPISODE_STREAM] = lambda: (
            snapshot.pack(world, flags=0, observer=version.world_observer),
        )
        world.game_thread.is_synchronous = lambda: self.context.episode.settings.synchronous
        self.methods = method_table(self.context)
        self.port = 0
        self._stop = threading.Event()
        self._connections: set[socket.socket] = set()
        self._sockets: list[socket.socket] = []

    # ------------------------------------------------------------------ sockets
    def start(self, port: int = 0) -> int:
        """Listen on ``port`` and the next one (0: any two free ports); returns the port.

        Raises:
            OSError: one of them is taken; the message contains it.
        """
        rpc, stream = _listen(port)
        self.port = int(rpc.getsockname()[1])
        self.context.streams.port = self.port + 1
        self._sockets = [rpc, stream]
        for listener, serve in ((rpc, self._serve_rpc), (stream, self.context.streams.serve)):
            threading.Thread(target=self._accept, args=(listener, serve), daemon=True).start()
        self.context.clock.start()
        return self.port

    def stop(self) -> None:
        """Close all connections and stop all threads."""
        self._stop.set()
        self.context.clock.stop()
        for listener in self._sockets:
            listener.close()
        self.context.streams.cut()
        self.context.sensors.close()
        with self.context.world.lock:
            self.context.recorder.stop()
            self.context.replayer.forget()

    def _accept(self, listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                self._stop.wait(_NO_MORE_FILES_S)  # closed, or too many open files, which is temporary
                continue
            if len(self._connections) >= _MOST_CONNECTIONS:
                connection.close()
                continue
            self._connections.add(connection)
            try:
                threading.Thread(target=self._guard, args=(connection, serve), daemon=True).start()
            except RuntimeError:  # this host gives no more threads
                self._connections.discard(connection)
                connection.close()

    def _guard(self, connection: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        try:
            with contextlib.closing(connection), contextlib.suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                serve(connection)
        finally:
            self._connections.discard(connection)

    def _serve_rpc(self, connection: socket.socket) -> None:
        client = CarlaConnection(
            connection,
            call=lambda request: self.call(request, caller=connection),
            advances=self._advances,
            is_synchronous=lambda: self.context.episode.settings.synchronous,
            await_snapshot=lambda: self.context.clock.await_snapshot_after(self.context.world.frame),
        )
        try:
            client.serve()
        finally:
            self.context.silence.end(connection)
            self.context.episode.watchers.discard(connection)
            for port in client.managers:  # a Traffic Manager ends with its client
                self.context.episode.traffic_managers.pop(port, None)

    def _advances(self, request: Request) -> bool:
        bound = self.methods.get(request.method)
        return bound is not None and bound.traits.advances(request.arguments)

    # ------------------------------------------------------------------ calls
    def call(self, request: Request, *, caller: object = None) -> Answer:
        """Answer one RPC of a client, identified by its connection: error text or None, and the result.

        Raises:
            ConnectionAbortedError: an injected fault closes the connection instead.
        """
        CALLER.set(caller)
        counts, name = self.context.counts, request.method
        bound = self.methods.get(name)
        if bound is None:
            counts.add(counts.unknown, name)
            return (
                f"the headless simulator of CARLA {self.context.streams.version.number} has no method {name[:NAME_CHARS]!r}",
                None,
            )
        self.context.faults.before_call(name)
        try:
            # the first argument on the wire is [asynchronous]
            return None, self._answer(bound, bound.read(request.arguments[1:]))
        except WrongCount as problem:
            return _refusal(bound.traits, f"{name}: {problem}")
        except ClientError as problem:
            return _refusal(bound.traits, str(problem))
        except InternalError as problem:
            counts.add(counts.internal_errors, name)
            return _refusal(bound.traits, str(problem))

    def _answer(self, bound: Bound[Traits], arguments: list[Any]) -> Any:
        traits, world = bound.traits, self.context.world
        if traits.is_locked:
            with world.lock:
                result, frame = bound.run(arguments), world.frame
            if traits.is_spawn:
                self.context.clock.await_snapshot_after(frame)
        else:
            result = bound.run(arguments)
        if reshape := self.context.streams.version.answers.get(bound.method.name):
            result = reshape(result)
        if traits.is_bare:
            return result
        return wire.VOID_OK if traits.is_void else wire.ok(result)

    def report(self) -> str | None:
        """One line about drawn images and about unimplemented, ineffective or failed calls, or None."""
        parts = self.context.counts.report()
        if drawn := self.context.sensors.images_drawn:
            kinds = ", ".join(f"{kind.removeprefix('sensor.camera.')} {count}" for kind, count in sorted(drawn.items()))
            parts.append(f"images drawn: {sum(drawn.values())} ({kinds})")
        if self.context.sensors.failed:
            parts.append(f"failed sensor readings: {self.context.sensors.failed}")
        return "; ".join(parts) or None


def _refusal(traits: Traits, text: str) -> Answer:
    if traits.is_bare:
        return text, None
    return None, wire.void_error(text) if traits.is_void else wire.error(text)


def _listen(port: int) -> tuple[socket.socket, socket.socket]:
    for _ in range(_TRIES):
        first, second = socket.socket(), socket.socket()
        for listener in (first, second):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried_port = port
        try:
            first.bind((HOST, port))
            tried_port = first.getsockname()[1] + 1
            second.bind((HOST, tried_port))
        except (OSError, OverflowError) as problem:
            first.close()
            second.close()
            if port and isinstance(problem, OSError):
                raise OSError(problem.errno, f"port {tried_port} of {HOST}: {problem.strerror}") from problem
            if port:
                raise
            continue
        first.listen(_BACKLOG)
        second.listen(_BACKLOG)
        return first, second
    raise OSError("no two adjacent ports are free")
