"""Check a downloaded pack: every published file is present and unchanged, and there is no other file.

``SHA256SUMS`` lists every file including the card. The card holds the hash of that list without the card's own line. The hash
of ``SHA256SUMS``, which the publisher states elsewhere, therefore proves the whole pack.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from uavsim.errors import DatasetError, InputError
from uavsim.files.names import DataFolder

SUMS: Final = "SHA256SUMS"
CARD: Final = "README.md"
_MOST_BYTES: Final = 1 << 40  # per tar or Parquet file
_LINE: Final = re.compile(r"([0-9a-f]{64})  (\S.*)")
_VOUCH: Final = re.compile(r"^Contents: `sha256:([0-9a-f]{64})`$", re.MULTILINE)
_SHOWN: Final = 5


def list_hash(lines: list[str]) -> str:
    """Return the hash of the lines of ``SHA256SUMS``, line ends included, without the card's line."""
    return hashlib.sha256("".join(line for line in lines if line[66:].rstrip("\n") != CARD).encode()).hexdigest()


def vouch(digest: str) -> str:
    """Return the card's line with the hash of the list."""
    return f"Contents: `sha256:{digest}`"


def verify(pack: Path, *, sums_sha256: str | None = None) -> tuple[int, str]:
    """Check a pack.

    Args:
        pack: folder of the pack.
        sums_sha256: published hash of ``SHA256SUMS``; default: trust the card.

    Returns:
        The number of files, and the hash of ``SHA256SUMS``.

    Raises:
        InputError: the folder is not a pack.
        DatasetError: files are missing, changed or added, or the list is not the published one.
    """
    if not (pack / SUMS).is_file():
        raise InputError(f"{pack}: no {SUMS} in it; name a folder that uavsim publish wrote")
    files = DataFolder(pack)
    content = files.read(SUMS, what="there is")
    actual_sha256 = hashlib.sha256(content).hexdigest()
    if sums_sha256 not in {None, actual_sha256}:
        raise DatasetError(
            f"{pack / SUMS}: is not the published file; its sha256 is {actual_sha256}; download it again"
        )
    listed = _listed(pack, content)
    if files.fault(CARD) is None:
        vouched = _VOUCH.findall(files.read(CARD).decode("utf-8", "replace"))
        if vouched != [list_hash(content.decode("utf-8", "replace").splitlines(keepends=True))]:
            raise DatasetError(f"{pack / SUMS}: {CARD} has another hash of this list; download both again")
    wrong = [f"{name} is not part of the pack" for name in _names_in(files, "") if name not in {*listed, SUMS}]
    for name, digest in listed.items():
        fault = files.fault(name, most_bytes=_MOST_BYTES)
        if fault is not None or _sha256_of(files, name) != digest:
            wrong.append(f"{name} {fault or 'has changed'}")
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise DatasetError(
            f"{pack}: {len(wrong)} of {len(listed)} files are wrong: {', '.join(wrong[:_SHOWN])}{more}; download them again"
        )
    return len(listed), actual_sha256


def _listed(pack: Path, content: bytes) -> dict[str, str]:
    listed: dict[str, str] = {}
    for line in content.decode("utf-8", "replace").splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise DatasetError(f"{pack / SUMS}: not a line of sha256sum: {line[:100]!a}; download it again")
        digest, name = match.groups()
        if name in listed:
            raise DatasetError(f"{pack / SUMS}: names {name[:100]!a} twice; download it again")
        listed[name] = digest
    if CARD not in listed:
        raise DatasetError(f"{pack / SUMS}: lists no {CARD}; download it again")
    return listed


def _names_in(files: DataFolder, folder: str) -> Iterator[str]:
    """Yield the names of all files of a pack, but not the dot files that download tools leave at its top."""
    for name in files.names(folder):
        path = files.root / folder / name
        if not folder and name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _names_in(files, f"{folder}/{name}".lstrip("/"))
        else:
            yield f"{folder}/{name}".lstrip("/")


def _sha256_of(files: DataFolder, name: str) -> str:
    with files.open(name, most_bytes=_MOST_BYTES) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
