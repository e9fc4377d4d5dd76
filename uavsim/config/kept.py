"""The configuration that a data set was made with, kept beside it: found again from any folder, whatever became of the YAML.

One JSON file holds every text that planning asked for, by what it was asked for as: a name, or a path as it was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uavsim.errors import ConfigError, DatasetError
from uavsim.files.parse import parse_json, read_regular
from uavsim.typing import JsonDict

__all__ = ["KEPT", "Kept", "key_of", "pack", "read_kept"]

KEPT: Final = "configuration.json"
_FORMAT: Final = "uavsim-configuration-1"
_MOST_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Kept:
    """Texts by key.

    Attributes:
        dataset: what the data set was asked for as.
        files: key -> (file name, text).
    """

    dataset: str = ""
    files: Mapping[str, tuple[str, str]] | None = None

    def find(self, kind: str, name: str) -> tuple[Path, str] | None:
        """Return name and text of a file; None when it was not kept."""
        found = (self.files or {}).get(key_of(kind, name))
        return (Path(found[0]), found[1]) if found is not None else None


def key_of(kind: str, name: str) -> str:
    """Say under what a file is kept; names are found whatever their case."""
    return f"{kind}:{name if name.endswith(('.yaml', '.yml')) else name.casefold()}"


def pack(dataset: str, used: Mapping[str, Path]) -> JsonDict:
    """Return what is to be written: the texts of the files that planning asked for."""
    files = {key: [path.name, path.read_bytes().decode("utf-8-sig")] for key, path in sorted(used.items())}
    return {"format": _FORMAT, "dataset": dataset, "files": files}


def read_kept(path: Path) -> Kept:
    """Read what was kept.

    Raises:
        ConfigError: it is damaged, or not there.
    """
    try:
        value = parse_json(read_regular(path, most_bytes=_MOST_BYTES))
    except (DatasetError, ValueError) as error:
        raise ConfigError(
            f"{path}: the configuration of this data set cannot be read ({error}); name it with --dataset"
        ) from error
    files = value.get("files") if isinstance(value, dict) and value.get("format") == _FORMAT else None
    if (
        not isinstance(files, dict)
        or not isinstance(value.get("dataset"), str)
        or not all(map(_is_file, files.values()))
    ):
        raise ConfigError(f"{path}: the configuration of this data set is damaged; name it with --dataset")
    return Kept(value["dataset"], {str(key): (Path(name).name, text) for key, (name, text) in files.items()})


def _is_file(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
