"""Rows as lines of JSON."""

import json

import orjson

from uavsim.typing import JsonDict


def json_line(row: JsonDict) -> bytes:
    """Encode a row with a newline; names of others may hold lone surrogates, which only the standard library encodes."""
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"
