"""Zlib streams by ISA-L, at the speed of memory; whatever reads zlib's streams reads these."""

from collections.abc import Iterable
from typing import Final

from isal import isal_zlib

__all__ = ["deflated"]

_BEGIN_BYTES: Final = 16


def deflated(pieces: Iterable[bytes | memoryview], *, level: int = 1) -> bytes:
    """Deflate what follows each other to one stream, which is that of the same pieces on every processor and in every thread.

    ISA-L's levels 0 to 2 write the same stream with SSE, AVX2 and AVX-512; level 3 does not. Its levels 1 and 2 begin a long
    stream with a hash of the address of their own state in the place of the third byte's (``.write_first_byte`` of
    ``igzip/igzip_icf_body_h1_gr_bt.asm`` in 2.32): one image in 2,500 came out some bytes longer or shorter than in another
    thread. A short stream begins elsewhere, so the first bytes are flushed before the others come; that adds 8 bytes.
    """
    stream = isal_zlib.compressobj(level)
    done: list[bytes] = []
    for piece in pieces:
        if not done:
            done += [stream.compress(piece[:_BEGIN_BYTES]), stream.flush(isal_zlib.Z_SYNC_FLUSH)]
            piece = piece[_BEGIN_BYTES:]
        done.append(stream.compress(piece))
    return b"".join((*done, stream.flush()))
