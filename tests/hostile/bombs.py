"""Images of 32,000 x 32,000 pixels in small files, against every command that reads a dataset: the peak of its memory.

Each bomb is a PNG of 3 MB that would take 3 GB: as an image or as a mask, and its row says so or not. No
command may take more memory than is stated, or end in another way than with its own line and code.
"""

import json
import os
import struct
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["BOMBS", "MOST_MIB", "Ended", "armed", "run"]

MOST_MIB: Final = 512
"""The stated bound: what a process of a command holds at most, with interpreter and libraries."""
SIDE_PX: Final = 32_000
BOMBS: Final = ("image, declared", "image, not declared", "mask, not declared")
READING: Final = {
    "validate": "validate SET --workers 1",
    "questions": "questions SET --out OUT --workers 1",
    "evaluate": "evaluate swarm --results SET/results.json --truth SET",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a command: its exit code, the most memory of any of its processes, and its last line."""

    code: int
    peak_mib: int
    line: str


def bomb_png() -> bytes:
    """Make a black RGB image of 32,000 x 32,000 pixels, 3 MB: one block of 100 lines, again and again (RFC 1950, 1951)."""
    packer, lines = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(100 * (1 + 3 * SIDE_PX))
    block = packer.compress(lines) + packer.flush(zlib.Z_FULL_FLUSH)
    blocks = SIDE_PX // 100
    adler = (len(lines) * blocks % 65521) << 16 | 1  # of zeros
    data = b"\x78\x9c" + block * blocks + b"\x03\x00" + struct.pack(">I", adler)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", SIDE_PX, SIDE_PX, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def armed(root: Path, bomb: str, data: bytes) -> Path:
    """Put a bomb into a dataset in place of the first image, or of its mask."""
    table = root / "v1.0-mini/sample_data.json"
    rows = json.loads(table.read_text())
    first = next(row for row in rows if row["filename"].endswith(".png"))
    name = first["filename"]
    if bomb.startswith("mask"):
        layers = json.loads((root / "v1.0-mini/layer.json").read_text())
        name = next(row["filename"] for row in layers if row["sample_data_token"] == first["token"])
    elif bomb == "image, declared":
        first["width"] = first["height"] = SIDE_PX
        table.write_text(json.dumps(rows))
    (root / name).unlink()
    (root / name).write_bytes(data)
    (root / "results.json").write_text(json.dumps({"meta": {}, "results": {}}))
    return root


def run(words: list[str]) -> Ended:
    """Run a command of ``uavsim``; memory is that of the largest of its processes."""
    measured = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)\n"
        "print((done.stderr.strip() or done.stdout.strip()).splitlines()[-1:])"
    )
    command = [sys.executable, "-c", measured, sys.executable, "-P", "-m", "uavsim", *words]
    env = {**os.environ, "DO_NOT_TRACK": "1"}
    said = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout
    numbers, _, line = said.partition("\n")
    code, peak_mib = map(int, numbers.split())
    return Ended(code, peak_mib, line.strip())
