"""msgpack-RPC on a socket: requests ``[0, id, method, [arguments]]`` in, replies ``[1, id, error or nil, result]`` out.

Messages are bounded on the way in, and a client that does not read is cut off instead of filling the memory.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Final

import msgpack
import numpy as np

from headless_simulator.scene import Float32

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
MAX_ITEMS: Final = 1_000_000
MAX_WAITING_REPLIES: Final = 4096
_APART: Final = 1 << 16  # bytes from here on are not copied into the message
_CHUNK: Final = 1 << 18
REQUEST, REPLY, NOTIFY = 0, 1, 2


class ProtocolError(ValueError):
    """What came in is no msgpack-RPC; the connection is closed."""


class PackedFloats:
    """Floats that go out as a msgpack array of float32, encoded at once and not one by one."""

    def __init__(self, values: Float32) -> None:
        flat = np.ascontiguousarray(values, dtype=np.float32).reshape(-1)
        coded = np.empty((len(flat), 5), np.uint8)
        coded[:, 0] = 0xCA
        coded[:, 1:] = flat.astype(">f4").view(np.uint8).reshape(-1, 4)
        self.raw = b"\xdd" + struct.pack(">I", len(flat)) + coded.tobytes()


def pack_message(message: Any) -> list[bytes]:
    """Encode a message; big parts stay apart, so that images are not copied again."""
    packer = msgpack.Packer(use_bin_type=True, autoreset=False)
    parts: list[bytes] = []

    def walk(value: Any) -> None:
        if isinstance(value, PackedFloats):
            parts.append(packer.bytes())
            packer.reset()
            parts.append(value.raw)
        elif isinstance(value, bytes) and len(value) > _APART:
            parts.append(packer.bytes())
            packer.reset()
            parts.append(b"\xc6" + struct.pack(">I", len(value)))
            parts.append(value)
        elif isinstance(value, dict):
            packer.pack_map_header(len(value))
            for key, item in value.items():
                packer.pack(key)
                walk(item)
        elif isinstance(value, list | tuple):
            packer.pack_array_header(len(value))
            for item in value:
                walk(item)
        else:
            packer.pack(value)

    walk(message)
    parts.append(packer.bytes())
    return parts


class Connection:
    """One client: a thread that reads and serves, and one that writes, so that a late reply holds nobody up.

    Args:
        sock: connected socket, owned from now on.
        serve: called for every request as (connection, message id or None, method, arguments).
        closed: called once, when the client is gone.
    """

    def __init__(
        self,
        sock: socket.socket,
        serve: Callable[[Connection, int | None, str, list[Any]], None],
        closed: Callable[[Connection], None],
    ) -> None:
        self._sock, self._serve, self._closed = sock, serve, closed
        self._out: queue.Queue[list[bytes] | None] = queue.Queue(MAX_WAITING_REPLIES)
        self._reader = threading.Thread(target=self._read, name="airsim-client", daemon=True)
        self._writer = threading.Thread(target=self._write, name="airsim-reply", daemon=True)
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

    def reply(self, message_id: int | None, error: str | None, result: Any) -> None:
        """Send an answer from any thread; a notification has none."""
        if message_id is None:
            return
        try:
            self._out.put_nowait(pack_message([REPLY, message_id, error, result]))
        except queue.Full:
            self.cut()

    def cut(self) -> None:
        """Break the connection; safe to call twice and from any thread."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        unpacker = msgpack.Unpacker(
            raw=False,
            strict_map_key=False,
            unicode_errors="replace",
            max_buffer_size=MAX_MESSAGE_BYTES,
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
        )
        try:
            while data := self._sock.recv(_CHUNK):
                unpacker.feed(data)
                for message in unpacker:
                    self._serve(self, *_request(message))
        except ConnectionAbortedError:
            pass  # a fault on demand cut it
        except OSError:
            pass  # the client went away: its own business
        except (ValueError, msgpack.exceptions.UnpackException, RecursionError, TypeError):
            self.malformed = True  # bytes that are no message, or too big a one
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


def _request(message: Any) -> tuple[int | None, str, list[Any]]:
    """Take a message apart.

    Raises:
        ProtocolError: it is neither a request nor a notification.
    """
    if not isinstance(message, list) or not message:
        raise ProtocolError("not a message")
    kind, *rest = message
    if kind == REQUEST and len(rest) == 3:
        message_id, method, arguments = rest
    elif kind == NOTIFY and len(rest) == 2:
        message_id, (method, arguments) = None, rest
    else:
        raise ProtocolError("neither request nor notification")
    if not isinstance(method, str) or not isinstance(arguments, list):
        raise ProtocolError("method is no text or arguments are no list")
    if message_id is not None and not isinstance(message_id, int):
        raise ProtocolError("message id is no number")
    return message_id, method, arguments
