"""Stub servers with configurable answers: msgpack-RPC or foreign protocols."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgpack

from uavsim.simulate.ports import Endpoint

Serve = Callable[[socket.socket], None]


@contextlib.contextmanager
def listening(serve: Serve) -> Iterator[Endpoint]:
    """Yield a port that passes each connection to ``serve``."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        open_ones: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                open_ones.append(connection)
                with contextlib.suppress(OSError):
                    serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield Endpoint("127.0.0.1", listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
        for connection in open_ones:
            connection.close()


def rpc(**answers: Any) -> Serve:
    """Answer msgpack-RPC like rpclib; unknown methods are refused."""

    def serve(connection: socket.socket) -> None:
        while data := connection.recv(4096):
            _, number, method, _ = msgpack.unpackb(data)
            error = None if method in answers else f"rpclib: server could not find function '{method}'"
            connection.sendall(msgpack.packb([1, number, error, answers.get(method)]))

    return serve
