"""Memory of every command on images that claim 32,000 x 32,000 pixels.

Each bomb is a PNG of 3 MB that decodes to 3 GB, as an image or as a mask, with or without that size in its row.
"""

import ast
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, Final

import pytest

from tests.hostile.datasets import VERSION, WRITING, edit_table, filled, rgb_png
from uavsim.images import codec

MOST_MIB: Final = 512
"""The stated bound of a process, with interpreter and libraries."""
SIDE_PX: Final = 32_000
BOMBS: Final = ("image, declared", "image, not declared", "mask, not declared")
COMMANDS: Final = {
    "validate": "validate SET --workers 1",
    "questions": "questions SET --out OUT --workers 1",
    "evaluate": "evaluate swarm --results SET/results.json --truth SET",
    **WRITING,
}
_MEASURE: Final = (
    "import resource, subprocess, sys\n"
    "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
    "line = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]\n"
    "print((done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, str(line)))\n"
)


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A black RGB image of 32,000 x 32,000 pixels in 3 MB: one compressed block of 100 lines, repeated (RFC 1950, 1951)."""
    packer, lines = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(100 * (1 + 3 * SIDE_PX))
    block = packer.compress(lines) + packer.flush(zlib.Z_FULL_FLUSH)
    blocks = SIDE_PX // 100
    adler = (len(lines) * blocks % 65521) << 16 | 1  # of zeros
    return rgb_png(SIDE_PX, SIDE_PX, b"\x78\x9c" + block * blocks + b"\x03\x00" + adler.to_bytes(4, "big"))


def run_on_bomb(command: str, kind: str, bomb: bytes, root: Path) -> tuple[int, int, str]:
    """Run a command on a dataset with a bomb in place of its first image, or of that image's mask.

    Returns:
        Exit code, peak memory of the largest process, MiB, and the last line.
    """
    names: list[str] = []

    def choose_image(rows: list[dict[str, Any]]) -> None:
        first = next(row for row in rows if row["filename"].endswith(".png"))
        names.append(first["filename"])
        if kind.startswith("mask"):
            layers = json.loads((root / VERSION / "layer.json").read_text())
            names[0] = next(row["filename"] for row in layers if row["sample_data_token"] == first["token"])
        elif kind == "image, declared":
            first["width"] = first["height"] = SIDE_PX

    edit_table(root, "sample_data", choose_image)
    (root / names[0]).unlink()
    (root / names[0]).write_bytes(bomb)
    (root / "results.json").write_text(json.dumps({"meta": {}, "results": {}}))
    words = filled(COMMANDS[command], root, root.parent / "out")
    measured = [sys.executable, "-c", _MEASURE, sys.executable, "-P", "-m", "uavsim", *words]
    done = subprocess.run(measured, capture_output=True, text=True, check=True)
    code, peak_mib, line = ast.literal_eval(done.stdout)
    return code, peak_mib, line


@pytest.mark.release
def test_bomb_is_a_complete_image(bomb: bytes) -> None:
    """A decoder without a bound takes it: all of its lines are there, and their checksum is right."""
    assert codec.image_size(bomb) == (SIDE_PX, SIDE_PX)
    assert len(bomb) < 4 << 20
    offset = bomb.index(b"IDAT")
    size = int.from_bytes(bomb[offset - 4 : offset], "big")
    packed, opened, count = bomb[offset + 4 : offset + 4 + size], zlib.decompressobj(), 0
    while not opened.eof:
        count += len(opened.decompress(packed, 1 << 24))
        packed = opened.unconsumed_tail
    assert count == SIDE_PX * (1 + 3 * SIDE_PX)


REFUSED: Final = {
    ("video", "image, not declared"),
    ("coco", "mask, not declared"),
    ("view", "image, declared"),
    ("validate", "image, declared"),
}
"""Commands that decode the bomb and must refuse it; the other combinations run before a release."""


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        pytest.param(command, kind, marks=() if (command, kind) in REFUSED else pytest.mark.release)
        for command in COMMANDS
        for kind in BOMBS
    ],
)
def test_command_stays_below_the_bound(command: str, kind: str, bomb: bytes, tiny_copy: Path) -> None:
    code, peak_mib, line = run_on_bomb(command, kind, bomb, tiny_copy)
    assert peak_mib < MOST_MIB, line
    assert code in ({4} if (command, kind) in REFUSED else {0, 2, 4}), line
    if (command, kind) in REFUSED:
        assert "32000 x 32000 pixels" in line or command == "validate"
