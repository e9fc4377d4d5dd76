"""The streaming server: a client connects once per stream, sends the stream's number and then only reads.

The producing thread sends a packet directly if the queue is empty and the socket accepts it: that saves waking another thread
per packet. The remainder goes to the subscriber's short queue and its sender thread. A full queue blocks the simulation; a
queue that stays full for ``STALL_S`` belongs to a client that has stopped reading, and its connection is closed to protect
other clients.
"""

import contextlib
import queue
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from headless_simulator.carla import wire
from headless_simulator.carla.versions import CARLA_0_9_16, CarlaVersion

HOST: Final = "127.0.0.1"
EPISODE_STREAM: Final = 1
STALL_S: Final = 10.0
_SEND_BUFFER: Final = 4 << 20
_POLL_S: Final = 1.0  # time to detect that the reader of an idle stream has disconnected
_SIZE: Final = struct.Struct("<I")

Part: TypeAlias = bytes | memoryview
Packet: TypeAlias = tuple[Part, ...]


class Subscriber:
    """One connection that reads one stream."""

    def __init__(self, connection: socket.socket, depth: int) -> None:
        self._connection = connection
        self._queue: queue.Queue[Packet | None] = queue.Queue(depth)
        self._send_lock = threading.Lock()
        self.closed = threading.Event()

    def put(self, packet: Packet) -> None:
        """Send a packet, or queue its unsent part; blocks while the queue is full."""
        unsent: Packet = (_SIZE.pack(sum(len(part) for part in packet)), *packet)
        with self._send_lock:  # packets keep their order
            if self.closed.is_set():
                return
            try:
                if not self._queue.unfinished_tasks:
                    unsent = _send_now(self._connection, unsent)
                if unsent:
                    self._queue.put(unsent, timeout=STALL_S)
            except (queue.Full, OSError):  # it has stopped reading, or disconnected
                self.close()

    def close(self) -> None:
        """End the connection."""
        self.closed.set()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)

    def pump(self) -> None:
        """Send queued packets until the connection ends."""
        try:
            while not self.closed.is_set():
                try:
                    packet = self._queue.get(timeout=_POLL_S)
                except queue.Empty:
                    if _is_disconnected(self._connection):
                        return
                    continue
                try:
                    if packet is None:
                        return
                    for part in _unsent(packet, self._connection.sendmsg(packet)):
                        self._connection.sendall(part)
                finally:
                    self._queue.task_done()
        except OSError:
            pass  # a client unsubscribes by disconnecting
        finally:
            self.closed.set()
            while True:  # wakes producers that wait for room
                try:
                    self._queue.get_nowait()
                except queue.Empty:
                    break
                self._queue.task_done()

    def is_disconnected(self) -> bool:
        """Return whether the peer has closed, which ``pump`` detects later: no image is drawn for it."""
        return _is_disconnected(self._connection)

    def await_sent(self, limit_s: float) -> None:
        """Wait until all queued packets are sent."""
        with self._queue.all_tasks_done:
            self._queue.all_tasks_done.wait_for(lambda: not self._queue.unfinished_tasks, limit_s)


def _is_disconnected(connection: socket.socket) -> bool:
    """Return whether the peer has closed: readers send only their stream's number, so only EOF can be read."""
    try:
        return not connection.recv(4096, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:  # it was reset
        return True


def _send_now(connection: socket.socket, packet: Packet) -> Packet:
    """Send without blocking; returns the unsent part."""
    try:
        return _unsent(packet, connection.sendmsg(packet, (), socket.MSG_DONTWAIT))
    except BlockingIOError:
        return packet


def _unsent(packet: Packet, sent: int) -> Packet:
    """Return a packet without its first ``sent`` bytes."""
    for number, part in enumerate(packet):
        if sent < len(part):
            return (memoryview(part)[sent:], *packet[number + 1 :])
        sent -= len(part)
    return ()


class Streams:
    """All streams by number.

    Attributes:
        version: CARLA version of the layouts.
        port: the streaming port; 0 until the server listens.
        greeting: first packet for a new reader, by stream number.
    """

    def __init__(self, version: CarlaVersion = CARLA_0_9_16) -> None:
        self.version = version
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._expected: set[int] = set()
        self._subscribers: dict[int, list[Subscriber]] = {}
        self._next = EPISODE_STREAM + 1
        self.port = 0
        self.greeting: dict[int, Callable[[], Packet]] = {}

    def new(self) -> int:
        """Return an unused stream number."""
        with self._lock:
            self._next += 1
            return self._next - 1

    def token(self, stream_id: int) -> bytes:
        """Return a stream's token."""
        return wire.token(stream_id, self.port, HOST)

    def expect(self, stream_id: int) -> None:
        """Record that a client requested a stream's token and is about to connect."""
        with self._lock:
            self._expected.add(stream_id)

    def await_expected(self, limit_s: float) -> None:
        """Wait for clients with a token and no connection yet, so that a new listener does not miss the next tick."""
        with self._lock:
            if self._expected:
                self._arrived.wait_for(lambda: not self._expected, limit_s)
                self._expected.clear()  # each client is awaited once only

    def readers(self, stream_id: int) -> tuple[Subscriber, ...]:
        """Return a stream's current subscribers."""
        listed = tuple(self._subscribers.get(stream_id, ()))  # another thread may remove a subscriber meanwhile
        return tuple(s for s in listed if not s.closed.is_set() and not s.is_disconnected())

    def send(self, stream_id: int, packet: Packet) -> None:
        """Queue a packet for all subscribers of a stream."""
        for subscriber in self.readers(stream_id):
            subscriber.put(packet)

    def await_sent(self, stream_id: int, limit_s: float) -> None:
        """Wait until a stream's queued packets are sent, at most ``limit_s`` per subscriber."""
        for subscriber in list(self._subscribers.get(stream_id, ())):
            subscriber.await_sent(limit_s)

    def cut(self, stream_ids: Sequence[int] | None = None) -> None:
        """Close the connections of the given streams, by default of all."""
        with self._lock:
            numbers = self._subscribers if stream_ids is None else stream_ids
            subscribers = [s for number in numbers for s in self._subscribers.get(number, ())]
        for subscriber in subscribers:
            subscriber.close()

    def serve(self, connection: socket.socket) -> None:
        """Serve one connection until it ends."""
        head = _read_exactly(connection, 4)
        if head is None:
            return
        stream_id = int(_SIZE.unpack(head)[0])
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        greet = self.greeting.get(stream_id)
        subscriber = Subscriber(connection, 256 if greet else 4)
        with self._lock:
            self._subscribers.setdefault(stream_id, []).append(subscriber)
            self._expected.discard(stream_id)
            self._arrived.notify_all()
        try:
            if greet:  # after registration: otherwise a packet sent meanwhile is lost, and the client waits for it
                subscriber.put(greet())
            subscriber.pump()
        finally:
            with self._lock:
                self._subscribers[stream_id].remove(subscriber)
                if not self._subscribers[stream_id]:
                    del self._subscribers[stream_id]


def _read_exactly(connection: socket.socket, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            return None
        data += more
    return data
