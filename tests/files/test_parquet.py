"""Parquet of others: what a few bytes claim is refused before it is made."""

import io
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uavsim.errors import DatasetError
from uavsim.files.parquet import from_parquet, to_parquet


def file_of(table: pa.Table) -> bytes:
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd")
    return data.getvalue()


def texts() -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, np.int32)), pa.array(["x" * 100_000]))


BOMBS: dict[str, tuple[Callable[[], pa.Table], str]] = {
    "columns": (lambda: pa.table({f"c{n}": np.zeros(1_000_000) for n in range(12)}), "96000000 bytes of"),
    "lists": (
        lambda: pa.table({"c": pa.FixedSizeListArray.from_arrays(np.zeros(9_000_000), 9_000)}),
        "72000000 bytes",
    ),
    "texts": (lambda: pa.table({"c": texts()}), "a column of dictionary"),
    "lists of lists": (lambda: pa.table({"c": pa.array([[[0.0] * 100] * 100])}), "a column of list"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_small_file_claims_is_refused_before_it_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, said = BOMBS[name]
    data = file_of(make())
    assert len(data) < 300_000
    monkeypatch.setattr(pq.ParquetFile, "read", lambda _: pytest.fail("it was read"))
    with pytest.raises(DatasetError, match=f"x is no Parquet file of plain readings: .*{said}"):
        from_parquet(data, name="x")


def test_readings_come_as_they_were() -> None:
    rows = np.zeros(1000, [("timestamp_us", "<i8"), ("force_mps2", "<f8", 3), ("kind", "u1")])
    rows["force_mps2"] = np.arange(3000.0).reshape(-1, 3)
    found, about = from_parquet(to_parquet(rows, {"model": {"hz": 3}}), name="x")
    assert about == {"model": {"hz": 3}}
    np.testing.assert_array_equal(found, rows)
