"""Datasets without tables: readers report the progress of the run and how to continue."""

from pathlib import Path
from typing import Final

from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.files.parse import open_regular, parse_json
from uavsim.files.results import UNFINISHED

_LEDGER: Final = ".uavsim/ledger"
_MOST_ENTRY_BYTES: Final = 1 << 24


def refuse_without_tables(root: Path) -> None:
    """Refuse a folder without tables in which a run has committed scenes.

    Raises:
        DatasetError: the tables are missing; the message has the number of committed scenes and the remedy.
    """
    refuse_unfinished(root)
    files = DataFolder(root)
    count = sum(_is_committed(files, f"{_LEDGER}/{name}") for name in files.names(_LEDGER) if name.endswith(".json"))
    if count:
        reported = "1 scene is" if count == 1 else f"{count} scenes are"
        raise DatasetError(
            f"{root}: {reported} committed but the tables are not written yet: run the same generate command again, or "
            f"uavsim annotate {root} to write the tables of these scenes"
        )


def _command(root: Path) -> str | None:
    """Return the running or killed command that writes into a folder (``uavsim convert``); None without one."""
    try:
        with open_regular(root / UNFINISHED) as file:
            words = file.read(64).decode("ascii", "replace").split()[:2]
    except DatasetError:
        return None
    return " ".join(words) if words[:1] == ["uavsim"] else "uavsim"


def refuse_unfinished(root: Path) -> None:
    """Refuse a folder that a command has not finished.

    Raises:
        DatasetError: the folder is unfinished; the message has the command and how to continue.
    """
    command = _command(root)
    if command is not None:
        raise DatasetError(f"{root}: unfinished: {command} is running or was killed; run the same command again")


def _is_committed(files: DataFolder, name: str) -> bool:
    try:
        entry = parse_json(files.read(name, most_bytes=_MOST_ENTRY_BYTES))
    except (DatasetError, OSError, ValueError):  # the ledger's own reader reports damaged entries
        return False
    return isinstance(entry, dict) and entry.get("state") == "committed"
