"""Check a pack that was downloaded: all that was published is there, unchanged, and nothing else.

``SHA256SUMS`` lists every file. The card holds the hash of that list, its own line left out, and stands in it. So the hash of
``SHA256SUMS`` alone, reported by the publisher in another place, proves the whole pack.
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
_MOST_BYTES: Final = 1 << 40  # of a tar file or a Parquet file
_LINE: Final = re.compile(r"([0-9a-f]{64})  (\S.*)")
_VOUCH: Final = re.compile(r"^Contents: `sha256:([0-9a-f]{64})`$", re.MULTILINE)
_SHOWN: Final = 5


def list_hash(lines: list[str]) -> str:
    """Return the hash of a list of files: lines of ``SHA256SUMS`` with their ends, the card's left out."""
    return hashlib.sha256("".join(line for line in lines if line[66:].rstrip("\n") != CARD).encode()).hexdigest()


def vouch(digest: str) -> str:
    """Return the card's line about the list."""
    return f"Contents: `sha256:{digest}`"


def verify(pack: Path, *, sums_sha256: str | None = None) -> tuple[int, str]:
    """Check a pack.

    Args:
        pack: its folder.
        sums_sha256: the hash of its ``SHA256SUMS`` as the publisher reports it; by default the card alone is believed.

    Returns:
        The number of files, and the hash of ``SHA256SUMS``.

    Raises:
        InputError: the folder is no pack.
        DatasetError: files are missing, changed or too many, or the list is not the one that was published.
    """
    if not (pack / SUMS).is_file():
        raise InputError(f"{pack}: no {SUMS} in it; name a folder that uavsim publish wrote")
    files = DataFolder(pack)
    content = files.read(SUMS, what="there is")
    reported = hashlib.sha256(content).hexdigest()
    if sums_sha256 not in {None, reported}:
        raise DatasetError(f"{pack / SUMS}: is not the published one, its sha256 is {reported}; download it again")
    listed = _listed(pack, content)
    if files.fault(CARD) is None:
        vouched = _VOUCH.findall(files.read(CARD).decode("utf-8", "replace"))
        if vouched != [list_hash(content.decode("utf-8", "replace").splitlines(keepends=True))]:
            raise DatasetError(
                f"{pack / SUMS}: {CARD} does not vouch for it: the list was changed; download both again"
            )
    wrong = [f"{name} is not of the pack" for name in _there(files, "") if name not in {*listed, SUMS}]
    for name, digest in listed.items():
        fault = files.fault(name, most_bytes=_MOST_BYTES)
        if fault is not None or _sha256_of(files, name) != digest:
            wrong.append(f"{name} {fault or 'is changed'}")
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise DatasetError(
            f"{pack}: {len(wrong)} of {len(listed)} files are wrong: {', '.join(wrong[:_SHOWN])}{more}; download them again"
        )
    return len(listed), reported


def _listed(pack: Path, content: bytes) -> dict[str, str]:
    listed: dict[str, str] = {}
    for line in content.decode("utf-8", "replace").splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            raise DatasetError(f"{pack / SUMS}: not a line of sha256sum: {line[:100]!a}; download it again")
        digest, name = found.groups()
        if name in listed:
            raise DatasetError(f"{pack / SUMS}: names {name[:100]!a} twice; download it again")
        listed[name] = digest
    if CARD not in listed:
        raise DatasetError(f"{pack / SUMS}: lists no {CARD}; download it again")
    return listed


def _there(files: DataFolder, folder: str) -> Iterator[str]:
    """Yield all that is in the pack but what tools leave at its top: names that begin with a dot."""
    for name in files.names(folder):
        path = files.root / folder / name
        if not folder and name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _there(files, f"{folder}/{name}".lstrip("/"))
        else:
            yield f"{folder}/{name}".lstrip("/")


def _sha256_of(files: DataFolder, name: str) -> str:
    with files.open(name, most_bytes=_MOST_BYTES) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
