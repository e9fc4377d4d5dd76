"""A file that Rerun writes, whole or not there.

Rerun's own writer ends at a disk that is full, says so on the terminal, and never answers again: flushing and ending the
recording would wait for ever. So it writes into a pipe, which is read to its end whatever the disk says.
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
    """Yield a name to write to; what was written there is at ``path`` when the context ends well.

    Whoever opens the name has closed it when the context ends.

    Args:
        path: of the file.

    Raises:
        InputError: no file can be there; see ``whole_file``.
        StorageError: it cannot be written.
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
