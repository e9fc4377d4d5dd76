"""A dataset of ours without tables: those who would read it say how far its run came, and how to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.files.parse import parse_json

__all__ = ["refuse_without_tables"]

_LEDGER: Final = ".uavsim/ledger"
_MOST_ENTRY_BYTES: Final = 1 << 24


def refuse_without_tables(root: Path) -> None:
    """Refuse a folder in which a run has committed scenes; the caller has found no tables in it.

    Raises:
        DatasetError: says how many scenes there are, and how their tables are written.
    """
    files = DataFolder(root)
    count = sum(_is_committed(files, f"{_LEDGER}/{name}") for name in files.names(_LEDGER) if name.endswith(".json"))
    if count:
        reported = "1 scene is" if count == 1 else f"{count} scenes are"
        raise DatasetError(
            f"{root}: {reported} committed but the tables are not written yet: run the same generate command again, or "
            f"uavsim annotate {root} to write the tables of what is there"
        )


def _is_committed(files: DataFolder, name: str) -> bool:
    try:
        entry = parse_json(files.read(name, most_bytes=_MOST_ENTRY_BYTES))
    except (DatasetError, OSError, ValueError):  # whoever goes on learns of it from the ledger's own reader
        return False
    return isinstance(entry, dict) and entry.get("state") == "committed"
