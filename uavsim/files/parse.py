"""Files of others: only regular ones are read, and whatever is wrong with their JSON is one ``ValueError``."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from uavsim.errors import DatasetError, FrameError, UavsimError

__all__ = ["open_regular", "parse_json", "read_regular", "reading"]

_MOST_BYTES: Final = 1 << 34


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


def open_regular(path: Path, *, most_bytes: int = _MOST_BYTES) -> BinaryIO:
    """Open a regular file; a FIFO would wait for ever, a device never end.

    Raises:
        DatasetError: not there, not a regular file, too large, or not readable.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > most_bytes:
        os.close(descriptor)
        what = "is larger than any that we write" if stat.S_ISREG(found.st_mode) else "is not a regular file"
        raise DatasetError(f"{path}: {what}")
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, *, most_bytes: int = _MOST_BYTES) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        DatasetError: see ``open_regular``.
    """
    with open_regular(path, most_bytes=most_bytes) as file:
        return file.read()


@contextmanager
def reading(what: object) -> Iterator[None]:
    """Turn what breaks while data of others is taken apart into one line: it is not of the form that it claims.

    Only for code that takes apart what a file holds; a mistake of our own in it is told apart by ``UAVSIM_TRACEBACK=1``.

    Raises:
        DatasetError: says what was being read.
    """
    try:
        yield
    except FrameError as error:
        raise DatasetError(f"{what}: {error}; run uavsim validate") from error
    except UavsimError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        said = ascii(" ".join(str(error).split())[:160])
        raise DatasetError(
            f"{what}: damaged, or of another form ({type(error).__name__}: {said}); run uavsim validate"
        ) from error
