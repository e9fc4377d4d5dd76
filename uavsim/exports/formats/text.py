"""Small files of the exporters, written whole."""

import json
from typing import Any

from uavsim.files.whole import AnyPlace, write_whole


def write_text(path: AnyPlace, text: str) -> AnyPlace:
    """Write a text file and its folders.

    Raises:
        StorageError: it cannot be written.
    """
    return write_bytes(path, text.encode("utf-8"))


def write_json(path: AnyPlace, value: Any) -> AnyPlace:
    """Write JSON for people to look at."""
    return write_text(path, json.dumps(value, indent=1) + "\n")


def write_bytes(path: AnyPlace, data: bytes) -> AnyPlace:
    """Write a file and its folders.

    Raises:
        StorageError: it cannot be written.
    """
    return write_whole(path, data)


def to_yaml(value: dict[Any, Any], *, indent: int = 0) -> str:
    """Return nested dictionaries of numbers, text and lists of numbers as block YAML; keys may be integers."""
    lines = []
    for key, item in value.items():
        name = json.dumps(key) if isinstance(key, str) and not key.replace("_", "").isalnum() else str(key)
        if isinstance(item, dict) and item:
            lines.append(f"{' ' * indent}{name}:\n{to_yaml(item, indent=indent + 2)}")
        else:
            lines.append(f"{' ' * indent}{name}: {_flow(item)}\n")
    return "".join(lines)


def _flow(item: Any) -> str:
    """Return one value in a line. YAML 1.1 takes ``1e-05`` for text: its numbers have a point before the exponent."""
    if isinstance(item, (list, tuple)):
        return f"[{', '.join(_flow(one) for one in item)}]"
    text = json.dumps(item)
    if isinstance(item, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return text
