"""ISA-L's streams are valid for zlib; ``images/test_png.py`` tests equality in all threads."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from uavsim.files.deflate import deflated


@given(pieces=st.lists(st.binary(max_size=100)), level=st.integers(0, 2))
def test_zlib_reads_what_was_deflated(pieces: list[bytes], level: int) -> None:
    work = zlib.decompressobj()
    assert work.decompress(deflated(pieces, level=level)) == b"".join(pieces)
    assert work.eof
