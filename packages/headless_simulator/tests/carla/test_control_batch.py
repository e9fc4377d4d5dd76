"""Equality of effects and answer bytes between the fast and the general parser of batches."""

import math
from dataclasses import replace

import msgpack
import numpy as np
import pytest
from headless_simulator.carla.connection import DIALECT
from headless_simulator.carla.control_batch import MOST_CONTROLS, ControlBatch, recognise
from headless_simulator.carla.server import CarlaServer
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.rpc.messages import Dialect, ProtocolError, parse
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.actors import SpawnOrder
from hypothesis import given
from hypothesis import strategies as st

from tests.carla.sent_bytes import array, cut, double, every_integer, plain_requests, requests, single
from tests.world.paper_town import world

ITEM_BY_ITEM = replace(DIALECT, recognise=None)
ONE = bytes.fromhex(  # as libcarla sent it
    "94 00 cd0188 ab 6170706c795f6261746368 93 91c2"
    "  91 91 92 02 92 1c 97 ca3f59999a ca00000000 ca80000000 c2 c3 c2 ff"
    "  c2"
)
CAR, WALKER, GONE, UNKNOWN = 2, 5, 6, 10**6
ALIVE = st.sampled_from([CAR, CAR + 1, CAR + 2, WALKER])
IDS = st.sampled_from([CAR, CAR + 1, CAR + 2] * 8 + [WALKER, GONE, UNKNOWN, 0, 2**32 - 1])


