"""msgpack-RPC messages: requests ``[0, id, method, [arguments]]`` in, answers ``[1, id, error or nil, result]`` out.

CARLA and AirSim both use rpclib; their clients use msgpack libraries of different age. A ``Dialect`` holds the differences
between the two protocols.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgpack
import numpy as np

from headless_simulator.scene import Float32

REQUEST, REPLY, NOTIFY = 0, 1, 2
_APART: Final = 1 << 16  # bytes from here on are not copied into the message


class ProtocolError(ValueError):
    """The message is not msgpack-RPC; the connection is closed."""


class PackedFloats:
    """Floats sent as a msgpack array of float32, encoded together instead of one by one."""

    def __init__(self, values: Float32) -> None:
        flat = np.ascontiguousarray(values, dtype=np.float32).reshape(-1)
        coded = np.empty((len(flat), 5), np.uint8)
        coded[:, 0] = 0xCA
        coded[:, 1:] = flat.astype(">f4").view(np.uint8).reshape(-1, 4)
        self.raw = b"\xdd" + struct.pack(">I", len(flat)) + coded.tobytes()


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``message_id`` is None for a notification, which gets no answer."""

    message_id: int | None
    method: str
    arguments: list[Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One protocol's use of msgpack.

    Attributes:
        unicode_errors: handling of text that is not UTF-8 (old clients send bytes as text): kept as surrogates and sent
        back unchanged, or replaced.
        largest_bytes: the longest accepted message.
        most_items: the longest accepted array or map, and the most items of all of them in one message.
        encode: packs an answer into parts that are sent in order.
    """

    unicode_errors: str
    largest_bytes: int
    encode: Callable[[Any], list[bytes]]
    most_items: int = 2_000_000

    def messages(self) -> Messages:
        """Return an unpacker for one connection."""
        return Messages(self)


class _Items:
    """Item counter of a message; a separate object to avoid a reference cycle with the unpacker."""

    def __init__(self, most: int) -> None:
        self._most, self.found = most, 0

    def count(self, value: Any) -> Any:
        self.found += 1 + len(value)
        if self.found > self._most:
            raise ValueError(f"the message has more than {self._most} items")
        return value


class Messages:
    """The messages of one connection; items are limited, because a byte of msgpack can take 64 bytes of memory.

    Args:
        dialect: the client's msgpack dialect.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._items = _Items(dialect.most_items)
        self._fed = self._taken = 0  # bytes passed to the unpacker, and bytes of complete messages
        self._unpacker = msgpack.Unpacker(
            raw=False,
            strict_map_key=False,
            unicode_errors=dialect.unicode_errors,
            max_buffer_size=dialect.largest_bytes,
            max_array_len=dialect.most_items,
            max_map_len=dialect.most_items,
            list_hook=self._items.count,
            object_hook=self._items.count,
        )

    def of(self, data: bytes) -> Iterator[Any]:
        """Yield the messages that ``data`` completes.

        Raises:
            ProtocolError: the bytes are not msgpack, or a message is too long or too deeply nested.
        """
        try:
            self._unpacker.feed(data)
            self._fed += len(data)
            while self._taken != self._fed:
                message = self._unpacker.unpack()
                self._items.found, self._taken = 0, self._unpacker.tell()
                yield message
        except msgpack.exceptions.OutOfData:
            return
        except (ValueError, TypeError, msgpack.exceptions.UnpackException, RecursionError) as problem:
            raise ProtocolError(str(problem)) from problem


def parse(message: Any) -> Request:
    """Parse a message.

    Raises:
        ProtocolError: it is neither a request nor a notification.
    """
    if not isinstance(message, list) or not message:
        raise ProtocolError("the message is not a list")
    kind, *rest = message
    if kind == REQUEST and len(rest) == 3:
        message_id, method, arguments = rest
        if not isinstance(message_id, int) or isinstance(message_id, bool):
            raise ProtocolError("the message id is not a number")
    elif kind == NOTIFY and len(rest) == 2:
        message_id, (method, arguments) = None, rest
    else:
        raise ProtocolError("the message is neither a request nor a notification")
    if not isinstance(method, str) or not isinstance(arguments, list):
        raise ProtocolError("the method is not text or the arguments are not a list")
    return Request(message_id, method, arguments)


def encode_whole(message: Any) -> list[bytes]:
    """Encode a message of plain values; text keeps bytes that are not UTF-8."""
    return [msgpack.packb(message, use_bin_type=True, unicode_errors="surrogateescape")]


def encode_in_parts(message: Any) -> list[bytes]:
    """Encode a message; large parts stay separate, so that images are not copied."""
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
