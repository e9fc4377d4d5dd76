import socket
import struct
import threading
import time

import pytest
from headless_simulator.carla.streams import Streams

QUIET = 7


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def served(streams: Streams, ours: socket.socket, theirs: socket.socket) -> threading.Thread:
    thread = threading.Thread(target=streams.serve, args=(ours,), daemon=True)
    thread.start()
    theirs.sendall(struct.pack("<I", QUIET))
    deadline = time.monotonic() + 30
    while not streams.has_listener(QUIET) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert streams.has_listener(QUIET)
    return thread


def test_a_reader_of_a_quiet_stream_who_leaves_is_noticed(pair) -> None:
    streams = Streams()
    thread = served(streams, *pair)
    pair[1].close()
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert not streams.has_listener(QUIET)


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
