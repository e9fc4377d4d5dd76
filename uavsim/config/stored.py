"""The configuration stored in a dataset, usable from any folder and after changes to the YAML.

One JSON file holds all texts that planning read, by the requested name or path.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uavsim.config import load
from uavsim.errors import ConfigError, DatasetError
from uavsim.files.parse import parse_json, read_regular
from uavsim.typing import JsonDict

CONFIG_FILE: Final = "configuration.json"
_FORMAT: Final = "uavsim-configuration-1"
_MOST_BYTES: Final = 64 << 20
_LONGEST_VALUE: Final = 40


@dataclass(frozen=True, slots=True)
class StoredConfig:
    """Stored texts.

    Attributes:
        dataset: requested name or path of the dataset.
        files: key -> (file name, text).
    """

    dataset: str = ""
    files: Mapping[str, tuple[str, str]] | None = None

    def find(self, kind: str, name: str) -> tuple[Path, str] | None:
        """Return name and text of a file; None if it is not stored."""
        found = (self.files or {}).get(key_of(kind, name))
        return (Path(found[0]), found[1]) if found is not None else None


def key_of(kind: str, name: str) -> str:
    """Return the key of a stored file; names ignore case, paths do not."""
    is_path = kind == "trajectory" or name.endswith((".yaml", ".yml"))
    return f"{kind}:{name if is_path else name.casefold()}"


def pack(dataset: str, used: Mapping[str, Path]) -> JsonDict:
    """Return the texts of the files that planning used."""
    files = {key: [path.name, path.read_bytes().decode("utf-8-sig")] for key, path in sorted(used.items())}
    return {"format": _FORMAT, "dataset": dataset, "files": files}


def read_stored(path: Path) -> StoredConfig:
    """Read a stored configuration.

    Raises:
        ConfigError: the file is damaged or missing.
    """
    try:
        value = parse_json(read_regular(path, most_bytes=_MOST_BYTES))
    except (DatasetError, ValueError) as error:
        raise ConfigError(
            f"{path}: the configuration of this dataset cannot be read ({error}); give its YAML with --dataset"
        ) from error
    files = value.get("files") if isinstance(value, dict) and value.get("format") == _FORMAT else None
    if (
        not isinstance(files, dict)
        or not isinstance(value.get("dataset"), str)
        or not all(map(_is_file, files.values()))
    ):
        raise ConfigError(f"{path}: the configuration of this dataset is damaged; give its YAML with --dataset")
    return StoredConfig(value["dataset"], {str(key): (Path(name).name, text) for key, (name, text) in files.items()})


def first_edit(stored: StoredConfig, current: JsonDict) -> str | None:
    """Describe the first edit of the stored files; comments and descriptions do not count.

    Args:
        stored: the stored configuration.
        current: the current one, from ``pack``.

    Returns:
        File, key and both values; None if no file of both differs.
    """
    for key, (name, text) in sorted((stored.files or {}).items()):
        new = current.get("files", {}).get(key)
        if new is None or new[1] == text:
            continue
        if key.startswith("trajectory:"):
            return name
        before, after = (load.parse(Path(name), text=each) for each in (text, new[1]))
        if (edit := first_difference(_reported(before), _reported(after))) is not None:
            return f"{name} ({edit})"
    return None


def _reported(value: Any) -> Any:
    return {k: v for k, v in value.items() if k != "description"} if isinstance(value, dict) else value


def first_difference(before: Any, after: Any, key_path: str = "") -> str | None:
    """Describe the first difference of two values of plain data; None if they are equal."""
    if before == after:
        return None
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            inner_path = f"{key_path}.{key}" if key_path else str(key)
            if (found := first_difference(before.get(key), after.get(key), inner_path)) is not None:
                return found
    if isinstance(before, tuple | list) and isinstance(after, tuple | list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            if (found := first_difference(one, other, f"{key_path}[{index}]")) is not None:
                return found
    return f"{key_path}: {_short(before)} in the dataset, {_short(after)} now"


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _is_file(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
