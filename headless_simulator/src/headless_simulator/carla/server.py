"""The CARLA server: sockets, clock and what its RPC methods work on."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from headless_simulator.carla import (  # noqa: F401  (the method modules fill the table)
    absent_methods,
    actor_methods,
    body_methods,
    commands,
    environment_methods,
    light_methods,
    recorder_methods,
    session_methods,
    snapshot,
    values,
    vehicle_methods,
    weather_methods,
    wire,
)
from headless_simulator.carla.navmesh import build_mesh
from headless_simulator.carla.recorder import engines
from headless_simulator.carla.recorder.layout import PhysicsControl
from headless_simulator.carla.recorder.replay import Replayer
from headless_simulator.carla.recorder.writer import Recorder
from headless_simulator.carla.registry import METHODS
from headless_simulator.carla.rpc import Answer, RpcConnection
from headless_simulator.carla.sensors import Sensors
from headless_simulator.carla.session_methods import EPISODE_STREAM, navigation_file
from headless_simulator.carla.settings import Settings
from headless_simulator.carla.streams import Streams
from headless_simulator.carla.values import BadArgument, CallFailed
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.actors import Actor, NoSuchActor
from headless_simulator.world.scenery import MapLayer
from headless_simulator.world.table import SENSOR
from headless_simulator.world.world import World

HOST: Final = "127.0.0.1"
_ADVANCING: Final = frozenset({"tick_cue", "set_episode_settings", "load_new_episode", "replay_file"})
_UNLOCKED: Final = _ADVANCING | {"apply_batch"} | recorder_methods.UNLOCKED
_SPAWNING: Final = frozenset({"spawn_actor", "spawn_actor_with_parent"})
_BACKLOG: Final = 256
_SNAPSHOT_WAIT_S: Final = 1.0
_IMAGES_WAIT_S: Final = 1.5
_LISTENERS_WAIT_S: Final = 1.0
_MOST_NAMES: Final = 1000  # of unknown methods that are counted
_REFUSALS: Final = (TypeError, ValueError, IndexError, KeyError, OverflowError, AttributeError)


class CarlaServer:
    """One simulated CARLA.

    Args:
        world: what it serves.
        towns: what can be loaded.
        faults: what goes wrong on purpose.
        rendering: how images are made.
    """

    def __init__(self, world: World, *, towns: TownLibrary, faults: Faults, rendering: Rendering) -> None:
        self.world, self.towns, self.faults = world, towns, faults
        self.settings = Settings()
        self.streams = Streams()
        self.streams.greeting[EPISODE_STREAM] = lambda: (snapshot.pack(self.world, flags=0),)
        self.sensors = Sensors(self, rendering)
        self.recorder, self.replayer = Recorder(world, self._engine_of), Replayer(self)
        self.traffic_managers: dict[int, str] = {}
        self.unknown: Counter[str] = Counter()
        self.without_effect: Counter[str] = Counter()
        self.imu_gravity_mps2 = 9.81
        self.port = 0
        self.on_step: list[Callable[[float], None]] = []
        self._tick_lock = threading.RLock()
        self._stop = threading.Event()
        self._snapshot_sent, self._sent_frame = threading.Condition(), 0
        self._sockets: list[socket.socket] = []
        self._navigation: tuple[str, bytes] | None = None

    # ------------------------------------------------------------------ sockets
    def start(self, port: int = 0) -> int:
        """Listen on ``port`` and the one after it (0: any two free ones); returns the port."""
        rpc, stream = _listen(port)
        self.port = int(rpc.getsockname()[1])
        self._sockets = [rpc, stream]
        for listener, serve in ((rpc, self._serve_rpc), (stream, self.streams.serve)):
            threading.Thread(target=self._accept, args=(listener, serve), daemon=True).start()
        threading.Thread(target=self._run_freely, name="free run", daemon=True).start()
        return self.port

    def stop(self) -> None:
        """Close everything."""
        self._stop.set()
        for listener in self._sockets:
            listener.close()
        self.streams.cut()
        self.sensors.close()
        with self.world.lock:
            self.recorder.stop()
            self.replayer.forget()

    def _accept(self, listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._guard, args=(connection, serve), daemon=True).start()

    def _guard(self, connection: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serve(connection)

    def _serve_rpc(self, connection: socket.socket) -> None:
        link = RpcConnection(
            connection, call=self.call, advances=_advances, is_synchronous=lambda: self.settings.synchronous
        )
        try:
            link.serve()
        finally:
            for port in link.managers:  # a Traffic Manager ends with its client
                self.traffic_managers.pop(port, None)

    # ------------------------------------------------------------------ calls
    def call(self, name: str, arguments: list[Any]) -> Answer:
        """Answer one RPC: error text or nothing, and the result.

        Raises:
            ConnectionAbortedError: a fault wants the connection closed instead.
        """
        entry = METHODS.get(name)
        if entry is None:
            if name[:200] in self.unknown or len(self.unknown) < _MOST_NAMES:
                self.unknown[name[:200]] += 1
            return f"the headless simulator has no method {name[:200]!r}", None
        self.faults.before_call(name)
        fail = wire.void_error if entry.void else wire.error
        try:
            if name in _UNLOCKED:
                result = entry.handler(self, *arguments[1:])  # arguments[0] is [asynchronous]
            else:
                with self.world.lock:
                    result, frame = entry.handler(self, *arguments[1:]), self.world.frame
                if name in _SPAWNING:
                    self._await_snapshot_after(frame)
        except (CallFailed, BadArgument, NoSuchActor) as refusal:
            return (str(refusal), None) if entry.bare else (None, fail(str(refusal)))
        except _REFUSALS as problem:
            if not _is_argument_error(problem):
                traceback.print_exc()
            return (None, fail(f"{name}: arguments that cannot be read: {problem}"))
        if entry.bare:
            return None, result
        return None, wire.VOID_OK if entry.void else wire.ok(result)

    def token(self, stream_id: int) -> bytes:
        """Where a stream is found."""
        return wire.token(stream_id, self.port + 1, HOST)

    def actor_wire(self, actor: Actor) -> list[Any]:
        """Describe an actor."""
        description = actor.order.description or [0, actor.blueprint, _own_attributes(actor)]
        token = self.token(actor.stream_id) if actor.stream_id else b""
        return [actor.actor_id, actor.parent_id, description, self.box_wire(actor), bytes([actor.tag]), token]

    def box_wire(self, actor: Actor) -> list[Any]:
        """The bounding box in the actor's frame; of a traffic light its trigger volume."""
        return [list(actor.offset_m), list(actor.half_m), [0.0, actor.box_yaw_deg, 0.0], actor.actor_id]

    # ------------------------------------------------------------------ clock
    def tick(self) -> int:
        """Advance by one tick; returns its frame.

        The state is queued for sending by then, and so are the images, unless they take longer than
        ``_IMAGES_WAIT_S``: then the next tick waits for them, so that a slow renderer is no RPC time-out.
        """
        with self._tick_lock:
            self.sensors.finish()
            self.streams.await_expected(_LISTENERS_WAIT_S)
            self.faults.before_tick(synchronous=self.settings.synchronous)
            step_s = self.settings.step_s
            for listener in self.on_step:
                listener(step_s)
            with self.world.lock:
                if self.replayer.is_on:
                    self._replay(step_s)
                self.world.step(step_s)
                if self.recorder.is_on:
                    self._record(step_s)
                packet = snapshot.pack(self.world, flags=0, spoiled=self._spoiled())
                work = self.sensors.gather(render=not self.settings.no_rendering)
            if self.faults.cuts_stream(0, "world", None):
                self.streams.cut([EPISODE_STREAM])
            self.streams.send(EPISODE_STREAM, (packet,))
            with self._snapshot_sent:
                self._sent_frame = self.world.frame
                self._snapshot_sent.notify_all()
            self.sensors.start(work)
            self.sensors.wait(_IMAGES_WAIT_S)
            return self.world.frame

    def _replay(self, step_s: float) -> None:
        self.replayer.advance(step_s)
        if self.replayer.trouble and not self.replayer.is_on:
            note(f"headless-simulator: a replay ended: {self.replayer.trouble}")

    def _record(self, step_s: float) -> None:
        self.recorder.add_frame(step_s)
        if self.recorder.trouble:
            note(f"headless-simulator: {self.recorder.trouble}")

    def _engine_of(self, vehicle: Actor) -> PhysicsControl | None:
        return engines.from_wire(vehicle.actor_id, vehicle_methods.get_physics_control(self, vehicle.actor_id))

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Hold the clock and the world, for calls that are answered without the world's lock."""
        with self._tick_lock, self.world.lock:  # in a tick's order
            yield

    def _await_snapshot_after(self, frame: int) -> None:
        """Let a free-running clock show what was spawned before its client hears of it.

        A real server answers one call a frame, and programs rely on it: the client navigates a walker from where the last
        snapshot shows it, and recurses without end if none does.
        """
        with self._snapshot_sent:
            self._snapshot_sent.wait_for(
                lambda: self._sent_frame > frame or self.settings.synchronous or self._stop.is_set(), _SNAPSHOT_WAIT_S
            )

    def _spoiled(self) -> list[int]:
        """Ids of actors whose pose is to be no number in this tick's snapshot."""
        if not self.faults.spoils_poses:
            return []
        return [
            a.actor_id
            for a in self.world.actors.values()
            if a.kind != SENSOR and self.faults.spoils(a.actor_id, a.blueprint)
        ]

    def _run_freely(self) -> None:
        while not self._stop.is_set():
            if self.settings.synchronous:
                self._stop.wait(0.01)
                continue
            started = time.monotonic()
            with self._tick_lock:
                if not self.settings.synchronous:
                    self.tick()
            self._stop.wait(max(0.0, self.settings.step_s - (time.monotonic() - started)))

    # ------------------------------------------------------------------ town
    def load(self, name: str, *, reset_settings: bool, layers: MapLayer = MapLayer.ALL) -> None:
        """Begin a new episode."""
        with self._tick_lock:
            self.sensors.finish()
            town = self.towns.town(name) if name else self.world.town
            with self.world.lock:
                self.recorder.stop()
                self.replayer.forget()
                self.sensors.clear()
                if reset_settings:
                    self.settings = Settings()
                self.traffic_managers.clear()
                self.world.open(town)
                self.world.scenery.unload(MapLayer.ALL & ~layers)
                self._navigation = None
                packet = snapshot.pack(self.world, flags=wire.MAP_CHANGE)
            self.streams.send(EPISODE_STREAM, (packet,))

    def navigation(self) -> tuple[str, bytes]:
        """Name and content of the pedestrians' mesh."""
        if self._navigation is None:
            content = build_mesh(self.world.town.walk_polygons)
            self._navigation = navigation_file(self.world.town.name, content), content
        return self._navigation

    def report(self) -> str | None:
        """One line about calls that are not implemented or change nothing here, None without any."""
        parts = [
            f"{what} " + ", ".join(f"{name} x{n}" for name, n in sorted(counted.items()))
            for what, counted in (("unknown RPCs:", self.unknown), ("RPCs without effect:", self.without_effect))
            if counted
        ]
        if self.sensors.failed:
            parts.append(f"failed sensor readings: {self.sensors.failed}")
        return "headless-simulator: " + "; ".join(parts) if parts else None


def _advances(name: str, arguments: list[Any]) -> bool:
    return name in _ADVANCING or (name == "apply_batch" and len(arguments) > 2 and arguments[2] is True)


def _is_argument_error(problem: BaseException) -> bool:
    """Whether the client's words are to blame, not our code: they are if nothing below the handler failed."""
    return isinstance(problem, (TypeError, ValueError, IndexError, OverflowError))


def _own_attributes(actor: Actor) -> list[list[Any]]:
    if actor.blueprint == "spectator":
        return [["simulator", 4, "headless"]]
    return [["role_name", 4, actor.blueprint.split(".")[0]]]


def _listen(port: int) -> tuple[socket.socket, socket.socket]:
    for _ in range(200):
        first, second = socket.socket(), socket.socket()
        for listener in (first, second):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            first.bind((HOST, port))
            second.bind((HOST, first.getsockname()[1] + 1))
        except (OSError, OverflowError):
            first.close()
            second.close()
            if port:
                raise
            continue
        first.listen(_BACKLOG)
        second.listen(_BACKLOG)
        return first, second
    raise OSError("no two adjacent free ports")


def note(text: str) -> None:
    """Tell people at the terminal."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
