"""Datasets that mean harm: each function spoils a good one; the validator must report it, and no reader may break."""

import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["DAMAGES", "NOTES"]

V = "v1.0-mini"


def _table(root: Path, name: str, change: Callable[[list[dict[str, Any]]], object]) -> None:
    path = root / V / f"{name}.json"
    rows = json.loads(path.read_text())
    change(rows)
    path.write_text(json.dumps(rows))


def _put(table: str, **fields: object) -> Callable[[Path], None]:
    return lambda root: _table(root, table, lambda rows: rows[0].update(fields))


def _text(name: str, text: str | bytes) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))

    return write


def _image(root: Path) -> Path:
    return next(iter(sorted((root / "samples").rglob("*CAMERA_FRONT*.png"))))


def _replace_image(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def spoil(root: Path) -> None:
        path = _image(root)
        path.unlink()
        make(path)

    return spoil


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


def _sparse(root: Path) -> None:
    with (root / V / "ego_pose.json").open("wb") as file:
        file.truncate(40 << 30)


def _table_is(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def spoil(root: Path) -> None:
        path = root / V / "sample.json"
        path.unlink()
        make(path)

    return spoil


def _linked_folder(name: str) -> Callable[[Path], None]:
    def spoil(root: Path) -> None:
        outside = root.parent / f"outside-{name.replace('/', '-')}"
        (root / name).rename(outside)
        (root / name).symlink_to(outside)

    return spoil


def _drop(table: str, field: str) -> Callable[[Path], None]:
    return lambda root: _table(root, table, lambda rows: rows[0].pop(field, None))


def _linked_to_itself(root: Path) -> None:
    (root / "samples").rename(root / "elsewhere")
    (root / "samples").symlink_to("samples")


def _cut_mask(root: Path) -> None:
    path = min((root / "masks").rglob("*.png"))
    path.write_bytes(path.read_bytes()[:-30])


DEEP = "[" * 200_000 + "]" * 200_000
DAMAGES: dict[str, Callable[[Path], None]] = {
    "scene leaves": _put("scene", name="../../../x"),
    "absolute file": _put("sample_data", filename="/etc/passwd"),
    "file leaves": _put("sample_data", filename="samples/../../../x.png"),
    "channel leaves": _put("sensor", channel="../../x"),
    "map leaves": _put("map", filename="../../../etc/passwd"),
    "split leaves": _text(f"{V}/splits.json", json.dumps({"../../x": ["scene_00"]})),
    "NUL in a name": _put("sample_data", filename="samples/\0.png"),
    "surrogate in a name": _put("sample_data", filename="samples/\ud800.png"),
    "escape in a category": _put("category", name="\x1b[2J[/red]"),
    "markup in a scene": _put("scene", name="[/x]"),
    "fifo": _replace_image(lambda path: os.mkfifo(path)),
    "link to zero": _replace_image(lambda path: path.symlink_to("/dev/zero")),
    "link outside": _replace_image(lambda path: path.symlink_to("/etc/hostname")),
    "32000 pixels": _replace_image(lambda path: path.write_bytes(_png(32000, 32000))),
    "linked samples": _linked_folder("samples"),
    "linked version": _linked_folder(V),
    "time 10^30": _put("sample", timestamp=10**30),
    "5000 digits": _text(f"{V}/sample.json", '[{"token": "a", "timestamp": ' + "9" * 5000 + "}]"),
    "200000 deep": _text(f"{V}/sample.json", DEEP),
    "deep splits": _text(f"{V}/splits.json", DEEP),
    "damaged info": _text(f"{V}/uav_dataset.json", "{"),
    "4 billion pixels": _replace_image(lambda path: path.write_bytes(_png(65535, 65535))),
    "table is a folder": _table_is(lambda path: path.mkdir()),
    "table is a fifo": _table_is(lambda path: os.mkfifo(path)),
    "table links to zero": _table_is(lambda path: path.symlink_to("/dev/zero")),
    "table links to itself": _table_is(lambda path: path.symlink_to(path.name)),
    "40 GB of holes": _sparse,
    "UTF-16": _text(f"{V}/sample.json", "[]".encode("utf-16")),
    "byte order mark": _text(f"{V}/sample.json", b"\xef\xbb\xbf[]"),
    "null table": _text(f"{V}/sample.json", "null"),
    "rows of numbers": _text(f"{V}/sample_data.json", "[1, 2, 3]"),
    "one long row": _text(f"{V}/log.json", '[{"token": "' + "x" * (1 << 22) + '"}]'),
    "NaN": _text(f"{V}/category.json", '[{"token": NaN, "name": Infinity}]'),
    "no token": _drop("sample", "token"),
    "no scene": _drop("sample", "scene_token"),
    "no filename": _drop("sample_data", "filename"),
    "no instance": _drop("sample_annotation", "instance_token"),
    "no modality": _drop("sensor", "modality"),
    "text for a number": _put("sample_data", width="wide", height=[]),
    "negative size": _put("sample_data", width=-5, height=-5),
    "list for a token": _put("sample", token=["a"]),
    "object for a name": _put("category", name={"a": 1}),
    "translation of text": _put("ego_pose", translation=["a", "b", "c"], rotation=None),
    "huge coordinates": _put("ego_pose", translation=[1e308, -1e308, 1e308]),
    "zero rotation": _put("ego_pose", rotation=[0, 0, 0, 0]),
    "bool for a time": _put("sample", timestamp=True),
    "scene in circles": lambda root: _table(
        root, "sample", lambda rows: [row.update(next=row["token"], prev=row["token"]) for row in rows]
    ),
    "samples links to itself": _linked_to_itself,
    "name of 300 letters": _put("scene", name="x" * 300),
    "right to left": _put("scene", name="\u202egnp.x"),
    "2^70 pixels wide": _put("sample_data", width=2**70),
    "mask cut off": _cut_mask,
}

NOTES: dict[str, Callable[[Path], None]] = {
    "ledger garbage": _text(".uavsim/ledger/scene_00.json", b"\xff\xfe{"),
    "ledger deep": _text(".uavsim/ledger/scene_00.json", DEEP),
    "ledger of another": _text(".uavsim/ledger/scene_00.json", '{"version": 3, "scene": "../x", "state": "committed"}'),
    "fragment garbage": _text(".uavsim/fragments/scene_00.msgpack", b"\x81\xa6format\xb1uavsim-fragment-1"),
    "dataset.json garbage": _text(".uavsim/dataset.json", "{"),
    "dataset.json deep": _text(".uavsim/dataset.json", DEEP),
    "recording garbage": _text(".uavsim/recordings/scene_00/log.msgpack", b"\xc1" * 100),
    "ledger is a fifo": lambda root: os.mkfifo(root / ".uavsim/ledger/scene_09.json"),
    "locks is a link": lambda root: (root / ".uavsim/locks").symlink_to("/etc/passwd"),
}
