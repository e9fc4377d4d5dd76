"""JSON of others: whatever is wrong with it is one ``ValueError``."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["parse_json"]


def parse_json(data: bytes | str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: no JSON, nested too deep, or a number of thousands of digits; the message is one short line.
    """
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())[:120]) from error
