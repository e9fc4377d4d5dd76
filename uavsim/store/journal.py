"""Event logs of scenes as JSON lines, without credentials."""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from uavsim.files.logs import open_appending
from uavsim.files.whole import storage_errors

_LONGEST: Final = 1 << 16
_WORD: Final = re.compile(r"\S+")
_SECRET_PAIR: Final = re.compile(  # every repetition is bounded, so that the time is linear
    r"(?P<key>(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|credential|authorization|signature)[\w-]{0,64}+"
    r"[\"']?)(?P<mark>\s{0,8}[=:]\s{0,8})(?P<scheme>(?:bearer|basic)\s{1,8})?(?:\"[^\"]{0,8192}\"|'[^']{0,8192}')?\S*",
    re.IGNORECASE,
)
_AMAZON_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")


def redact(text: str) -> str:
    """Remove credentials from a text: ``scheme://user:pass@host``, ``password=...``, ``"secret": "..."``, ``AKIA...``.

    Everything from a secret's name to the next blank is removed, and long texts are cut.
    """
    if len(text) > _LONGEST:  # at a blank: the patterns do not match a cut secret
        text = f"{text[:_LONGEST].rpartition(' ')[0]} ... ({len(text)} characters)"
    text = _WORD.sub(_without_credentials, text)
    text = _SECRET_PAIR.sub(r"\g<key>\g<mark>***", text)
    return _AMAZON_KEY.sub("***", text)


def _without_credentials(word: re.Match[str]) -> str:
    scheme, _, rest = word[0].partition("://")
    _, separator, host = rest.rpartition("@")  # the last one: secrets hold slashes
    return f"{scheme}://***@{host}" if separator else word[0]


def redacted(value: object) -> object:
    """Remove credentials from every text in a JSON value."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: redacted(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [redacted(item) for item in value]
    return value


class Journal:
    """Appends events to one file, one JSON object per line; thread-safe.

    Args:
        path: the file; the first event creates it with its folder.
        now: returns the seconds since the epoch.
    """

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._path, self._now, self._lock = path, now, threading.Lock()

    def add(self, event: str, **facts: object) -> None:
        """Append one event; strings are redacted.

        Raises:
            StorageError: the file cannot be written.
        """
        clean = {key: redacted(value) for key, value in facts.items()}
        line = json.dumps({"time": round(self._now(), 3), "event": event, **clean}, ensure_ascii=False, default=str)
        with self._lock, storage_errors(f"write the log {self._path}"), open_appending(self._path) as file:
            file.write(line.encode("utf-8", "backslashreplace") + b"\n")
