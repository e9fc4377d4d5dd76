"""JSON lines."""

import json

from uavsim.typing import JsonDict


def json_line(row: JsonDict) -> bytes:
    """Encode a row as one line of JSON.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"
