"""Text, JSON and YAML files of exporters, each written whole."""

import json
from typing import Any, Final

import yaml

from uavsim.files.whole import AnyPath, write_whole

_LINE_WIDTH: Final = 2**31 - 1  # libyaml's largest: long lists stay on one line


def write_text(path: AnyPath, text: str) -> AnyPath:
    """Write a UTF-8 file and its folders; returns the path.

    Raises:
        StorageError: the file cannot be written.
    """
    return write_whole(path, text.encode("utf-8"))


def write_json(path: AnyPath, value: Any) -> AnyPath:
    """Write indented JSON; returns the path.

    Raises:
        StorageError: the file cannot be written.
    """
    return write_text(path, json.dumps(value, indent=1) + "\n")


def to_yaml(value: dict[Any, Any]) -> str:
    """Return YAML 1.1 of nested dictionaries, in their order; lists of numbers take one line."""
    return yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=False, default_flow_style=None, width=_LINE_WIDTH)
