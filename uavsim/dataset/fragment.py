"""Fragments: the rows of one scene for every table of the dataset.

In a packed fragment, each table is compressed text with one JSON row per line, in the format of the table's file. Assembling a
dataset therefore only copies text.
"""

import json
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgpack
from isal import isal_zlib

from uavsim.dataset.schema import Tables
from uavsim.errors import DatasetError
from uavsim.files.deflate import deflated
from uavsim.files.names import check_part, generation_name
from uavsim.records.codec import few_containers
from uavsim.typing import JsonDict

_FORMAT: Final = "uavsim-fragment-3"
_MOST_TEXT_BYTES: Final = 1 << 31  # per table of a scene


@dataclass(frozen=True, slots=True)
class FragmentHead:
    """The input of one scene for the shared tables.

    Attributes:
        scene: name, unique in the dataset.
        scene_index: position in the tables.
        dataset: name of the dataset.
        version: version folder, ``v1.0-mini``.
        splits: splits of the scene in ``splits.json``.
        town: name of the map mask.
        mask_origin_map_m: (x, y) of the mask's bottom-left pixel.
        log_token: token of the scene's log.
        has_props: whether boxes may have classes of props.
        has_drones: whether boxes may have the class of drones.
        channels: (channel, modality) in order of the table ``sensor``.
    """

    scene: str
    scene_index: int
    dataset: str
    version: str
    splits: tuple[str, ...]
    town: str
    mask_origin_map_m: tuple[float, float]
    log_token: str
    channels: tuple[tuple[str, str], ...]
    has_props: bool = False
    has_drones: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """One scene's rows: table name -> rows in table order."""

    head: FragmentHead
    rows: Tables = field(default_factory=dict)


def in_generation(fragment: Fragment, generation: int) -> Fragment:
    """Return the fragment with the file names of a generation of a re-flown scene; generation 0 has no mark."""
    if generation == 0:
        return fragment
    rows = {
        table: [
            row | {"filename": generation_name(row["filename"], generation)} if "filename" in row else row
            for row in all_rows
        ]
        for table, all_rows in fragment.rows.items()
    }
    return replace(fragment, rows=rows)


@dataclass(frozen=True, slots=True, eq=False)
class PackedFragment:
    """A fragment with compressed rows, which ``assemble`` copies."""

    head: FragmentHead
    compressed: dict[str, bytes]
    row_count: dict[str, int]

    def lines(self, table: str) -> bytes:
        """Return the text of one table: one JSON object per line, without the last newline.

        Raises:
            DatasetError: the rows are damaged.
        """
        if table not in self.compressed:
            return b""
        try:
            work = isal_zlib.decompressobj()
            text = work.decompress(self.compressed[table], _MOST_TEXT_BYTES)
        except isal_zlib.error as error:  # type: ignore[misc]  # its stub declares an instance
            raise DatasetError(f"the rows of {table} cannot be unpacked: {error}") from error
        if not work.eof:
            raise DatasetError(f"the rows of {table} are truncated or too large")
        return text

    def rows(self, table: str) -> list[JsonDict]:
        """Return the rows of one table."""
        text = self.lines(table)
        return [json.loads(line) for line in text.split(b"\n")] if text else []


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)  # rows are trees


def json_row(row: JsonDict) -> bytes:
    """Return the text of one row: compact ASCII, with floats that read back to the same bits.

    Raises:
        ValueError: a value is NaN or infinite.
    """
    return _ENCODER.encode(row).encode("ascii")


def pack_fragment(fragment: Fragment) -> bytes:
    """Serialise a fragment; the same fragment gives the same bytes."""
    head = fragment.head
    value = {
        "format": _FORMAT,
        "head": {name: getattr(head, name) for name in FragmentHead.__dataclass_fields__},
        "rows": {table: len(rows) for table, rows in fragment.rows.items()},
        "tables": {table: _compressed(rows) for table, rows in fragment.rows.items()},
    }
    return bytes(msgpack.packb(value, use_bin_type=True))


def unpack_fragment(data: bytes) -> Fragment:
    """Read a packed fragment with its rows.

    Raises:
        DatasetError: the data are no fragment of this version.
    """
    packed = open_fragment(data)
    return Fragment(head=packed.head, rows={table: packed.rows(table) for table in packed.compressed})


def open_fragment(data: bytes) -> PackedFragment:
    """Read a packed fragment without unpacking its rows.

    Raises:
        DatasetError: the data are no fragment of this version.
    """
    try:
        value = msgpack.unpackb(data, raw=False, **few_containers(len(data)))
    except (msgpack.UnpackException, ValueError, RecursionError) as error:
        raise DatasetError(f"not a packed fragment: {str(error) or type(error).__name__}") from error
    if not isinstance(value, dict) or value.get("format") != _FORMAT:
        raise DatasetError(f"not a packed fragment of format {_FORMAT}; annotate the scene again")
    try:
        head, tables, rows = _head(value["head"]), dict(value["tables"]), dict(value["rows"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(f"not a packed fragment: {type(error).__name__} {error}") from error
    packed = all(isinstance(name, str) and isinstance(data, bytes) for name, data in tables.items())
    if not packed or not all(type(count) is int and count >= 0 for count in rows.values()):
        raise DatasetError("not a packed fragment: a table is not packed rows")
    return PackedFragment(head=head, compressed=tables, row_count=rows)


def with_splits(data: bytes, splits: Iterable[str]) -> bytes:
    """Return a packed fragment with other splits.

    Raises:
        DatasetError: the data are no fragment of this version, or a split's name is invalid.
    """
    packed = open_fragment(data)
    value = msgpack.unpackb(data, raw=False, **few_containers(len(data)))
    head = {name: getattr(packed.head, name) for name in FragmentHead.__dataclass_fields__}
    value["head"] = head | {"splits": [check_part(split, what="split") for split in splits]}
    return bytes(msgpack.packb(value, use_bin_type=True))


def _head(value: dict[str, Any]) -> FragmentHead:
    x, y = value["mask_origin_map_m"]
    return FragmentHead(
        scene=check_part(value["scene"], what="scene"),
        scene_index=operator.index(value["scene_index"]),
        dataset=str(value["dataset"]),
        version=check_part(value["version"], what="version"),
        splits=tuple(check_part(split, what="split") for split in value["splits"]),
        town=check_part(value["town"], what="town"),
        mask_origin_map_m=(float(x), float(y)),
        log_token=str(value["log_token"]),
        channels=tuple((check_part(channel, what="channel"), str(modality)) for channel, modality in value["channels"]),
        has_props=bool(value["has_props"]),
        has_drones=bool(value["has_drones"]),
    )


def _compressed(rows: Iterable[JsonDict]) -> bytes:
    lines = map(json_row, rows)  # lazily: the text is three times as large as the rows
    return deflated(line if number == 0 else b"\n" + line for number, line in enumerate(lines))
