"""Commands stay below the stated bound of memory on images that claim 32,000 x 32,000 pixels; all before a release."""

import shutil
import zlib
from pathlib import Path

import pytest

from tests.dataset_factory import make_dataset
from tests.hostile.bombs import BOMBS, MOST_MIB, READING, SIDE_PX, Ended, armed, bomb_png, run
from tests.hostile.every_command import WRITING, filled
from uavsim.images import codec


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return bomb_png()


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("good"), scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))


def test_the_bomb_is_a_whole_image(bomb: bytes) -> None:
    """A decoder without a bound would take it: its lines are all there, and their sum is right."""
    assert codec.image_size(bomb) == (SIDE_PX, SIDE_PX)
    assert len(bomb) < 4 << 20
    at = bomb.index(b"IDAT")
    size = int.from_bytes(bomb[at - 4 : at], "big")
    packed, opened, count = bomb[at + 4 : at + 4 + size], zlib.decompressobj(), 0
    while not opened.eof:
        count += len(opened.decompress(packed, 1 << 24))
        packed = opened.unconsumed_tail
    assert count == SIDE_PX * (1 + 3 * SIDE_PX)


def ended_with(command: str, bomb_at: str, bomb: bytes, good: Path, work: Path) -> Ended:
    root = armed(Path(shutil.copytree(good, work / "set")), bomb_at, bomb)
    return run(filled((READING | WRITING)[command], root, work / "out"))


@pytest.mark.release
@pytest.mark.parametrize("bomb_at", BOMBS)
@pytest.mark.parametrize("command", READING | WRITING)
def test_every_command_stays_below_the_bound(
    command: str, bomb_at: str, bomb: bytes, good: Path, tmp_path: Path
) -> None:
    ended = ended_with(command, bomb_at, bomb, good, tmp_path)
    assert ended.peak_mib <= MOST_MIB, ended
    assert ended.code in {0, 2, 4}, ended


@pytest.mark.parametrize(
    ("command", "bomb_at"),
    [
        ("video", "image, not declared"),
        ("coco", "mask, not declared"),
        ("view", "image, declared"),
        ("validate", "image, declared"),
    ],
)
def test_no_command_takes_more_memory_than_is_stated(
    command: str, bomb_at: str, bomb: bytes, good: Path, tmp_path: Path
) -> None:
    ended = ended_with(command, bomb_at, bomb, good, tmp_path)
    assert ended.code == 4, ended
    assert "32000 x 32000 pixels" in ended.line or command == "validate"
    assert ended.peak_mib < MOST_MIB
