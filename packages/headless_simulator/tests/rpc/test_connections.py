import socket
import threading
from collections.abc import Iterator

import msgpack
import pytest
from headless_simulator.rpc.connections import Connection, QueuedConnection
from headless_simulator.rpc.messages import Dialect, ProtocolError, Request, encode_whole

DIALECT = Dialect("replace", 1 << 16, encode_whole)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    server_end, client_end = socket.socketpair()
    client_end.settimeout(10)
    with server_end, client_end:
        yield server_end, client_end


def test_requests_survive_any_fragmentation(pair: tuple[socket.socket, socket.socket]) -> None:
    server_end, client_end = pair
    data = b"".join(msgpack.packb([0, n, "ping", []]) for n in range(3))
    for n in range(len(data)):
        client_end.sendall(data[n : n + 1])
    client_end.shutdown(socket.SHUT_WR)

    assert [request.message_id for request in Connection(server_end, DIALECT).requests()] == [0, 1, 2]


@pytest.mark.parametrize("data", [b"\xc1", b"\x91" * 5000, msgpack.packb("x" * 100_000), msgpack.packb({"a": 1})])
def test_invalid_request_raises_protocol_error(pair: tuple[socket.socket, socket.socket], data: bytes) -> None:
    server_end, client_end = pair
    client_end.sendall(data)
    client_end.shutdown(socket.SHUT_WR)

    with pytest.raises(ProtocolError):
        list(Connection(server_end, DIALECT).requests())


def test_unpackable_answer_is_an_internal_error(
    pair: tuple[socket.socket, socket.socket], capsys: pytest.CaptureFixture[str]
) -> None:
    server_end, client_end = pair
    Connection(server_end, DIALECT).answer(Request(5, "ping", []), None, object())

    kind, number, error, result = msgpack.unpackb(client_end.recv(1 << 16))
    assert (kind, number, result) == (1, 5, None)
    assert error.startswith("internal error of the headless simulator")
    assert "Traceback" in capsys.readouterr().err


def test_a_notification_gets_no_answer(pair: tuple[socket.socket, socket.socket]) -> None:
    server_end, client_end = pair
    connection = Connection(server_end, DIALECT)
    connection.answer(Request(None, "ping", []), None, 1)
    connection.answer(Request(1, "ping", []), None, 2)

    assert msgpack.unpackb(client_end.recv(1 << 16)) == [1, 1, None, 2]


def test_late_answer_does_not_delay_others(pair: tuple[socket.socket, socket.socket]) -> None:
    server_end, client_end = pair
    late: list[Request] = []
    closed = threading.Event()

    def serve(connection: QueuedConnection, request: Request) -> None:
        if request.method == "late":
            late.append(request)
            return
        connection.answer(request, None, "now")
        connection.answer(late.pop(), None, "then")

    QueuedConnection(server_end, DIALECT, serve=serve, closed=lambda _: closed.set()).start()
    for number, name in enumerate(("late", "now")):
        client_end.sendall(msgpack.packb([0, number, name, []]))
    unpacker = msgpack.Unpacker()
    answers: list[object] = []
    while len(answers) < 2:
        unpacker.feed(client_end.recv(1 << 16))
        answers += list(unpacker)
    client_end.close()

    assert answers == [[1, 1, None, "now"], [1, 0, None, "then"]]
    assert closed.wait(10)
