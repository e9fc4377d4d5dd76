"""JSON lines per scene beside the data: what happened when, for machines; nothing secret gets in."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from uavsim.files.whole import storage_errors

__all__ = ["Journal", "redact", "redacted"]

_URL_CREDENTIALS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)\S*@", re.IGNORECASE
)  # to the last @: secrets hold slashes
_SECRET_PAIR = re.compile(
    r"(?P<key>[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|credential|authorization|signature)[\w-]*"
    r"[\"']?)(?P<mark>\s*[=:]\s*)(?P<scheme>(?:bearer|basic)\s+)?(?:\"[^\"]*\"|'[^']*')?\S*",
    re.IGNORECASE,
)
_AMAZON_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")


def redact(text: str) -> str:
    """Take credentials out of a text: ``scheme://user:pass@host``, ``password=...``, ``"secret": "..."``, ``AKIA...``.

    Rather too much than too little: what follows a secret's name goes up to the next blank.
    """
    text = _URL_CREDENTIALS.sub(r"\g<scheme>***@", text)
    text = _SECRET_PAIR.sub(r"\g<key>\g<mark>***", text)
    return _AMAZON_KEY.sub("***", text)


def redacted(value: object) -> object:
    """Take credentials out of every text in a value that is to become JSON."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: redacted(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [redacted(item) for item in value]
    return value


class Journal:
    """Appends events to one file, a JSON object a line; threads may share it.

    Args:
        path: the file; made with its folder at the first event.
        now: seconds since the epoch; replaced in tests.
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
        with self._lock, storage_errors(f"write the log {self._path}"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(self._path, flags, 0o644), "ab") as file:
                file.write(line.encode("utf-8", "backslashreplace") + b"\n")
