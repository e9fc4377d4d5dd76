"""Rows as lines of JSON."""

import json

from uavsim.typing import JsonDict


def json_line(row: JsonDict) -> bytes:
    """Encode a row with a newline.

    Raises:
        ValueError: nan or infinity, which JSON does not have.
    """
    return json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"
