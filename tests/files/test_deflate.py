"""ISA-L's streams are zlib's; ``images/test_png.py`` tests that they are the same in every thread."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from uavsim.files.deflate import deflated


@given(pieces=st.lists(st.binary(max_size=100)), level=st.integers(0, 2))
def test_zlib_reads_what_was_deflated(pieces: list[bytes], level: int) -> None:
    work = zlib.decompressobj()
    assert work.decompress(deflated(pieces, level=level)) == b"".join(pieces)
    assert work.eof
