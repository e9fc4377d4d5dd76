"""Damaged datasets: each function damages a good one; the validator reports it and no reader fails on it."""

import json
import os
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.hostile.datasets import VERSION, edit_first, edit_table, rgb_png

__all__ = ["DAMAGES", "NOTES"]

Damage = Callable[[Path], object]


def _put(table: str, **fields: object) -> Damage:
    return lambda root: edit_first(root, table, **fields)


def _drop(table: str, field: str) -> Damage:
    return lambda root: edit_table(root, table, lambda rows: rows[0].pop(field, None))


def _text(name: str, text: str | bytes) -> Damage:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))

    return write


def _table(name: str, text: str | bytes) -> Damage:
    return _text(f"{VERSION}/{name}.json", text)


def _replace(find: Callable[[Path], Path], make: Damage) -> Damage:
    def damage(root: Path) -> None:
        path = find(root)
        path.unlink()
        make(path)

    return damage


_image = partial(_replace, lambda root: min((root / "samples").rglob("*CAMERA_FRONT*.png")))
_sample_table = partial(_replace, lambda root: root / VERSION / "sample.json")


def _huge_image(side_px: int) -> Damage:
    return _image(lambda path: path.write_bytes(rgb_png(side_px, side_px, zlib.compress(b"\0" * 100))))


def _link_folder(name: str, outside: str, target: str = "") -> Damage:
    """Move a folder out of the dataset and link to it, or to ``target``."""

    def damage(root: Path) -> None:
        moved = root / outside
        (root / name).rename(moved)
        (root / name).symlink_to(target or moved.resolve())

    return damage


def _cut_mask(root: Path) -> None:
    path = min((root / "masks").rglob("*.png"))
    path.write_bytes(path.read_bytes()[:-30])


def _sparse_table(root: Path) -> None:
    (root / VERSION / "ego_pose.json").write_bytes(b"")
    os.truncate(root / VERSION / "ego_pose.json", 40 << 30)


DEEP = "[" * 200_000 + "]" * 200_000
DAMAGES: dict[str, Damage] = {
    "scene leaves": _put("scene", name="../../../x"),
    "absolute file": _put("sample_data", filename="/etc/passwd"),
    "file leaves": _put("sample_data", filename="samples/../../../x.png"),
    "channel leaves": _put("sensor", channel="../../x"),
    "map leaves": _put("map", filename="../../../etc/passwd"),
    "split leaves": _table("splits", json.dumps({"../../x": ["scene_00"]})),
    "NUL in a name": _put("sample_data", filename="samples/\0.png"),
    "surrogate in a name": _put("sample_data", filename="samples/\ud800.png"),
    "escape in a category": _put("category", name="\x1b[2J[/red]"),
    "markup in a scene": _put("scene", name="[/x]"),
    "fifo": _image(os.mkfifo),
    "link to zero": _image(lambda path: path.symlink_to("/dev/zero")),
    "link outside": _image(lambda path: path.symlink_to("/etc/hostname")),
    "32000 pixels": _huge_image(32000),
    "linked samples": _link_folder("samples", "../outside-samples"),
    "linked version": _link_folder(VERSION, f"../outside-{VERSION}"),
    "time 10^30": _put("sample", timestamp=10**30),
    "5000 digits": _table("sample", '[{"token": "a", "timestamp": ' + "9" * 5000 + "}]"),
    "200000 deep": _table("sample", DEEP),
    "deep splits": _table("splits", DEEP),
    "damaged info": _table("uav_dataset", "{"),
    "4 billion pixels": _huge_image(65535),
    "table is a folder": _sample_table(Path.mkdir),
    "table is a fifo": _sample_table(os.mkfifo),
    "table links to zero": _sample_table(lambda path: path.symlink_to("/dev/zero")),
    "table links to itself": _sample_table(lambda path: path.symlink_to(path.name)),
    "40 GB of holes": _sparse_table,
    "UTF-16": _table("sample", "[]".encode("utf-16")),
    "byte order mark": _table("sample", b"\xef\xbb\xbf[]"),
    "null table": _table("sample", "null"),
    "rows of numbers": _table("sample_data", "[1, 2, 3]"),
    "one long row": _table("log", '[{"token": "' + "x" * (1 << 22) + '"}]'),
    "NaN": _table("category", '[{"token": NaN, "name": Infinity}]'),
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
    "scene in circles": lambda root: edit_table(
        root, "sample", lambda rows: [row.update(next=row["token"], prev=row["token"]) for row in rows]
    ),
    "samples links to itself": _link_folder("samples", "elsewhere", "samples"),
    "name of 300 letters": _put("scene", name="x" * 300),
    "right to left": _put("scene", name="\u202egnp.x"),
    "2^70 pixels wide": _put("sample_data", width=2**70),
    "mask cut off": _cut_mask,
}

NOTES: dict[str, Damage] = {
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
