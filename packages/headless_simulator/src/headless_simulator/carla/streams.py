"""The streaming server: a client connects once per stream, sends its number and then only reads.

Whoever has a packet for a subscriber sends it himself if nothing is before it and the connection takes it at once: that saves
waking another thread for each packet. What is left goes to the subscriber's short queue and its sender thread. A full queue
holds the simulation back; one that stays full for ``STALL_S`` belongs to a client that has stopped reading, and its connection
is closed so that others are not disturbed.
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
_LOOK_S: Final = 1.0  # how soon it is noticed that the reader of a quiet stream has left
_SIZE: Final = struct.Struct("<I")

Part: TypeAlias = bytes | memoryview
Packet: TypeAlias = tuple[Part, ...]


class Subscriber:
    """One connection that reads one stream."""

    def __init__(self, connection: socket.socket, depth: int) -> None:
        self._connection = connection
        self._queue: queue.Queue[Packet | None] = queue.Queue(depth)
        self._turn = threading.Lock()
        self.closed = threading.Event()

    def put(self, packet: Packet) -> None:
        """Send a packet, or queue what does not leave at once; waits while the queue is full."""
        left: Packet = (_SIZE.pack(sum(len(part) for part in packet)), *packet)
        with self._turn:  # packets leave in the order in which they came
            if self.closed.is_set():
                return
            try:
                if not self._queue.unfinished_tasks:
                    left = _send_now(self._connection, left)
                if left:
                    self._queue.put(left, timeout=STALL_S)
            except (queue.Full, OSError):  # it has stopped reading, or left
                self.close()

    def close(self) -> None:
        """End the connection."""
        self.closed.set()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)

    def pump(self) -> None:
        """Send what is queued until the connection ends."""
        try:
            while not self.closed.is_set():
                try:
                    packet = self._queue.get(timeout=_LOOK_S)
                except queue.Empty:
                    if _has_left(self._connection):
                        return
                    continue
                try:
                    if packet is None:
                        return
                    for part in _after(packet, self._connection.sendmsg(packet)):
                        self._connection.sendall(part)
                finally:
                    self._queue.task_done()
        except OSError:
            pass  # the client left: that is how a stream is unsubscribed
        finally:
            self.closed.set()
            while True:  # whoever waits for room may go on
                try:
                    self._queue.get_nowait()
                except queue.Empty:
                    break
                self._queue.task_done()

    def has_left(self) -> bool:
        """Return whether the other end has closed, which ``pump`` notices later: nothing is drawn for who has left."""
        return _has_left(self._connection)

    def await_sent(self, limit_s: float) -> None:
        """Wait until everything that was queued has left."""
        with self._queue.all_tasks_done:
            self._queue.all_tasks_done.wait_for(lambda: not self._queue.unfinished_tasks, limit_s)


def _has_left(connection: socket.socket) -> bool:
    """Return whether the other end has closed: readers send only their stream's number, so only the end can be read."""
    try:
        return not connection.recv(4096, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:  # it was reset
        return True


def _send_now(connection: socket.socket, packet: Packet) -> Packet:
    """Send what a connection takes without waiting; returns what is left."""
    try:
        return _after(packet, connection.sendmsg(packet, (), socket.MSG_DONTWAIT))
    except BlockingIOError:
        return packet


def _after(packet: Packet, sent: int) -> Packet:
    """Give what comes after the first bytes of a packet."""
    for number, part in enumerate(packet):
        if sent < len(part):
            return (memoryview(part)[sent:], *packet[number + 1 :])
        sent -= len(part)
    return ()


class Streams:
    """All streams by number.

    Attributes:
        version: of CARLA, whose layouts they have.
        port: where they are served; 0 until the server listens.
        greeting: what the reader of a stream gets at once, by the stream's number.
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
        """Give a number that no stream had before."""
        with self._lock:
            self._next += 1
            return self._next - 1

    def token(self, stream_id: int) -> bytes:
        """Say where a stream is found, as clients read it."""
        return wire.token(stream_id, self.port, HOST)

    def expect(self, stream_id: int) -> None:
        """Note that a client asked where a stream is: it is about to connect, whoever reads the stream already."""
        with self._lock:
            self._expected.add(stream_id)

    def await_expected(self, limit_s: float) -> None:
        """Wait for those who asked and have not connected yet, so that a new listener does not miss the next tick."""
        with self._lock:
            if self._expected:
                self._arrived.wait_for(lambda: not self._expected, limit_s)
                self._expected.clear()  # who has not come by now is not waited for again

    def readers(self, stream_id: int) -> tuple[Subscriber, ...]:
        """Give who reads it now."""
        listed = tuple(self._subscribers.get(stream_id, ()))  # one may be taken out while another is looked at
        return tuple(s for s in listed if not s.closed.is_set() and not s.has_left())

    def send(self, stream_id: int, packet: Packet) -> None:
        """Queue a packet for everybody who reads the stream."""
        for subscriber in self.readers(stream_id):
            subscriber.put(packet)

    def await_sent(self, stream_id: int, limit_s: float) -> None:
        """Wait until what was queued for the readers of a stream has left; for each of them so long at most."""
        for subscriber in list(self._subscribers.get(stream_id, ())):
            subscriber.await_sent(limit_s)

    def cut(self, stream_ids: Sequence[int] | None = None) -> None:
        """Close the connections of streams (all without numbers)."""
        with self._lock:
            wanted = self._subscribers if stream_ids is None else stream_ids
            doomed = [s for number in wanted for s in self._subscribers.get(number, ())]
        for subscriber in doomed:
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
            if (
                greet
            ):  # once it is listed: what is sent meanwhile would else be lost, and a client wait for its snapshot
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
