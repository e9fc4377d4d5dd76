import contextlib
import socket
import struct
import threading
import time

import pytest
from headless_simulator.carla.streams import Streams, Subscriber

QUIET = 7


@pytest.fixture
def pair():
    server, client = socket.socketpair()
    with server, client:
        yield server, client


def served(streams: Streams, server: socket.socket, client: socket.socket, *, others: int = 0) -> threading.Thread:
    thread = threading.Thread(target=streams.serve, args=(server,), daemon=True)
    thread.start()
    client.sendall(struct.pack("<I", QUIET))
    deadline = time.monotonic() + 30
    while len(streams.readers(QUIET)) <= others and time.monotonic() < deadline:
        time.sleep(0.005)
    assert len(streams.readers(QUIET)) == others + 1
    return thread


def test_disconnect_on_idle_stream_is_detected(pair) -> None:
    streams = Streams()
    thread = served(streams, *pair)
    pair[1].close()
    assert not streams.readers(QUIET)  # at once: nothing is measured for a disconnected reader
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert not streams.readers(QUIET)


def test_reader_of_idle_stream_stays_subscribed(pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headless_simulator.carla.streams._POLL_S", 0.01)
    streams = Streams()
    thread = served(streams, *pair)
    thread.join(timeout=0.3)  # thirty polls
    assert thread.is_alive()
    streams.send(QUIET, (b"still", b"here"))
    pair[1].settimeout(30)
    assert pair[1].recv(13, socket.MSG_WAITALL) == struct.pack("<I", 9) + b"stillhere"
    streams.cut([QUIET])
    thread.join(timeout=30)
    assert not thread.is_alive()


def test_packet_sent_during_greeting_is_delivered(pair) -> None:
    """Otherwise the client waits for a snapshot that never arrives."""
    streams = Streams()

    def greeting() -> tuple[bytes]:
        streams.send(QUIET, (b"tick",))
        return (b"older",)

    streams.greeting[QUIET] = greeting
    served(streams, *pair)
    pair[1].settimeout(30)
    assert received(pair[1], 17) == struct.pack("<I", 4) + b"tick" + struct.pack("<I", 5) + b"older"
    streams.cut([QUIET])


def received(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        assert more, "the connection was closed"
        data += more
    return data


def test_disconnect_during_send_skips_no_other_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the next reader in the list is skipped, and its client waits for a snapshot that never arrives."""
    streams, is_disconnected = Streams(), Subscriber.is_disconnected
    with contextlib.ExitStack() as sockets:
        first, second = ([sockets.enter_context(end) for end in socket.socketpair()] for _ in range(2))
        leaves = served(streams, *first)
        stays = served(streams, *second, others=1)

        def disconnect_first(reader: Subscriber) -> bool:
            if leaves.is_alive():
                first[1].close()
                leaves.join(timeout=30)
            return is_disconnected(reader)

        monkeypatch.setattr(Subscriber, "is_disconnected", disconnect_first)
        streams.send(QUIET, (b"tick",))
        second[1].settimeout(5)
        assert second[1].recv(8, socket.MSG_WAITALL) == struct.pack("<I", 4) + b"tick"
        streams.cut([QUIET])
        stays.join(timeout=30)


def test_slow_reader_receives_complete_packets_in_order(pair) -> None:
    streams = Streams()
    served(streams, *pair)
    packets = [bytes((n,)) * (3_000_000 if n % 3 == 0 else 10) for n in range(12)]

    def send() -> None:
        for n, packet in enumerate(packets):
            streams.send(QUIET, (packet[:5], memoryview(packet)[5:]) if n % 2 else (packet,))

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    pair[1].settimeout(30)
    for packet in packets:
        assert received(pair[1], 4) == struct.pack("<I", len(packet))
        assert received(pair[1], len(packet)) == packet
        time.sleep(0.01)
    sender.join(timeout=30)
    streams.await_sent(QUIET, 30.0)
    assert not sender.is_alive()


def test_packet_is_sent_without_queue_if_socket_accepts_it(pair) -> None:
    streams = Streams()
    served(streams, *pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("queue.Queue.put", lambda *_, **__: pytest.fail("queued"))
        streams.send(QUIET, (b"now",))
    pair[1].settimeout(30)
    assert pair[1].recv(7, socket.MSG_WAITALL) == struct.pack("<I", 3) + b"now"


def test_stalled_reader_is_disconnected(pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headless_simulator.carla.streams.STALL_S", 0.05)
    streams = Streams()
    thread = served(streams, *pair)
    for _ in range(8):
        streams.send(QUIET, (bytes(8 << 20),))
    thread.join(timeout=30)

    assert not thread.is_alive()
    assert not streams.readers(QUIET)
    streams.send(QUIET, (b"nobody",))


def test_new_listener_is_awaited_despite_undetected_disconnect(pair) -> None:
    streams = Streams()
    served(streams, *pair)
    pair[1].close()
    streams.expect(QUIET)
    waited = threading.Thread(target=streams.await_expected, args=(30.0,), daemon=True)
    waited.start()
    waited.join(timeout=0.1)
    assert waited.is_alive()

    server, client = socket.socketpair()
    with server, client:
        threading.Thread(target=streams.serve, args=(server,), daemon=True).start()
        client.sendall(struct.pack("<I", QUIET))
        waited.join(timeout=20)
        assert not waited.is_alive()
