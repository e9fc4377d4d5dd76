"""What fuzzers share: a target, and how a good input is changed."""

import copy
import io
import json
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgpack

NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 10**30, 1e308, -1e308, float("nan"), float("inf"), "", "x" * 5000,
    "../../x", "/etc/passwd", "\0", "\ud800", "\x1b[31m", [], {}, [[]], [None] * 3, ["a", "b", "c"], [0, 0, 0, 0], {"a": {}},
]  # fmt: skip


@dataclass
class Target:
    """The target: good inputs, a function that reads one, changes of inputs; what has to run before an input, and its end."""

    good: list[bytes]
    read: Callable[[bytes], object]
    change: Callable[[bytes, random.Random], bytes]
    end: Callable[[], None] = lambda: None
    begin: Callable[[], None] = lambda: None


def through(path: Path, read: Callable[[], object]) -> Callable[[bytes], object]:
    """Return a function that writes its input to a file before it reads."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def fed(data: bytes) -> object:
        path.write_bytes(data)
        return read()

    return fed


def one_table(root: Path, read: Callable[[], object]) -> Target:
    """Make a target of a dataset: each input is the name of one of its tables and that table's content."""
    good = {path.name: path.read_bytes() for path in sorted((root / "v1.0-mini").glob("*.json"))}

    def fed(data: bytes) -> object:
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

    return Target([name.encode() + b"\n" + data for name, data in good.items()], fed, change)


def turn_bytes(data: bytes, rng: random.Random) -> bytes:
    """Change bytes: flip, cut, double, insert, exchange."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not changed:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(64)))
        at, size = rng.randrange(len(changed)), rng.choice([1, 2, 4, 8, 64, 1024])
        kind = rng.randrange(5)
        if kind == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at : at + size]
        elif kind == 2:
            changed[at:at] = changed[at : at + size]
        elif kind == 3:
            changed[at : at + size] = bytes(rng.randrange(256) for _ in range(size))
        else:
            changed[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0"])
    return bytes(changed)


def spoil(value: Any, rng: random.Random, *, share: float) -> Any:
    """Replace some parts of a structure."""
    if rng.random() < share:
        return rng.choice(NASTY)
    if isinstance(value, dict):
        kept = {key: spoil(item, rng, share=share) for key, item in value.items() if rng.random() > share / 4}
        return kept | ({rng.choice(["x", "", "token"]): rng.choice(NASTY)} if rng.random() < share else {})
    if isinstance(value, list):
        items = [spoil(item, rng, share=share) for item in value]
        return items + items[:1] if rng.random() < share else items
    return _spoil_bytes(value, rng, share=share) if isinstance(value, bytes) and value else value


def _spoil_bytes(value: bytes, rng: random.Random, *, share: float) -> bytes:
    """Replace parts of a structure that is packed in another one, or numbers of an array."""
    if value[0] >> 4 == 8:  # a small map's first byte, as plans begin
        try:
            return bytes(msgpack.packb(spoil(msgpack.unpackb(value, strict_map_key=False), rng, share=share)))
        except (OverflowError, ValueError, TypeError):
            return value
    if rng.random() >= share:
        return value
    if len(value) % 8:
        return turn_bytes(value, rng)
    changed = bytearray(value)
    struct.pack_into(
        rng.choice(["<d", "<q"]), changed, 8 * rng.randrange(len(value) // 8), rng.choice([0, -1, 1, 2**62])
    )
    struct.pack_into("<d", changed, 8 * rng.randrange(len(value) // 8), rng.choice(_FLOATS))
    return bytes(changed)


_FLOATS = (float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e30, 1e-300, 0.0)


def turn_json(data: bytes, rng: random.Random) -> bytes:
    """Change a JSON text by its structure, or by its bytes."""
    if rng.random() < 0.3:
        return turn_bytes(data, rng)
    value = spoil(json.loads(data), rng, share=rng.choice([0.001, 0.01, 0.1]))
    return json.dumps(value).encode("utf-8", "surrogatepass")


def turn_xml(data: bytes, rng: random.Random) -> bytes:
    """Change an XML text by its structure, or by its bytes: values, elements that go, come twice or move elsewhere."""
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
            child.attrib[word] = rng.choice([*map(str, NUMBERS), rng.choice(list(child.attrib.values())), "", "x"])
        elif kind == 3:
            parent.remove(child)
        else:
            rng.choice(parents).append(copy.deepcopy(child))
    return ElementTree.tostring(root)


NUMBERS: list[Any] = [0, -1, 1, -2, 3, 0.001, 1e-300, 1e3, 1e6, 1e9, 1e300, "nan", "inf", "-inf", 2**63, "1e", "٣"]


def turn_msgpack(data: bytes, rng: random.Random) -> bytes:
    """Change msgpack by its structure, or by its bytes."""
    if rng.random() < 0.4:
        return turn_bytes(data, rng)
    share = rng.choice([0.001, 0.01, 0.1])
    values = [spoil(value, rng, share=share) for value in msgpack.Unpacker(io.BytesIO(data), strict_map_key=False)]
    try:
        return b"".join(bytes(msgpack.packb(value, unicode_errors="surrogatepass")) for value in values)
    except (OverflowError, ValueError, TypeError):
        return turn_bytes(data, rng)
