"""Foreign servers at the simulators' ports are identified in one line, within seconds, which the docs quote."""

import socket
import threading
import time
from pathlib import Path
from typing import Literal

import msgpack
import pytest

from tests.rpc_ports import Serve, listening, rpc
from uavsim.errors import SimulatorError
from uavsim.simulate import recognise as module
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.recognise import carla_version, recognise, require

PAGE = (Path(__file__).parents[2] / "docs/simulators.md").read_text()
WITHIN_S = 20.0
Wanted = Literal["carla", "airsim", "cosys"]


def says(data: bytes, *, close: bool = True) -> Serve:
    """Send data to each client that connects."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(data)
        if close:
            connection.shutdown(socket.SHUT_RDWR)

    return serve


def http(connection: socket.socket) -> None:
    """Behave like a web server: wait for a line, and answer with an error."""
    got = b""
    while b"\n" not in got:
        got += connection.recv(4096) or b"\n"
    connection.sendall(b"HTTP/1.0 404 Not Found\r\n\r\n")
    connection.shutdown(socket.SHUT_RDWR)


def silent(_connection: socket.socket) -> None:
    """Send nothing and keep the connection."""


CARLA_15 = rpc(version=[[1, "0.9.15"]])
CARLA_16 = rpc(version=[[1, "0.9.16"]])
AIRSIM = rpc(getServerVersion=1)
COSYS = rpc(getServerVersion=4)
FOREIGN: list[tuple[Wanted, Serve, str]] = [
    ("carla", AIRSIM, "airsim"),
    ("carla", COSYS, "cosys"),
    ("airsim", CARLA_16, "carla"),
    ("airsim", COSYS, "cosys"),
    ("cosys", AIRSIM, "airsim"),
    ("carla", rpc(), "rpc"),
    ("carla", http, "http"),
    ("airsim", http, "http"),
    ("carla", says(b"SSH-2.0-OpenSSH_9.9\r\n"), "text"),
    ("carla", says(b"\x00SP\x00\x00\x11\x00\x00", close=False), "nng"),
    ("airsim", says(b"\x00SP\x00\x00\x11\x00\x00", close=False), "nng"),
    ("carla", says(bytes([0xC1, 0xFF, 0x00, 0x13, 0x37])), "bytes"),
    ("airsim", says(b""), "closed"),
    ("carla", silent, "silent"),
]


@pytest.mark.parametrize(("expected", "serve", "kind"), FOREIGN)
def test_foreign_server_is_identified_as_in_the_docs(expected: Wanted, serve: Serve, kind: str) -> None:
    with listening(serve) as where:
        began = time.monotonic()
        assert recognise(where, expected=expected).kind == kind
        with pytest.raises(SimulatorError) as refused:
            require(expected, where)
        assert time.monotonic() - began < WITHIN_S, "bounded, or a run hangs on a wrong port"
    line = str(refused.value).replace(f"127.0.0.1:{where.port}", "127.0.0.1:2000")
    assert "\n" not in line
    assert line in PAGE
    assert refused.value.exit_code == 3


def test_closed_port_is_reported() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SimulatorError) as refused:
        require("airsim", Endpoint("127.0.0.1", port))
    assert str(refused.value).replace(f":{port}", ":2000") in PAGE


def test_expected_servers_are_accepted() -> None:
    for expected, serve, detail in (("carla", CARLA_15, "0.9.15"), ("airsim", AIRSIM, "1"), ("cosys", COSYS, "4")):
        with listening(serve) as where:
            assert require(expected, where).detail == detail  # type: ignore[arg-type]


def test_truncated_answer_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ANSWER_S", 0.2)
    answer = msgpack.packb([1, 1, None, [[1, "0.9.16"]]])
    with listening(says(answer[:-3], close=False)) as where:
        assert recognise(where).kind == "bytes"


def test_slow_answer_gets_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ANSWER_S", 0.3)
    stop = threading.Event()

    def dribble(connection: socket.socket) -> None:
        connection.sendall(b"\x94\x01\x01\xdb\xff\xff\xff\xff")  # an error text of four gigabytes
        while not stop.wait(0.05):
            connection.sendall(b"a")

    with listening(dribble) as where:
        began = time.monotonic()
        assert recognise(where).kind == "bytes"
        assert time.monotonic() - began < WITHIN_S
        stop.set()


@pytest.mark.parametrize(("serve", "version"), [(CARLA_15, "0.9.15"), (AIRSIM, ""), (rpc(), "")])
def test_carla_version(serve: Serve, version: str) -> None:
    with listening(serve) as where:
        assert carla_version(where) == version
