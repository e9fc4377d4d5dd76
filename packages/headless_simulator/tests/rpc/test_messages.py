import gc
import weakref
from itertools import chain

import msgpack
import numpy as np
import pytest
from headless_simulator.airsim.server import DIALECT as AIRSIM
from headless_simulator.carla.connection import DIALECT as CARLA
from headless_simulator.rpc.messages import (
    Dialect,
    PackedFloats,
    ProtocolError,
    Request,
    encode_in_parts,
    encode_whole,
    parse,
)


def test_requests_and_notifications_are_distinguished() -> None:
    assert parse([0, 7, "tick", [1]]) == Request(7, "tick", [1])
    assert parse([2, "tick", []]) == Request(None, "tick", [])


@pytest.mark.parametrize(
    "message",
    [None, [], {}, [0, 1, "tick"], [1, 1, "tick", []], [0, "1", "tick", []], [0, True, "tick", []], [0, 1, 2, []]],
)
def test_invalid_messages_are_refused(message: object) -> None:
    with pytest.raises(ProtocolError):
        parse(message)


def test_parts_are_one_message() -> None:
    big, floats = b"x" * 100_000, np.array([0.1, 2.0], np.float32)
    packed = b"".join(encode_in_parts([1, 2, None, {"image": big, "floats": PackedFloats(floats), "rest": [(1, "a")]}]))

    assert msgpack.unpackb(packed) == [1, 2, None, {"image": big, "floats": floats.tolist(), "rest": [[1, "a"]]}]
    assert b"".join(encode_in_parts([1, None, "a"])) == b"".join(encode_whole([1, None, "a"]))


@pytest.mark.parametrize(
    ("dialect", "read"),
    [(CARLA, "caf\udce9"), (AIRSIM, "caf�")],
)
def test_invalid_utf8_per_dialect(dialect: Dialect, read: str) -> None:
    assert list(dialect.messages().of(b"\xa4caf\xe9")) == [read]


@pytest.mark.parametrize("data", [b"\x90", b"\x80", b"\x91\x01", b"\x91\x91\x80"])
def test_messages_of_many_small_items_are_refused(data: bytes) -> None:
    small = Dialect("replace", 1 << 20, encode_whole, most_items=1000)
    full_array = b"\xdc" + (900).to_bytes(2, "big")

    assert len(list(small.messages().of((b"\xdc" + (90).to_bytes(2, "big") + data * 90) * 50))) == 50
    with pytest.raises(ProtocolError, match="more than 1000 items"):
        list(small.messages().of(full_array + data * 900 + full_array))


@pytest.mark.parametrize("head", [b"\xdd\x80\0\0\0", b"\xdf\x7f\xff\xff\xff"])  # texts are cut off by their bytes
def test_huge_array_or_map_length_is_refused(head: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(CARLA.messages().of(head))


def test_oversized_binary_is_refused() -> None:
    messages = CARLA.messages()
    pieces = [bytes(1 << 20)] * ((CARLA.largest_bytes >> 20) + 1)
    pieces[0] = b"\xc6" + (1 << 31).to_bytes(4, "big") + pieces[0]  # a binary of two gigabytes
    with pytest.raises(ProtocolError):
        list(chain.from_iterable(map(messages.of, pieces)))


def test_messages_of_a_closed_connection_are_freed() -> None:
    gc.disable()  # it runs late in a large process: 48 KiB a client were 1.5 GB after 67,000 clients
    try:
        messages = CARLA.messages()
        assert list(messages.of(msgpack.packb([0, 1, "version", [{"a": []}]])))
        left = weakref.ref(messages)
        del messages
        assert left() is None
    finally:
        gc.enable()


def test_invalid_utf8_of_carla_round_trips() -> None:
    assert b"".join(CARLA.encode("caf\udce9")) == b"\xa4caf\xe9"
