"""Check a pack that was downloaded: every file that it lists is there and is the one that was published."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

from uavsim.errors import DatasetError, InputError
from uavsim.files.names import DataFolder
from uavsim.files.parse import read_regular
from uavsim.publish.pack import SUMS

__all__ = ["verify"]

_MOST_BYTES: Final = 1 << 40  # of a tar file or a Parquet file
_LINE: Final = re.compile(r"([0-9a-f]{64})  (\S.*)")


def verify(pack: Path) -> int:
    """Return the number of files that were checked.

    Raises:
        InputError: the folder is no pack.
        DatasetError: files are missing or changed; names the first ones.
    """
    if not (pack / SUMS).is_file():
        raise InputError(f"{pack}: no {SUMS} in it; name a folder that uavsim publish wrote")
    files, wrong, checked = DataFolder(pack), [], 0
    for line in read_regular(pack / SUMS).decode("utf-8", "replace").splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            raise DatasetError(f"{pack / SUMS}: not a line of sha256sum: {line[:100]!a}; download it again")
        digest, name = found.groups()
        fault = files.fault(name, most_bytes=_MOST_BYTES)
        if fault is not None or _sha256_of(files, name) != digest:
            wrong.append(f"{name} {fault or 'is changed'}")
        checked += 1
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise DatasetError(
            f"{pack}: {len(wrong)} of {checked} files are wrong: {', '.join(wrong[:5])}{more}; download them again"
        )
    return checked


def _sha256_of(files: DataFolder, name: str) -> str:
    with files.open(name, most_bytes=_MOST_BYTES) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
