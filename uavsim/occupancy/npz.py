"""NPZ files: written without timestamps, so that equal arrays give equal bytes, and read within a memory limit."""

import io
import textwrap
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np

from uavsim.errors import DatasetError
from uavsim.files.parse import open_regular
from uavsim.typing import AnyArray

_MOST_BYTES: Final = 400_000_000
_LEVEL: Final = 1  # of zlib
_MOST_DIRECTORY_BYTES: Final = 1 << 14
_DAMAGED: Final = (OSError, ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def npz_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Return a compressed ``.npz`` file of arrays by name, which ``numpy.load`` reads; object arrays are pickled."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name, values in arrays.items():
            part, array = io.BytesIO(), np.asanyarray(values)
            np.lib.format.write_array(part, array, allow_pickle=array.dtype.hasobject)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), part.getvalue(), zipfile.ZIP_DEFLATED, _LEVEL
            )
    return data.getvalue()


class ArrayKind(NamedTuple):
    """An expected array: numpy's dtype kinds, the shape with None for any length, and the item size if it matters."""

    kinds: str
    shape: tuple[int | None, ...]
    itemsize: int | None = None


def read_npz(path: Path, expected: Mapping[str, ArrayKind], *, most_bytes: int = _MOST_BYTES) -> dict[str, AnyArray]:
    """Read arrays of a ``.npz`` file without unpickling, and allocate an array only after checking its header.

    Args:
        path: the file.
        expected: expected arrays by name.
        most_bytes: largest size of all arrays.

    Returns:
        The arrays by name, with the expected rank and dtype: (N,), (X, Y, Z), ...

    Raises:
        DatasetError: the file is missing or damaged, or an array is missing, unexpected or too large.
    """
    arrays: dict[str, AnyArray] = {}
    try:
        with open_regular(path, most_bytes=_MOST_BYTES) as file:
            _check_directory(file)
            with zipfile.ZipFile(file) as archive:
                for name, kind in expected.items():
                    remaining_bytes = most_bytes - sum(array.nbytes for array in arrays.values())
                    arrays[name] = _array(archive, name, kind, remaining_bytes)
        return arrays
    except _DAMAGED as error:
        reason = textwrap.shorten(str(error) or type(error).__name__, 200, placeholder=" ...")
        raise DatasetError(f"{path}: cannot read the arrays {', '.join(expected)}: {reason}") from error


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a long central directory, since each entry takes ten times its bytes in memory.

    Source: PKWARE's APPNOTE, 4.3.16.

    Raises:
        ValueError: the directory is too long, or missing at the end of the file.
    """
    file.seek(max(file.seek(0, io.SEEK_END) - 42, 0))
    tail = file.read().rjust(42, b"\0")
    size = int.from_bytes(tail[32:36], "little")
    if tail[20:24] != b"PK\5\6" or tail.startswith(b"PK\6\7") or size > _MOST_DIRECTORY_BYTES:
        raise ValueError("not the end of a file that NumPy writes")


def _array(archive: zipfile.ZipFile, name: str, expected: ArrayKind, most_bytes: int) -> AnyArray:
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError(f"{name} has a compression that NumPy does not use")
    with archive.open(member) as part:
        shape, _, kind = headers[np.lib.format.read_magic(part)](part)
    fits = len(shape) == len(expected.shape) and all(
        n >= 0 if size is None else n == size for n, size in zip(shape, expected.shape, strict=True)
    )
    if not fits or kind.kind not in expected.kinds or expected.itemsize not in {None, kind.itemsize}:
        shape_text = str(expected.shape).replace("None", "n")
        raise ValueError(f"{name} is {kind} {shape}, expected integers {shape_text}")
    if np.prod(shape, dtype=float) * kind.itemsize > most_bytes:
        raise ValueError(f"{name} of {kind} {shape} is larger than {max(most_bytes, 0) // 1_000_000} MB")
    with archive.open(member) as part:
        return np.asarray(np.lib.format.read_array(part, allow_pickle=False))
