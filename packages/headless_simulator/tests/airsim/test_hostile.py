"""Invalid input: garbage, endless messages, clients that never read."""

import random
import resource
import socket
import struct
import threading
import time
from typing import Any

import msgpack
import numpy as np
import pytest

from tests.airsim.conftest import hang
from tests.airsim.test_server import SIGNATURES, raw


def call(rng: random.Random) -> bytes:
    """Pack a call of a known method with random arguments, sometimes with an invalid message kind."""
    name = rng.choice(FUZZED)
    signature = SIGNATURES[name]
    most = len(signature.parameters) + 4 * (signature.rest is not None)
    count = rng.randint(signature.required, most) if rng.random() < 0.9 else rng.randrange(12)
    kind = rng.choice((0,) * 40 + (2, 5))
    return msgpack.packb([kind, rng.randrange(99), name, [junk(rng, 3) for _ in range(count)]])


def garbage(rng: random.Random) -> bytes:
    """Return random bytes, or a call with a few changed bytes."""
    if rng.random() < 0.5:
        return rng.randbytes(rng.randrange(1, 200))
    changed = bytearray(call(rng))
    for _ in range(rng.randrange(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def read_to_end(sock: socket.socket) -> None:
    try:
        while sock.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass  # closed before it read all of it


def send_for_ever(sock: socket.socket, block: bytes, *, seconds: float) -> None:
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        sock.sendall(block)


FUZZED = sorted(set(SIGNATURES) - {"startRecording", "simContinueForTime", "simContinueForFrames"})


JUNK = (
    "", "Drone", "0", ".*", "\x00" * 50, b"\xff\xfe", None, True, -1, 0, 5, 2**63, -(2**62), 1e308, float("nan"), float("inf"),
    0.5,
)  # fmt: skip


def junk(rng: random.Random, depth: int) -> Any:
    """Return a value of any type, also a map with keys of AirSim's types."""
    kind = rng.randrange(11)
    if kind < 3 and depth:
        keys = ("x_val", "y_val", "z_val", "w_val", "position", "orientation", "is_rate", "yaw_or_rate", "camera_name")
        return {rng.choice(keys): junk(rng, depth - 1) for _ in range(rng.randrange(5))}
    if kind == 3 and depth:
        return [junk(rng, depth - 1) for _ in range(rng.randrange(5))]
    return rng.choice(JUNK)


def test_garbage_never_breaks_the_server(serve, connect) -> None:
    """2,000 connections that send garbage, and between them 4,000 calls with random arguments, eight a connection."""
    before = threading.active_count()  # those of servers that earlier tests had are not this one's
    server = serve()
    witness = connect(server)
    hang(witness)
    rng = random.Random(5)
    memory: list[int] = []
    for number in range(2500):
        pieces = [call(rng) for _ in range(8)] if number % 5 == 0 else [garbage(rng)]
        with raw(server) as sock:
            sock.sendall(b"".join(pieces))
            sock.shutdown(socket.SHUT_WR)
            read_to_end(sock)  # the server has dealt with it and closed
        if number % 250 == 249:
            assert witness.ping()
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert sum(server.counts.served.values()) > 2500, "much of it got through to the methods"
    assert server.malformed > 1000
    assert not server.counts.internal_errors, "whatever clients send is their mistake"
    assert witness.listVehicles()
    witness.reset()
    witness.simPause(True)
    state = witness.getMultirotorState("SimpleFlight").kinematics_estimated
    assert np.isfinite(state.position.z_val)
    assert np.isfinite(state.orientation.w_val)
    assert memory[-1] - memory[4] < 20_000, f"grew: {memory} KiB"
    ended_by = time.monotonic() + 30
    while threading.active_count() >= before + 50 and time.monotonic() < ended_by:
        time.sleep(0.05)  # a connection's thread ends a little after its socket
    assert threading.active_count() < before + 50


def test_endless_message_is_cut_off(serve, connect) -> None:
    server = serve()
    witness = connect(server)
    with raw(server) as sock:
        sock.sendall(b"\xc6" + struct.pack(">I", 2**31))  # announces 2 GiB of bytes
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            send_for_ever(sock, b"\0" * (1 << 20), seconds=60)
    assert witness.ping()
    ended_by = time.monotonic() + 30
    while not server.malformed and time.monotonic() < ended_by:
        time.sleep(0.05)  # a connection is counted after its socket is closed
    assert server.malformed == 1


def test_client_that_never_reads_is_cut_off(serve, connect) -> None:
    server = serve()
    witness = connect(server)
    with raw(server) as sock:
        request = msgpack.packb([0, 1, "getMultirotorState", [""]])
        with pytest.raises(OSError, match=r"Broken pipe|reset|timed out"):
            send_for_ever(sock, request * 500, seconds=60)
    assert witness.ping()
