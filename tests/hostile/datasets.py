"""A small dataset, edits of its tables, and command lines, for tests with hostile input."""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.dataset_factory import make_dataset

VERSION = "v1.0-mini"
EVERY_ROAD: Final = Path(__file__).parents[1] / "maps/every_kind.xodr"
"""Roads of every kind of geometry, with a junction, objects and signals."""
EXPORTED: Final = ("agents", "coco", "mcap", "mmdet3d", "nerfstudio", "opv2v", "rosbag2")
WRITING: Final = {
    **{kind: f"export SET OUT --format {kind}" for kind in EXPORTED},
    "convert": "convert SET OUT --dialect uav3d",
    "publish": "publish SET --out OUT",
    "events": "events SET --out OUT --workers 1",
    "collaboration": "collaboration SET --out OUT",
    "report": "report SET --out OUT/report.html",
    "view": "view SET --save OUT/view.rrd",
    "video": "video SET --out OUT/video.mp4",
}
"""Commands that read the dataset SET and write OUT."""


def filled(words: str, root: Path, out: Path) -> list[str]:
    """Split a command line and fill in the paths of SET and OUT."""
    return [word.replace("SET", str(root)).replace("OUT", str(out)) for word in words.split()]


def make_tiny(root: Path) -> Path:
    """Make a dataset of one scene with one drone, two samples and images of 64 x 36 pixels."""
    return make_dataset(root, scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))


def edit_table(root: Path, name: str, edit: Callable[[list[dict[str, Any]]], object]) -> None:
    """Rewrite a table after ``edit`` changed its rows in place."""
    path = root / VERSION / f"{name}.json"
    rows = json.loads(path.read_text())
    edit(rows)
    path.write_text(json.dumps(rows))


def edit_first(root: Path, table: str, /, **fields: object) -> None:
    """Set fields of a table's first row."""
    edit_table(root, table, lambda rows: rows[0].update(fields))


def rgb_png(width_px: int, height_px: int, data: bytes) -> bytes:
    """Pack a zlib stream as a PNG that declares an 8-bit RGB image of the given size."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width_px, height_px, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
