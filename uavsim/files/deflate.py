"""Zlib streams, compressed by ISA-L; every zlib reader reads them."""

from collections.abc import Iterable
from typing import Final

from isal import isal_zlib

_BEGIN_BYTES: Final = 16


def deflated(pieces: Iterable[bytes | memoryview], *, level: int = 1) -> bytes:
    """Compress pieces to one zlib stream, the same bytes for the same pieces in every thread and on every processor.

    ISA-L 2.32 starts a long stream with a hash of an address: one image in 2,500 differed between two runs. It starts a short
    stream without one, so the first bytes are flushed before the others follow; that adds 8 bytes.
    """
    stream = isal_zlib.compressobj(level)
    done: list[bytes] = []
    for piece in pieces:
        if not done:
            done += [stream.compress(piece[:_BEGIN_BYTES]), stream.flush(isal_zlib.Z_SYNC_FLUSH)]
            piece = piece[_BEGIN_BYTES:]
        done.append(stream.compress(piece))
    return b"".join((*done, stream.flush()))