class Served:
    """Calls answered like a connection's, by a server with three cars and a walker in a hand-made world."""

    def __init__(self, dialect: Dialect, *, synchronous: bool = True) -> None:
        town = world()
        library = TownLibrary(seed=0)
        self.server = CarlaServer(town, towns=library, faults=Faults(), rendering=Rendering(flat=True))
        self.world, self.dialect = town, dialect
        for x in (0.0, 20.0, 40.0):
            town.spawn(SpawnOrder("vehicle.tesla.model3", pose=(x, 0.0, 0.0, 0.0, 0.0, 0.0)))
        town.spawn(SpawnOrder("walker.pedestrian.0001", pose=(60.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
        gone = town.spawn(SpawnOrder("vehicle.tesla.model3", pose=(80.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
        town.destroy(gone.actor_id)
        assert (sorted(town.actors)[1:], gone.actor_id) == ([CAR, CAR + 1, CAR + 2, WALKER], GONE)
        settings = self.server.context.episode.settings
        self.server.context.episode.settings = replace(settings, synchronous=synchronous)

    def answers(self, pieces: list[bytes]) -> list[bytes | str]:
        """Return all answers, and the protocol error if one ended the connection."""
        found: list[bytes | str] = []
        messages = self.dialect.messages()
        try:
            for piece in pieces:
                for message in messages.of(piece):
                    request = parse(message)
                    error, result = self.server.call(request)
                    if request.message_id is not None:
                        found.append(b"".join(self.dialect.encode([1, request.message_id, error, result])))
        except ProtocolError as problem:
            found.append(str(problem))
        return found

    def state(self) -> bytes:
        return b"".join(column.tobytes() for column in self.world.table.c) + bytes(self.world.frame)


def same_both_ways(pieces: list[bytes], *, synchronous: bool = True) -> list[bytes | str]:
    at_once, item_by_item = (Served(dialect, synchronous=synchronous) for dialect in (DIALECT, ITEM_BY_ITEM))
    answers = at_once.answers(pieces)
    assert answers == item_by_item.answers(pieces)
    assert at_once.state() == item_by_item.state()
    return answers


def batch(*commands: bytes, ticks: bytes = b"\xc2") -> bytes:
    return array(b"\x00", b"\x07", b"\xabapply_batch", array(array(b"\xc2"), array(*commands), ticks))


def control(actor_id: bytes, *, throttle: bytes = single(0.5), gear: bytes = b"\x00") -> bytes:
    fields = array(throttle, single(0.0), single(0.0), b"\xc2", b"\xc2", b"\xc3", gear)
    return array(array(b"\x02", array(actor_id, fields)))


def test_parse_control_of_libcarla() -> None:
    found = recognise(ONE + b"\x94")
    assert found is not None
    kind, number, method, (metadata, commands, ticks) = found.message

    assert (kind, number, method, metadata, ticks) == (0, 0x188, "apply_batch", [False], False)
    assert commands.ids.tolist() == [28]
    assert commands.controls.tolist() == [[float(np.float32(0.85)), 0.0, 0.0, 0.0, 1.0, 0.0, -1.0]]
    assert math.copysign(1.0, commands.controls[0, 2]) == -1.0
    assert found.size == len(ONE)
    assert commands.commands() == msgpack.unpackb(ONE)[3][1]


def test_incomplete_message_is_not_recognised() -> None:
    assert recognise(ONE) is not None
    assert all(recognise(ONE[:size]) is None for size in range(len(ONE)))


@pytest.mark.parametrize(
    ("actor_id", "throttle", "gear"),
    [
        (b"\x1c", single(0.5), b"\x00"),
        (b"\xcc\x80", single(-1.0), b"\x7f"),
        (b"\xcd\x01\x00", double(0.1), b"\xe0"),
        (b"\xce\x00\x01\x00\x00", single(0.5), b"\xd0\x80"),
        (b"\xce\xff\xff\xff\xff", double(-1e300), b"\xd1\xff\x00"),
        (b"\xcc\x05", single(1e-45), b"\xd2\x80\x00\x00\x00"),
        (b"\x00", single(0.0), b"\xcd\xff\xff"),
    ],
)
def test_parsed_control_equals_msgpack(actor_id: bytes, throttle: bytes, gear: bytes) -> None:
    sent = batch(control(actor_id, throttle=throttle, gear=gear))
    found = recognise(sent)
    assert found is not None
    read = found.message[3][1]
    ((_, (number, fields)),) = msgpack.unpackb(sent)[3][1][0]

    assert read.ids.tolist() == [number]
    assert read.controls.tolist() == [[float(value) for value in fields]]


@pytest.mark.parametrize(
    "sent",
    [
        batch(control(b"\x02", throttle=single(math.nan))),
        batch(control(b"\x02", throttle=single(math.inf))),
        batch(control(b"\x02", throttle=b"\x01")),
        batch(control(b"\x02", gear=single(1.0))),
        batch(control(b"\xff")),
        batch(control(b"\xcf" + bytes(8))),
        batch(control(b"\x02"), b"\xc0"),
        batch(control(b"\x02"), ticks=b"\x01"),
        batch(*[control(b"\x02")] * (MOST_CONTROLS + 1)),
        array(b"\x02", b"\xabapply_batch", array(array(b"\xc2"), array(control(b"\x02")), b"\xc2")),
        ONE.replace(b"apply_batch", b"apply_butch"),
    ],
)
def test_other_messages_are_left_to_msgpack(sent: bytes) -> None:
    assert recognise(sent) is None
    assert not any(isinstance(item, ControlBatch) for m in DIALECT.messages().of(sent) for item in m[-1])
    same_both_ways([sent])


def test_answers_to_control_batches() -> None:
    one, other, unknown = (every_integer(number)[0] for number in (CAR, CAR + 1, UNKNOWN))

    assert same_both_ways([batch(control(one), control(other))]) == [bytes.fromhex("94 01 07 c0 92 91920102 91920103")]
    assert same_both_ways([batch()]) == [bytes.fromhex("94 01 07 c0 90")]
    (with_unknown_actor,) = same_both_ways([batch(control(one), control(unknown))])
    assert isinstance(with_unknown_actor, bytes)
    assert msgpack.unpackb(with_unknown_actor)[3] == [[[1, CAR]], [[0, ["actor not found"]]]]


def test_joined_and_split_messages() -> None:
    first, second = batch(control(b"\x02")), batch(control(b"\x03"), ticks=b"\xc3")
    version = msgpack.packb([0, 9, "version", [[False]]])

    answers = same_both_ways([first + second + version])
    assert len(answers) == 3
    assert same_both_ways([first, second + version]) == answers
    assert (
        same_both_ways([(first + second + version)[n : n + 1] for n in range(len(first + second + version))]) == answers
    )
    assert same_both_ways([first + second[:40], second[40:] + first, version])[:2] == answers[:2]


@pytest.mark.parametrize("synchronous", [True, False])
def test_batch_ticks_only_in_synchronous_mode(synchronous: bool) -> None:
    served = Served(DIALECT, synchronous=synchronous)
    before = served.world.frame
    served.answers([batch(control(b"\x02"), ticks=b"\xc2"), batch(control(b"\x02"), ticks=b"\xc3")])

    assert served.world.frame - before == synchronous
    assert served.server.methods["apply_batch"].traits.advances(
        parse(recognise(batch(ticks=b"\xc3")).message).arguments
    )


@given(plain_requests(ALIVE), plain_requests(ALIVE), st.booleans())
def test_plain_controls_in_any_encoding(first: bytes, second: bytes, synchronous: bool) -> None:
    found = recognise(first + second)

    assert found is not None
    assert found.size == len(first)
    assert found.message[3][1].commands() == msgpack.unpackb(first)[3][1]
    same_both_ways([first + second], synchronous=synchronous)


@given(
    st.lists(plain_requests(IDS) | requests(IDS), min_size=1, max_size=3),
    st.lists(st.floats(0, 1), max_size=2),
    st.booleans(),
)
def test_any_requests_are_answered_equally_by_both_parsers(
    sent: list[bytes], fractions: list[float], synchronous: bool
) -> None:
    same_both_ways(cut(b"".join(sent), fractions), synchronous=synchronous)


@given(st.binary(max_size=6), st.integers(0, len(ONE)), st.integers(0, 6))
def test_invalid_bytes_are_refused_equally_by_both_parsers(noise: bytes, offset: int, dropped: int) -> None:
    same_both_ways([ONE[:offset] + noise + ONE[offset + dropped :], ONE])
