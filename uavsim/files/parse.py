"""Reading files of unknown origin: only regular files, and one-line errors for damaged ones."""

import functools
import json
import os
import stat
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, TypeVar

from uavsim.errors import DatasetError, FrameError, UavsimError

S = TypeVar("S")
R = TypeVar("R")
_MOST_BYTES: Final = 1 << 34


def parse_json(data: bytes | str) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: the text is not JSON, nested too deep, or has a number of thousands of digits; the message is one line.
    """
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())[:120]) from error


def open_regular(path: Path | str, *, most_bytes: int = _MOST_BYTES) -> BufferedReader:
    """Open a regular file; a FIFO would block and a device never end.

    Raises:
        DatasetError: the file is missing, not a regular file, too large, or not readable.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > most_bytes:
        os.close(descriptor)
        fault = f"is larger than {most_bytes} bytes" if stat.S_ISREG(found.st_mode) else "is not a regular file"
        raise DatasetError(f"{path}: {fault}")
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
    """Translate exceptions of code that parses foreign data into a one-line error about malformed data.

    A bug in that code raises the same error: the message has its location and the remedy for a valid dataset, and
    ``UAVSIM_TRACEBACK=1`` prints the traceback.

    Raises:
        DatasetError: parsing failed; the message names ``what``.
    """
    try:
        yield
    except FrameError as error:
        raise DatasetError(f"{what}: {error}; run uavsim validate on the dataset") from error
    except UavsimError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        reason = ascii(" ".join(str(error).split())[:160])
        raise DatasetError(
            f"{what}: damaged or in another format ({type(error).__name__}: {reason}, at {_where(error)}); run uavsim "
            "validate on the dataset, and report a bug in uavsim if that finds nothing"
        ) from error


def reads(method: Callable[[S], R]) -> Callable[[S], R]:
    """Decorate a method with ``reading``; messages have the ``repr`` of its object."""

    @functools.wraps(method)
    def guarded(self: S) -> R:
        with reading(self):
            return method(self)

    return guarded


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own_frame = next((f for f in reversed(frames) if f"{os.sep}uavsim{os.sep}" in f.filename), frames[-1])
    return f"{Path(own_frame.filename).name}:{own_frame.lineno}"
