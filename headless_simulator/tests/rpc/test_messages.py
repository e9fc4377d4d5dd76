from __future__ import annotations

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
def test_what_is_no_request_is_refused(message: object) -> None:
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
def test_text_of_old_clients_that_is_no_utf8(dialect: Dialect, read: str) -> None:
    unpacker = dialect.unpacker()
    unpacker.feed(b"\xa4caf\xe9")

    assert unpacker.unpack() == read


def test_carlas_text_goes_back_as_it_came() -> None:
    assert b"".join(CARLA.encode("caf\udce9")) == b"\xa4caf\xe9"
