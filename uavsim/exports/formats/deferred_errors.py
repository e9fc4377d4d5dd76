"""A file wrapper that raises the first OSError on closing, for writers that hide disk errors."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from uavsim.files.results import ResultPath
from uavsim.files.whole import whole_file


class DeferredErrorFile:
    """A binary file that stores its first OSError, then writes nothing but still reports positions."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._position, self._end = file, 0, 0
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write data, unless an error has occurred."""
        self._try(self._file.write, data)
        self._position += len(data)
        self._end = max(self._end, self._position)
        return len(data)

    def flush(self) -> None:
        """Flush the file, unless an error has occurred."""
        self._try(self._file.flush)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position, unless an error has occurred; returns the position."""
        self._try(self._file.seek, offset, whence)  # flushes the buffer, which may fail
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._end}[whence]
        return self._position

    def _try(self, act: Callable[..., object], *arguments: object) -> None:
        if self.error is None:
            try:
                act(*arguments)
            except OSError as error:
                self.error = error


@contextmanager
def deferred_errors(path: ResultPath) -> Iterator[DeferredErrorFile]:
    """Open a file that appears at ``path`` when the context ends without an error.

    Raises:
        InputError, StorageError: see ``whole_file``.
    """
    with whole_file(path) as file:
        deferred = DeferredErrorFile(file)
        yield deferred
        if deferred.error is not None:
            raise deferred.error
