"""``verify`` detects every change of a pack: of files, of the list, and of the card."""

import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import uavsim
from uavsim.errors import DatasetError
from uavsim.exports.publish import PublishRequest, publish, verify

SHARD = "data/train-00000.parquet"


@pytest.fixture(scope="module")
def made(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "pack"
    publish(uavsim.open(strict), out, PublishRequest(name="tiny", date="2026-01-02"))
    return out


@pytest.fixture
def pack(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "pack")


def sums(pack: Path) -> list[str]:
    return (pack / "SHA256SUMS").read_text().splitlines(keepends=True)


def _extra_parquet(pack: Path) -> None:
    shutil.copyfile(pack / SHARD, pack / "data/train-00001.parquet")


def _cut(pack: Path) -> None:
    (pack / "SHA256SUMS").write_text("".join(sums(pack)[:3]))


def _emptied(pack: Path) -> None:
    (pack / "SHA256SUMS").write_text("")


def _one_line_seven_times(pack: Path) -> None:
    (pack / "SHA256SUMS").write_text(sums(pack)[0] * 7)


def _one_line_twice(pack: Path) -> None:
    (pack / "SHA256SUMS").write_text("".join([*sums(pack), sums(pack)[-1]]))


def _without_the_card(pack: Path) -> None:
    (pack / "SHA256SUMS").write_text("".join(line for line in sums(pack) if "README" not in line))


def _a_file_and_its_line_gone(pack: Path) -> None:
    (pack / SHARD).unlink()
    (pack / "SHA256SUMS").write_text("".join(line for line in sums(pack) if SHARD not in line))


def _extra_file_and_line(pack: Path) -> None:
    _extra_parquet(pack)
    line = next(line for line in sums(pack) if SHARD in line).replace("00000", "00001")
    (pack / "SHA256SUMS").write_text("".join(sorted([*sums(pack), line], key=lambda text: text[66:])))


def _link(pack: Path) -> None:
    (pack / "data/more").symlink_to("/etc")


def _swap_images(pack: Path) -> None:
    rows = pq.read_table(pack / SHARD)
    images = rows["image"].to_pylist()
    images[0], images[1] = images[1], images[0]
    column = pa.array(images, type=rows.schema.field("image").type)
    pq.write_table(rows.set_column(0, rows.schema.field("image"), column), pack / SHARD)


def _forge_list(pack: Path) -> None:
    """Update the line of the changed file."""
    digest = hashlib.sha256((pack / SHARD).read_bytes()).hexdigest()
    (pack / "SHA256SUMS").write_text("".join(f"{digest}  {SHARD}\n" if SHARD in line else line for line in sums(pack)))


def _swap_images_and_list_them(pack: Path) -> None:
    _swap_images(pack)
    _forge_list(pack)


def _swap_images_and_forge_all_lists(pack: Path) -> None:
    """Rewrite the card as well, which only the published hash of ``SHA256SUMS`` detects."""
    _swap_images_and_list_them(pack)
    digest = hashlib.sha256("".join(line for line in sums(pack) if "README" not in line).encode()).hexdigest()
    card = re.sub(r"`sha256:[0-9a-f]{64}`", f"`sha256:{digest}`", (pack / "README.md").read_text())
    (pack / "README.md").write_text(card)
    card_sha256 = hashlib.sha256(card.encode()).hexdigest()
    (pack / "SHA256SUMS").write_text(
        "".join(f"{card_sha256}  README.md\n" if "README" in line else line for line in sums(pack))
    )


FORGERIES: list[tuple[Callable[[Path], None], str]] = [
    (_extra_parquet, "train-00001.parquet is not part of the pack"),
    (_cut, "README.md has another hash of this list"),
    (_emptied, "lists no README.md"),
    (_one_line_seven_times, "twice"),
    (_one_line_twice, "twice"),
    (_without_the_card, "lists no README.md"),
    (_a_file_and_its_line_gone, "README.md has another hash of this list"),
    (_extra_file_and_line, "README.md has another hash of this list"),
    (_link, "data/more is not part of the pack"),
    (_swap_images, "train-00000.parquet has changed"),
    (_swap_images_and_list_them, "README.md has another hash of this list"),
    (_swap_images_and_forge_all_lists, "SHA256SUMS: is not the published file"),
]


@pytest.mark.parametrize(("forge", "message"), FORGERIES, ids=[forge.__name__ for forge, _ in FORGERIES])
def test_forgery_is_detected(pack: Path, forge: Callable[[Path], None], message: str) -> None:
    files, sums_sha256 = verify(pack)
    assert (files, sums_sha256) == (7, hashlib.sha256((pack / "SHA256SUMS").read_bytes()).hexdigest())
    forge(pack)
    with pytest.raises(DatasetError, match=message):
        verify(pack, sums_sha256=sums_sha256 if forge is _swap_images_and_forge_all_lists else None)


def test_dot_files_of_download_tools_are_ignored(pack: Path) -> None:
    (pack / ".cache/huggingface").mkdir(parents=True)
    (pack / ".cache/huggingface/x.metadata").write_text("")
    (pack / ".gitattributes").write_text("")
    assert verify(pack)[0] == 7
