"""Parquet files of structured arrays: a column for each field."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from uavsim.environment import install_line
from uavsim.errors import DatasetError, InputError
from uavsim.files.parquet_pages import unpacked_bytes
from uavsim.files.parse import parse_json
from uavsim.typing import JsonDict

Records = npt.NDArray[Any]
"""(N,) rows with named fields of numbers, each a scalar or a vector."""
_MOST_COLUMNS: Final = 64
_FREE_BYTES: Final = 1 << 26
_MOST_EACH: Final = 100
"""Limit of unpacked bytes for each byte of a file, above ``_FREE_BYTES``, against decompression bombs."""


def to_parquet(rows: Records, about: JsonDict) -> bytes:
    """Encode (N,) rows as Parquet: vectors become fixed-size lists, ``about`` JSON in the metadata key ``uavsim``.

    Raises:
        InputError: pyarrow is not installed.
    """
    pa, pq = import_pyarrow()
    columns = {}
    for name in rows.dtype.names or ():
        values = np.ascontiguousarray(rows[name])
        flat = pa.array(values.ravel())
        columns[name] = flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    table = pa.table(columns).replace_schema_metadata({"uavsim": json.dumps(about, sort_keys=True)})
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd", use_dictionary=False)
    return data.getvalue()


def columns_to_parquet(columns: Mapping[str, Sequence[Any]], *, index: str | None = None) -> bytes:
    """Encode columns of numbers, text and lists as Parquet; pandas uses ``index`` as the rows' names.

    Raises:
        InputError: pyarrow is not installed.
    """
    pa, pq = import_pyarrow()
    table, data = pa.table(dict(columns)), io.BytesIO()
    if index is not None:
        words = {"numpy_type": "object", "metadata": None}
        named = [
            {"name": name, "field_name": name, "pandas_type": str(table[name].type), **words}
            for name in table.column_names
        ]
        about = {"index_columns": [index], "column_indexes": [], "columns": named}
        table = table.replace_schema_metadata({"pandas": json.dumps(about)})
    pq.write_table(table, data, compression="zstd")
    return data.getvalue()


def from_parquet(data: bytes, *, name: str) -> tuple[Records, JsonDict]:
    """Read a file of ``to_parquet``; returns its (N,) rows and ``about``.

    Raises:
        DatasetError: ``data`` is no such file; the message has its ``name``.
        InputError: pyarrow is not installed.
    """
    pa, pq = import_pyarrow()
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        _check_size(pa, file, unpacked_bytes(data), most_bytes=_FREE_BYTES + _MOST_EACH * len(data))
        about = parse_json((file.schema_arrow.metadata or {}).get(b"uavsim", b"{}"))
        columns = {n: _plain(c) for n, c in zip(file.schema_arrow.names, file.read().itercolumns(), strict=True)}
        found = np.empty(file.metadata.num_rows, [(n, v.dtype, v.shape[1:]) for n, v in columns.items()])
        for n, values in columns.items():
            found[n] = values
    except (pa.ArrowException, ValueError, TypeError, OSError) as error:
        raise DatasetError(f"{name} is not a Parquet file of numbers: {' '.join(str(error).split())[:200]}") from error
    return found, about if isinstance(about, dict) else {}


def _check_size(pa: Any, file: Any, unpacked: int, *, most_bytes: int) -> None:
    """Refuse anything but plain readings of a plausible size, before unpacking it.

    It does not read the columns of row groups, because damaged ones make pyarrow 26 end the process.

    Raises:
        ValueError: the file is refused.
    """
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    rows, columns = file.metadata.num_rows, file.schema_arrow
    if rows != sum(group.num_rows for group in groups) or len(columns) > _MOST_COLUMNS:
        raise ValueError(f"it claims {rows} rows of {len(columns)} columns in {len(groups)} row groups")
    claimed = 0
    for column in columns:
        length = getattr(column.type, "list_size", 1)
        element = column.type.value_type if pa.types.is_fixed_size_list(column.type) else column.type
        if not (pa.types.is_integer(element) or pa.types.is_floating(element)):
            raise ValueError(f"a column has the type {column.type}")
        claimed += rows * length * element.bit_width // 8
    if max(claimed, unpacked) > most_bytes:
        raise ValueError(f"{max(claimed, unpacked)} bytes unpacked; the limit is {most_bytes}")


def _plain(column: Any) -> npt.NDArray[Any]:
    """Convert a column of numbers to (N,), or of lists of one length to (N, length)."""
    array = column.combine_chunks()
    length = getattr(array.type, "list_size", None)
    values: npt.NDArray[Any] = (array if length is None else array.flatten()).to_numpy(zero_copy_only=False)
    return values if length is None else values.reshape(len(array), length)


def import_pyarrow() -> tuple[Any, Any]:
    """Return ``pyarrow`` and ``pyarrow.parquet``.

    Raises:
        InputError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError(
            f"Parquet is read and written by pyarrow, which is not installed: {install_line('streams')}"
        ) from error
    return pa, pq
