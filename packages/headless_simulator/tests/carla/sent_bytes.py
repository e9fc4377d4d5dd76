"""Parsing of batches in every msgpack encoding."""

import itertools
import struct

from hypothesis import strategies as st

Bytes = st.SearchStrategy[bytes]

_WIDTHS = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}


def every_integer(value: int) -> list[bytes]:
    """Return all encodings of an integer, the usual one first."""
    found = [bytes((value & 0xFF,))] if -32 <= value < 128 else []
    for kind, width in _WIDTHS.items():
        size = 8 * struct.calcsize(width)
        low, high = (-(1 << (size - 1)), 1 << (size - 1)) if width.islower() else (0, 1 << size)
        if low <= value < high:
            found.append(bytes((kind,)) + struct.pack(width, value))
    return found


def array(*items: bytes, head: int = 0) -> bytes:
    """An array; a head of 16 or 32 bits even where a shorter one is enough."""
    count = len(items)
    if head == 32 or count >= 1 << 16:
        start = b"\xdd" + struct.pack(">I", count)
    elif head == 16 or count >= 16:
        start = b"\xdc" + struct.pack(">H", count)
    else:
        start = bytes((0x90 | count,))
    return start + b"".join(items)


def single(value: float) -> bytes:
    return b"\xca" + struct.pack(">f", value)


def double(value: float) -> bytes:
    return b"\xcb" + struct.pack(">d", value)


def integers(values: st.SearchStrategy[int]) -> Bytes:
    return values.flatmap(lambda value: st.sampled_from(every_integer(value)))


def short_integers(values: st.SearchStrategy[int]) -> Bytes:
    """Written with 32 bits at most."""
    return values.flatmap(lambda value: st.sampled_from([data for data in every_integer(value) if len(data) <= 5]))


def unsigned(values: st.SearchStrategy[int]) -> Bytes:
    """Written with 32 bits at most, and without a sign."""
    return values.flatmap(
        lambda value: st.sampled_from([d for d in every_integer(value) if len(d) <= 5 and d[0] < 0xD0])
    )


def name(text: bytes) -> bytes:
    return bytes((0xA0 | len(text),)) + text


FLAGS = st.sampled_from([b"\xc2", b"\xc3"])
FINITE: Bytes = st.floats(-2, 2, width=32).map(single) | st.floats(-1e300, 1e300).map(double)
ODD: Bytes = st.one_of(
    st.sampled_from([b"\xc0", b"\x00", b"\x01", b"\xa1x", b"\x90", single(0.5), b"\xc3"]),
    st.floats().map(double), st.floats(width=32).map(single), integers(st.integers(-(2**63), 2**64 - 1)),
)  # fmt: skip
HEADS = st.sampled_from([0, 0, 0, 16, 32])


def plain_controls(ids: st.SearchStrategy[int]) -> Bytes:
    """Commands as libcarla writes them, and in the other ways that are read at once."""
    fields = st.tuples(FINITE, FINITE, FINITE, FLAGS, FLAGS, FLAGS, short_integers(st.integers(-200, 200)))
    return st.builds(lambda actor, fields: array(array(b"\x02", array(actor, array(*fields)))), unsigned(ids), fields)


def odd_controls(ids: st.SearchStrategy[int]) -> Bytes:
    """Controls with one deviation from libcarla's encoding."""
    fields = [FINITE] * 3 + [FLAGS] * 3 + [integers(st.integers(-2, 7))]
    odd_fields = st.integers(0, 6).flatmap(lambda n: st.tuples(*fields[:n], ODD, *fields[n + 1 :]))
    count = st.sampled_from([0, 3, 6, 8])
    few_or_many = st.tuples(*fields, st.just(b"\x00")).flatmap(lambda values: count.map(lambda n: values[:n]))
    return st.builds(
        lambda kind, actor, fields, head: array(array(kind, array(actor, array(*fields, head=head)))),
        integers(st.just(2)), integers(ids), odd_fields | few_or_many, HEADS,
    )  # fmt: skip


def other_commands(ids: st.SearchStrategy[int]) -> Bytes:
    """Other commands and invalid ones."""
    pose = array(array(*[single(1.0)] * 3), array(*[single(2.0)] * 3))
    return st.one_of(
        integers(ids).map(lambda actor: array(array(b"\x06", array(actor, pose)))),
        integers(ids).map(lambda actor: array(array(b"\x03", array(actor, array(*[single(0.5)] * 5))))),
        integers(ids).map(lambda actor: array(array(b"\x01", array(actor)))),
        st.sampled_from(
            [array(array(b"\x02", b"\x90")), array(b"\x02"), array(array(b"\x63", array(b"\x01"))), b"\xc0"]
        ),
    )


def plain_requests(ids: st.SearchStrategy[int]) -> Bytes:
    """Whole messages: batches of plain controls only."""
    return st.builds(
        lambda number, metadata, batch, ticks, head: array(
            b"\x00", number, name(b"apply_batch"), array(array(metadata), array(*batch, head=head), *ticks)
        ),
        unsigned(st.integers(0, 2**32 - 1)), FLAGS, st.lists(plain_controls(ids), max_size=20),
        st.lists(FLAGS, max_size=1), HEADS,
    )  # fmt: skip


def requests(ids: st.SearchStrategy[int]) -> Bytes:
    """Whole messages with one unusual part."""
    some = st.lists(plain_controls(ids), max_size=5)
    odd = st.lists(odd_controls(ids) | other_commands(ids), max_size=2)
    metadata = FLAGS.map(array) | st.sampled_from([b"\xc0", array(), array(b"\xc2", b"\x01")])
    ticks = st.lists(FLAGS, max_size=1) | st.lists(ODD, max_size=2)
    names = st.sampled_from([name(b"apply_batch")] * 3 + [b"\xd9\x0bapply_batch", name(b"version")])
    arguments = st.builds(
        lambda metadata, before, odd, after, ticks: array(metadata, array(*before, *odd, *after), *ticks),
        metadata, some, odd, some, ticks,
    )  # fmt: skip
    number = integers(st.integers(0, 2**32 - 1))
    request = st.builds(lambda *parts: array(b"\x00", *parts), number, names, arguments)
    notification = st.builds(lambda *parts: array(b"\x02", *parts), names, arguments)
    return request | notification | st.sampled_from([b"\xc1", array(b"\x00")])


def cut(data: bytes, fractions: list[float]) -> list[bytes]:
    """Split bytes into the pieces of a transfer."""
    bounds = sorted({round(fraction * len(data)) for fraction in fractions} | {0, len(data)})
    return [data[first:last] for first, last in itertools.pairwise(bounds)]
