"""A file for writers that print a line for each error of the disk and hide its reason."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from uavsim.files.results import ResultPath
from uavsim.files.whole import whole_file


class PatientFile:
    """Takes everything, and says where it stands; the first error of the disk is kept, and nothing is written after it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._at, self._end = file, 0, 0
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write, or seem to."""
        self._try(self._file.write, data)
        self._at += len(data)
        self._end = max(self._end, self._at)
        return len(data)

    def flush(self) -> None:
        """Write what is waiting, or seem to."""
        self._try(self._file.flush)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, or seem to; returns it."""
        self._try(self._file.seek, offset, whence)  # what is waiting is written first
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        return self._at

    def _try(self, act: Callable[..., object], *arguments: object) -> None:
        if self.error is None:
            try:
                act(*arguments)
            except OSError as error:
                self.error = error


@contextmanager
def patient_file(path: ResultPath) -> Iterator[PatientFile]:
    """Open a file that takes its place, whole, when the context ends well.

    Raises:
        InputError, StorageError: see ``whole_file``.
    """
    with whole_file(path) as file:
        patient = PatientFile(file)
        yield patient
        if patient.error is not None:
            raise patient.error
