"""JSON lines per scene beside the data: what happened when, for machines; nothing secret gets in."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

from uavsim.store.atomic import storage_errors

__all__ = ["Journal", "redact"]

_URL_CREDENTIALS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)[^/@\s]+@", re.IGNORECASE)
_SECRET_PAIR = re.compile(
    r"(?P<key>[\w-]*(?:password|passwd|secret|token|api_?key|access_?key|credential)[\w-]*)(?P<mark>[\"']?\s*[=:]\s*)[\"']?[^\s\"',;&]+",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Take credentials out of a text: ``scheme://user:pass@host`` and ``password=...``, ``aws_secret_access_key: ...``."""
    text = _URL_CREDENTIALS.sub(r"\g<scheme>***@", text)
    return _SECRET_PAIR.sub(r"\g<key>\g<mark>***", text)


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
        clean = {key: redact(value) if isinstance(value, str) else value for key, value in facts.items()}
        line = json.dumps({"time": round(self._now(), 3), "event": event, **clean}, ensure_ascii=False, default=str)
        with self._lock, storage_errors(f"write the log {self._path}"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
