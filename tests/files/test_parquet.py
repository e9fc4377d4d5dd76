"""Foreign Parquet files: decompression bombs are refused before they are read."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uavsim.errors import DatasetError
from uavsim.files.parquet import from_parquet, to_parquet
from uavsim.files.parquet_pages import unpacked_bytes


def file_of(table: pa.Table, **options: Any) -> bytes:
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd", **options)
    return data.getvalue()


def texts() -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, np.int32)), pa.array(["x" * 100_000]))


BOMBS: dict[str, tuple[Callable[[], pa.Table], str]] = {
    "columns": (lambda: pa.table({f"c{n}": np.zeros(1_000_000) for n in range(12)}), "96000000 bytes unpacked"),
    "lists": (
        lambda: pa.table({"c": pa.FixedSizeListArray.from_arrays(np.zeros(9_000_000), 9_000)}),
        "72000000 bytes",
    ),
    "texts": (lambda: pa.table({"c": texts()}), "a column has the type dictionary"),
    "lists of lists": (lambda: pa.table({"c": pa.array([[[0.0] * 100] * 100])}), "a column has the type list"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_small_file_with_a_large_claim_is_refused_unread(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, message = BOMBS[name]
    data = file_of(make())
    assert len(data) < 300_000
    monkeypatch.setattr(pq.ParquetFile, "read", lambda _: pytest.fail("it was read"))
    with pytest.raises(DatasetError, match=f"x is not a Parquet file of numbers: .*{message}"):
        from_parquet(data, name="x")


def lying(pages: pa.Table, footer: pa.Table) -> bytes:
    """Return a file with the pages of one table and the footer of another."""
    with_pages, with_footer = (
        file_of(pages, data_page_size=1 << 30, use_dictionary=False, write_statistics=False),
        file_of(footer, use_dictionary=False, write_statistics=False),
    )
    ends = [len(data) - 8 - int.from_bytes(data[-8:-4], "little") for data in (with_pages, with_footer)]
    assert ends[0] < ends[1]  # within the size in the footer
    rest = ends[1] - ends[0] - 9  # of a page that is not read
    size = bytes([rest * 2 & 127 | 128, rest >> 6 & 127 | 128, rest >> 13])
    return with_pages[: ends[0]] + b"\x15\x02\x15\x00\x15" + size + bytes(1 + rest) + with_footer[ends[1] :]


def test_pages_larger_than_the_footer_says_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(0).random(5000)
    data = lying(pa.table({"c": np.zeros(10_000_000)}), pa.table({"c": noise}))
    monkeypatch.setattr(pq.ParquetFile, "read", lambda _: pytest.fail("it was read"))
    with pytest.raises(DatasetError, match=r"x is not a Parquet file of numbers: 8000.... bytes unpacked"):
        from_parquet(data, name="x")


@pytest.mark.parametrize("footer", [b"", b"\x09" + b"\xff" * 40, b"\x19\xf7" + b"\xff" * 8 + b"\x01", b"\x1b\x01"])
def test_damaged_footer_is_a_value_error(footer: bytes) -> None:
    with pytest.raises(ValueError, match=r"damaged|outside|more than 64 bits|a map"):
        unpacked_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def test_readings_round_trip() -> None:
    rows = np.zeros(1000, [("timestamp_us", "<i8"), ("force_mps2", "<f8", 3), ("kind", "u1")])
    rows["force_mps2"] = np.arange(3000.0).reshape(-1, 3)
    found, about = from_parquet(to_parquet(rows, {"model": {"hz": 3}}), name="x")
    assert about == {"model": {"hz": 3}}
    np.testing.assert_array_equal(found, rows)
