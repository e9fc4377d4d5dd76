"""A file that Rerun writes, complete or absent.

Rerun's writer thread stops at a full disk, after which flushing and closing the recording never return. Rerun therefore writes
to a pipe, which a thread drains regardless of errors of the disk.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from uavsim.files.whole import whole_file

_STEP_BYTES: Final = 1 << 20


@contextmanager
def whole_sink(path: Path) -> Iterator[str]:
    """Yield a file name to write to; its content is at ``path`` when the context ends without an error.

    The writer must close the file before the context ends.

    Raises:
        InputError: no file can be at ``path``; see ``whole_file``.
        StorageError: the file cannot be written.
    """
    with whole_file(path) as file:
        source, sink = os.pipe()
        failures: list[OSError] = []
        thread = threading.Thread(target=_drain, args=(source, file, failures), name="recording", daemon=True)
        thread.start()
        try:
            yield f"/proc/self/fd/{sink}"
        finally:
            os.close(sink)
            thread.join()
        if failures:
            raise failures[0]


def _drain(source: int, file: BinaryIO, failures: list[OSError]) -> None:
    with os.fdopen(source, "rb", buffering=0) as pipe:
        while data := pipe.read(_STEP_BYTES):
            try:
                if not failures:
                    file.write(data)
            except OSError as error:
                failures.append(error)
