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


def test_a_reader_of_a_quiet_stream_who_leaves_is_noticed(pair) -> None:
    streams = Streams()
    thread = served(streams, *pair)
    pair[1].close()
    assert not streams.readers(QUIET)  # at once: nothing is measured for who has left
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert not streams.readers(QUIET)


def test_a_reader_of_a_quiet_stream_who_stays_is_kept(pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headless_simulator.carla.streams._LOOK_S", 0.01)
    streams = Streams()
    thread = served(streams, *pair)
    thread.join(timeout=0.3)  # thirty looks
    assert thread.is_alive()
    streams.send(QUIET, (b"still", b"here"))
    pair[1].settimeout(30)
    assert pair[1].recv(13, socket.MSG_WAITALL) == struct.pack("<I", 9) + b"stillhere"
    streams.cut([QUIET])
    thread.join(timeout=30)
    assert not thread.is_alive()


def test_what_is_sent_while_a_reader_is_greeted_is_not_lost(pair) -> None:
    """A client that had no snapshot of the tick that it asked for waited for it in vain."""
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


def test_a_reader_who_leaves_while_others_are_sent_to_takes_nothing_from_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stood behind it in the list was passed over, and its client waited for that tick's snapshot in vain."""
    streams, has_left = Streams(), Subscriber.has_left
    with contextlib.ExitStack() as sockets:
        first, second = ([sockets.enter_context(end) for end in socket.socketpair()] for _ in range(2))
        leaves = served(streams, *first)
        stays = served(streams, *second, others=1)

        def has_left_and_is_noticed(reader: Subscriber) -> bool:
            if leaves.is_alive():
                first[1].close()
                leaves.join(timeout=30)
            return has_left(reader)

        monkeypatch.setattr(Subscriber, "has_left", has_left_and_is_noticed)
        streams.send(QUIET, (b"tick",))
        second[1].settimeout(5)
        assert second[1].recv(8, socket.MSG_WAITALL) == struct.pack("<I", 4) + b"tick"
        streams.cut([QUIET])
        stays.join(timeout=30)


def test_packets_leave_in_order_and_whole_however_slowly_they_are_read(pair) -> None:
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


def test_what_a_connection_takes_at_once_wakes_no_other_thread(pair) -> None:
    streams = Streams()
    served(streams, *pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("queue.Queue.put", lambda *_, **__: pytest.fail("queued"))
        streams.send(QUIET, (b"now",))
    pair[1].settimeout(30)
    assert pair[1].recv(7, socket.MSG_WAITALL) == struct.pack("<I", 3) + b"now"


def test_a_reader_who_has_stopped_is_cut_off(pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headless_simulator.carla.streams.STALL_S", 0.05)
    streams = Streams()
    thread = served(streams, *pair)
    for _ in range(8):
        streams.send(QUIET, (bytes(8 << 20),))
    thread.join(timeout=30)

    assert not thread.is_alive()
    assert not streams.readers(QUIET)
    streams.send(QUIET, (b"nobody",))


def test_who_listens_again_is_waited_for_though_nobody_has_noticed_yet_that_he_had_left(pair) -> None:
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
