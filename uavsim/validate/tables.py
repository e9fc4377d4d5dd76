"""Read tables of any size into columns, row by row.

A row's own token stays text; references become row numbers. A value that violates the schema is a finding, and the column has
a value that later checks ignore (NaN, -1, "").
"""

from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.files.json_rows import rows_of
from uavsim.files.names import DataFolder
from uavsim.typing import AnyArray, IntArray, JsonDict
from uavsim.validate.findings import Finding
from uavsim.validate.schema import Field

NONE: Final = -1  # a reference that is ""
DANGLING: Final = -2  # a reference to a missing row
MOST_TABLE_BYTES: Final = 1 << 34
_MOST_INT: Final = 1 << 62
_MOST_FLOAT: Final = 1e15  # larger than any place or time
_HUGE: Final = 10**300
_CHUNK_ROWS: Final = 8192
_MOST_FINDINGS: Final = 20  # of one column


@dataclass(slots=True)
class ColumnTable:
    """One table as columns.

    Attributes:
        tokens: (N,) the rows' own tokens.
        keys: (N,) int64 hashes of ``tokens``.
        columns: by field: (N,) int64 or bool, (N, length) float64, list[str]; references are hashes until ``resolve``.
        lists: of ``refs`` fields: flat hashes, (N,) lengths.
    """

    name: str
    tokens: list[str] = field(default_factory=list)
    keys: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: dict[str, Any] = field(default_factory=dict)
    lists: dict[str, tuple[IntArray, IntArray]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def get(self, name: str) -> Any:
        """Return a column, or None if the dataset does not have it."""
        return self.columns.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self.columns


def read_table(files: DataFolder, name: str, fields: tuple[Field, ...]) -> ColumnTable:
    """Read one table; a damaged file is a finding and an empty table.

    Args:
        files: the dataset's folder.
        name: path of the table in it, ``v1.0-mini/sample.json``.
        fields: columns of the table.
    """
    file_name = name.rpartition("/")[2]
    table = ColumnTable(file_name.removesuffix(".json"))
    parts: dict[str, list[Any]] = {f.name: [] for f in fields}
    try:
        rows = rows_of(files.open(name, what="there is", most_bytes=MOST_TABLE_BYTES), name=file_name)
        while chunk := list(islice(rows, _CHUNK_ROWS)):
            for spec in fields:
                _read_column(table, spec, chunk, parts[spec.name])
            table.tokens += [str(row.get("token", "")) for row in chunk]
    except DatasetError as error:
        table.findings.append(Finding("schema.table", str(error), numbers={"table": table.name}))
    table.keys = hashes(table.tokens)
    for spec in fields:
        if spec.kind != "token" and (parts[spec.name] or not spec.optional):
            _finish(table, spec, parts[spec.name])
    return table


def hashes(tokens: list[str]) -> IntArray:
    """Return (N,) int64 keys of tokens, valid in this process; "" is 0."""
    return np.fromiter(map(hash, tokens), np.int64, len(tokens))


def _read_column(table: ColumnTable, spec: Field, chunk: list[JsonDict], into: list[Any]) -> None:
    values = [row.get(spec.name) for row in chunk]
    if spec.optional and not into and values.count(None) == len(values):
        return
    column = _READERS[spec.kind](table, spec, values)
    if spec.kind != "token":  # ``ColumnTable.tokens`` has them
        into.append(column)


def _add_finding(table: ColumnTable, spec: Field, row: int, what: str) -> None:
    if sum(f.numbers.get("field") == spec.name for f in table.findings) < _MOST_FINDINGS:
        token = table.tokens[row] if row < len(table.tokens) else f"row {row}"
        message = f"{table.name}.{spec.name} {what}"
        numbers = {"table": table.name, "field": spec.name, "row": row, "token": token}
        table.findings.append(Finding("schema.field", message, numbers=numbers))


def _typed(
    table: ColumnTable, spec: Field, values: list[Any], *, allowed: frozenset[type], instead: Any, words: str
) -> list[Any]:
    if set(map(type, values)) <= allowed:
        return values
    for row, value in enumerate(values):
        if type(value) not in allowed:
            _add_finding(table, spec, len(table.tokens) + row, f"must be {words}, is {_short(value)}")
            values[row] = instead
    return values


def _short(value: Any) -> str:
    if value is None:
        return "missing"
    if type(value) is int and abs(value) >= _MOST_INT:
        return f"int of {value.bit_length()} bits"
    return f"{type(value).__name__} {str(value)[:40]}" if not isinstance(value, (list, dict)) else type(value).__name__


def _read_text(table: ColumnTable, spec: Field, values: list[Any]) -> list[str]:
    if spec.optional:
        values = ["" if value is None else value for value in values]
    return _typed(table, spec, values, allowed=frozenset({str}), instead="", words="text")


def _read_int(table: ColumnTable, spec: Field, values: list[Any]) -> IntArray:
    if spec.optional:
        values = [-1 if value is None else value for value in values]
    integers = _typed(table, spec, values, allowed=frozenset({int}), instead=-1, words="an integer")
    try:
        column = np.array(integers, np.int64)
    except OverflowError:
        column = np.array([value if abs(value) < _MOST_INT else _MOST_INT for value in integers], np.int64)
    for row in np.flatnonzero(np.abs(column) >= _MOST_INT).tolist():
        _add_finding(table, spec, len(table.tokens) + row, f"is out of any range: {_short(integers[row])}")
        column[row] = -1
    return column


def _read_bool(table: ColumnTable, spec: Field, values: list[Any]) -> AnyArray:
    return np.array(_typed(table, spec, values, allowed=frozenset({bool}), instead=False, words="true or false"), bool)


def _read_ref(table: ColumnTable, spec: Field, values: list[Any]) -> IntArray:
    return hashes(_typed(table, spec, values, allowed=frozenset({str}), instead="", words="a token"))


def _read_same(table: ColumnTable, spec: Field, values: list[Any]) -> IntArray:
    """Return (N,) hashes, equal for equal named numbers."""
    named = _typed(table, spec, values, allowed=frozenset({dict}), instead={}, words="named numbers")
    return hashes([str([item for item in value.items() if type(item[1]) in {int, float}]) for value in named])


def _read_refs(table: ColumnTable, spec: Field, values: list[Any]) -> tuple[IntArray, IntArray]:
    lists = _typed(table, spec, values, allowed=frozenset({list}), instead=[], words="a list of tokens")
    flat = [str(token) for token in chain.from_iterable(lists)]
    return hashes(flat), np.fromiter(map(len, lists), np.int64, len(lists))


def _read_vector(table: ColumnTable, spec: Field, values: list[Any]) -> AnyArray:
    nothing = [np.nan] * spec.length
    if spec.optional:
        values = [nothing if value is None else value for value in values]
    good = set(map(type, values)) == {list} and set(map(len, values)) == {spec.length}
    if not good or not set(map(type, chain.from_iterable(values))) <= {int, float}:
        for row, value in enumerate(values):
            if not _is_vector(value, spec.length):
                _add_finding(table, spec, len(table.tokens) + row, f"must be {spec.length} numbers, is {_short(value)}")
                values[row] = nothing
    array = _floats(values, spec.length)
    for row in np.flatnonzero(~(np.abs(array) <= _MOST_FLOAT).all(axis=1)).tolist():
        if np.isfinite(array[row]).all():
            _add_finding(table, spec, len(table.tokens) + row, "is out of any range")
            array[row] = np.nan
        elif not spec.optional and values[row] is not nothing:
            _add_finding(table, spec, len(table.tokens) + row, "is not finite")
    return array


def _read_number(table: ColumnTable, spec: Field, values: list[Any]) -> AnyArray:
    """Return (N,) float64."""
    return _read_vector(table, replace(spec, length=1), [[value] for value in values]).reshape(-1)


def _read_numbers(table: ColumnTable, spec: Field, values: list[Any]) -> AnyArray:
    """Return (N, length) float64, NaN behind the numbers of a row."""
    more = [[np.nan] * (spec.length - len(value)) if isinstance(value, list) else [] for value in values]
    padded = [[*value, *rest] if rest else value for value, rest in zip(values, more, strict=True)]
    return np.asarray(_read_vector(table, spec, padded))


def _floats(values: list[Any], length: int) -> AnyArray:
    """Return (N, length) float64; integers beyond float64 become infinite."""
    try:
        array = np.array(values, np.float64)
    except OverflowError:
        array = np.array([[float(v) if abs(v) < _HUGE else np.inf for v in row] for row in values], np.float64)
    return array.reshape(-1, length)


def _is_vector(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length and all(type(v) in {int, float} for v in value)


def _read_matrix(table: ColumnTable, spec: Field, values: list[Any]) -> AnyArray:
    """Return (N, 3, 3) float64, NaN for an empty matrix."""
    out = np.full((len(values), 3, 3), np.nan)
    for row, value in enumerate(values):
        if isinstance(value, list) and len(value) == 3 and all(_is_vector(line, 3) for line in value):
            out[row] = _floats(value, 3)
        elif value != []:
            _add_finding(table, spec, len(table.tokens) + row, f"must be 3 x 3 numbers or [], is {_short(value)}")
    out[~(np.abs(out) <= _MOST_FLOAT).all(axis=(1, 2))] = np.nan
    return out


_READERS: Final = {
    "token": lambda table, spec, values: _typed(
        table, spec, values, allowed=frozenset({str}), instead="", words="a token"
    ),
    "text": _read_text,
    "int": _read_int,
    "bool": _read_bool,
    "ref": _read_ref,
    "refs": _read_refs,
    "number": _read_number,
    "numbers": _read_numbers,
    "same": _read_same,
    "vector": _read_vector,
    "matrix": _read_matrix,
}
_EMPTY: Final[dict[str, AnyArray]] = {
    "int": np.zeros(0, np.int64),
    "bool": np.zeros(0, bool),
    "ref": np.zeros(0, np.int64),
    "number": np.zeros(0),
    "same": np.zeros(0, np.int64),
    "matrix": np.zeros((0, 3, 3)),
}


def _finish(table: ColumnTable, spec: Field, parts: list[Any]) -> None:
    if spec.kind == "text":
        table.columns[spec.name] = list(chain.from_iterable(parts))
    elif spec.kind == "refs":
        flat = [part[0] for part in parts] or [np.zeros(0, np.int64)]
        lengths = [part[1] for part in parts] or [np.zeros(0, np.int64)]
        table.lists[spec.name] = (np.concatenate(flat), np.concatenate(lengths))
    else:
        empty = np.zeros((0, spec.length)) if spec.kind in {"vector", "numbers"} else _EMPTY[spec.kind]
        table.columns[spec.name] = np.concatenate(parts) if parts else empty


def resolve(keys: IntArray, target: ColumnTable) -> IntArray:
    """Return (N,) rows of ``target`` for (N,) hashes of tokens: NONE for "", DANGLING for a token without a row."""
    if not len(target):
        return np.where(keys == 0, NONE, DANGLING)
    order = np.argsort(target.keys, kind="stable")
    slot = np.minimum(np.searchsorted(target.keys[order], keys), len(order) - 1)
    rows = order[slot]
    return np.where(keys == 0, NONE, np.where(target.keys[rows] == keys, rows, DANGLING))
