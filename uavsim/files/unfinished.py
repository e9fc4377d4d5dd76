"""A data set of ours without tables: those who would read it say how far its run came, and how to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from uavsim.errors import DatasetError
from uavsim.files.parse import parse_json, read_regular

__all__ = ["refuse_without_tables"]

_LEDGER: Final = ".uavsim/ledger"
_MOST_ENTRY_BYTES: Final = 1 << 24


def refuse_without_tables(root: Path) -> None:
    """Refuse a folder in which a run has committed scenes; the caller has found no tables in it.

    Raises:
        DatasetError: says how many scenes there are, and how their tables are written.
    """
    count = sum(map(_is_committed, sorted((root / _LEDGER).glob("*.json"))))
    if count:
        told = "1 scene is" if count == 1 else f"{count} scenes are"
        raise DatasetError(
            f"{root}: {told} committed but the tables are not written yet: run the same generate command again to go on, or "
            f"uavsim annotate {root} to write the tables of what is there"
        )


def _is_committed(path: Path) -> bool:
    try:
        entry = parse_json(read_regular(path, most_bytes=_MOST_ENTRY_BYTES))
    except (DatasetError, OSError, ValueError):  # whoever goes on is told of it by the ledger's own reader
        return False
    return isinstance(entry, dict) and entry.get("state") == "committed"
