"""Fuzz targets and mutations of good inputs."""

import contextlib
import copy
import io
import json
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgpack

Mutation = Callable[[bytes, random.Random], bytes]

NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 10**30, 1e308, -1e308, float("nan"), float("inf"), "", "x" * 5000,
    "../../x", "/etc/passwd", "\0", "\ud800", "\x1b[31m", [], {}, [[]], [None] * 3, ["a", "b", "c"], [0, 0, 0, 0], {"a": {}},
]  # fmt: skip
XML_VALUES = [
    *map(str, (0, -1, 1, -2, 3, 0.001, 1e-300, 1e3, 1e6, 1e9, 1e300, 2**63, float("nan"), float("inf"), -float("inf"))),
    *("1e", "٣", "", "x"),
]
EXTREMES = [
    *(struct.pack(">I", number) for number in (0, 2**31 - 1, 2**31, 2**32 - 1)),
    *(struct.pack("<q", number) for number in (0, -1, 1, 2**62)),
    *(struct.pack("<d", x) for x in (float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e30, 1e-300)),
]
UNPACKABLE = (OverflowError, ValueError, TypeError)
"""Exceptions of encoders for structures that they cannot write."""


@dataclass
class Target:
    """A reader under test: good inputs, the function that reads one, the mutation of inputs, and the clean-up."""

    good: list[bytes]
    read: Callable[[bytes], object]
    change: Mutation
    end: Callable[[], None] = lambda: None


def through(path: Path, read: Callable[[], object]) -> Callable[[bytes], object]:
    """Return a function that writes its input to a file and then reads it."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def write_and_read(data: bytes) -> object:
        path.write_bytes(data)
        return read()

    return write_and_read


def one_table(root: Path, read: Callable[[], object]) -> Target:
    """Make a target of a dataset: each input is the name of a table, a line feed and the table's content."""
    good = {path.name: path.read_bytes() for path in sorted((root / "v1.0-mini").glob("*.json"))}

    def write_and_read(data: bytes) -> object:
        name, _, content = data.partition(b"\n")
        path = root / "v1.0-mini" / Path(name.decode()).name
        try:
            path.write_bytes(content)
            return read()
        finally:
            path.write_bytes(good[path.name])

    def change(data: bytes, rng: random.Random) -> bytes:
        name, _, content = data.partition(b"\n")
        return name + b"\n" + turn_json(content, rng)

    return Target([name.encode() + b"\n" + data for name, data in good.items()], write_and_read, change)


def turn_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut, double, replace and overwrite bytes."""
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at, size = rng.randrange(len(data) + 1), rng.choice([1, 2, 4, 8, 64, 1024])
        at -= at % rng.choice([1, 8])  # numbers of an array
        part, number = data[at : at + size], rng.choice(EXTREMES)
        flipped = bytes(byte ^ 1 << rng.randrange(8) for byte in part[:1])
        removed, added = rng.choice(
            [(1, flipped), (size, b""), (0, part), (size, rng.randbytes(size)), (len(number), number)]
        )
        data = data[:at] + added + data[at + removed :]
    return data


def spoil(value: Any, rng: random.Random, *, share: float) -> Any:
    """Replace a share of the parts of a structure."""
    if rng.random() < share:
        return rng.choice(NASTY)
    if isinstance(value, dict):
        spoiled = {key: spoil(item, rng, share=share) for key, item in value.items() if rng.random() > share / 4}
        return spoiled | ({rng.choice(["x", "", "token"]): rng.choice(NASTY)} if rng.random() < share else {})
    if isinstance(value, list):
        items = [spoil(item, rng, share=share) for item in value]
        return items + items[:1] if rng.random() < share else items
    if isinstance(value, bytes) and value[:1] and value[0] >> 4 == 8:  # a nested msgpack map, as of a plan
        with contextlib.suppress(*UNPACKABLE):
            return bytes(msgpack.packb(spoil(msgpack.unpackb(value, strict_map_key=False), rng, share=share)))
    return turn_bytes(value, rng) if isinstance(value, bytes) and value and rng.random() < share else value


def _by_structure(load: Callable[[bytes], Iterable[Any]], dump: Callable[[Any], bytes], bytes_share: float) -> Mutation:
    """Return a mutation of the documents in an input; of its bytes for a share, and where the result cannot be encoded."""

    def change(data: bytes, rng: random.Random) -> bytes:
        if rng.random() >= bytes_share:
            share = rng.choice([0.001, 0.01, 0.1])
            with contextlib.suppress(*UNPACKABLE):
                return b"".join(dump(spoil(document, rng, share=share)) for document in load(data))
        return turn_bytes(data, rng)

    return change


turn_json = _by_structure(lambda data: [json.loads(data)], lambda value: json.dumps(value).encode(), 0.3)
turn_msgpack = _by_structure(
    lambda data: msgpack.Unpacker(io.BytesIO(data), strict_map_key=False),
    lambda value: bytes(msgpack.packb(value, unicode_errors="surrogatepass")),
    0.4,
)


def turn_xml(data: bytes, rng: random.Random) -> bytes:
    """Change attributes, remove, double and move elements of an XML text, or change its bytes."""
    if rng.random() < 0.2:
        return turn_bytes(data, rng)
    root = ElementTree.fromstring(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        parents = [element for element in root.iter() if len(element)]
        parent = rng.choice(parents)
        child = rng.choice(list(parent))
        kind = rng.randrange(5)
        if kind < 3 and child.attrib:
            word = rng.choice(list(child.attrib))
            child.attrib[word] = rng.choice([*XML_VALUES, *child.attrib.values()])
        elif kind == 3:
            parent.remove(child)
        else:
            rng.choice(parents).append(copy.deepcopy(child))
    return ElementTree.tostring(root)
