"""One client's connection: requests are read in order, answers are sent from any thread."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from headless_simulator.rpc.messages import REPLY, Dialect, ProtocolError, Request, parse
from headless_simulator.terminal import note_bug

MOST_WAITING_ANSWERS: Final = 4096
_CHUNK: Final = 1 << 18


class Connection:
    """A connection that sends answers in the calling thread.

    Args:
        sock: connected socket.
        dialect: the client's msgpack dialect.
    """

    def __init__(self, sock: socket.socket, dialect: Dialect) -> None:
        self._sock, self._dialect = sock, dialect
        self._write_lock = threading.Lock()

    def requests(self) -> Iterator[Request]:
        """Yield every request until the client disconnects.

        Raises:
            ProtocolError: a message is not a request.
            OSError: the connection failed.
        """
        messages = self._dialect.messages()
        while data := self._sock.recv(_CHUNK):
            for message in messages.of(data):
                yield parse(message)

    def answer(self, request: Request, error: Any, result: Any) -> None:
        """Answer a request; a notification gets no answer."""
        if request.message_id is None:
            return
        try:
            parts = self._dialect.encode([REPLY, request.message_id, error, result])
        except (TypeError, ValueError, OverflowError) as bug:
            note_bug(f"the answer of {request.method}", bug)
            text = f"internal error of the headless simulator: the answer could not be packed: {bug}"
            parts = self._dialect.encode([REPLY, request.message_id, text, None])
        self._send(parts)

    def _send(self, parts: list[bytes]) -> None:
        with self._write_lock, contextlib.suppress(OSError):  # a disconnected client needs no answer
            for part in parts:
                self._sock.sendall(part)

    def cut(self) -> None:
        """Close the connection; safe to call twice and from any thread."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)


class QueuedConnection(Connection):
    """A connection with a reading and a writing thread, so that a late answer does not delay other calls.

    A client that does not read its answers is disconnected, which bounds memory.

    Args:
        sock: connected socket, owned from now on.
        dialect: the client's msgpack dialect.
        serve: called for every request.
        closed: called once, after the client disconnects.
    """

    def __init__(
        self,
        sock: socket.socket,
        dialect: Dialect,
        *,
        serve: Callable[[QueuedConnection, Request], None],
        closed: Callable[[QueuedConnection], None],
    ) -> None:
        super().__init__(sock, dialect)
        self._serve, self._closed = serve, closed
        self._out: queue.Queue[list[bytes] | None] = queue.Queue(MOST_WAITING_ANSWERS)
        self._reader = threading.Thread(target=self._read, name="rpc-client", daemon=True)
        self._writer = threading.Thread(target=self._write, name="rpc-answers", daemon=True)
        self.malformed = False

    def start(self) -> None:
        """Begin to serve."""
        self._writer.start()
        self._reader.start()

    def join(self, timeout_s: float) -> None:
        """Wait for both threads."""
        for thread in (self._reader, self._writer):
            if thread is not threading.current_thread():
                thread.join(timeout_s)

    def _send(self, parts: list[bytes]) -> None:
        try:
            self._out.put_nowait(parts)
        except queue.Full:
            self.cut()

    def _read(self) -> None:
        try:
            for request in self.requests():
                self._serve(self, request)
        except ProtocolError:
            self.malformed = True
        except OSError:
            pass  # the client disconnected, or an injected fault closed the connection
        finally:
            self._finish()

    def _write(self) -> None:
        try:
            while (parts := self._out.get()) is not None:
                for part in parts:
                    self._sock.sendall(part)
        except OSError:
            self.cut()

    def _finish(self) -> None:
        self.cut()
        with contextlib.suppress(queue.Full):
            self._out.put_nowait(None)
        self._writer.join()
        self._sock.close()
        self._closed(self)
