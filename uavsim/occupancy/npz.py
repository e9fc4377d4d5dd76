"""Files of numpy arrays: the same bytes for the same arrays (no times, one compression), and read with a bound of memory."""

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

__all__ = ["ArrayKind", "npz_bytes", "read_npz"]

_MOST_BYTES: Final = 400_000_000
_MOST_DIRECTORY_BYTES: Final = 1 << 14
_DAMAGED: Final = (OSError, ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def npz_bytes(arrays: Mapping[str, Any], *, level: int = 1) -> bytes:
    """Return arrays by name as a compressed ``.npz``, which ``numpy.load`` reads.

    Args:
        arrays: by name; an object that is no array is pickled, as formats of others have it.
        level: of zlib.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, values in arrays.items():
            part, array = io.BytesIO(), np.asanyarray(values)
            np.lib.format.write_array(part, array, allow_pickle=array.dtype.hasobject)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), part.getvalue(), zipfile.ZIP_DEFLATED, level
            )
    return data.getvalue()


class ArrayKind(NamedTuple):
    """The arrays that are read under a name: letters of numpy's dtype kinds, and a shape, None where any size is good."""

    kinds: str
    shape: tuple[int | None, ...]
    itemsize: int | None = None


def read_npz(path: Path, wanted: Mapping[str, ArrayKind], *, most_bytes: int = _MOST_BYTES) -> dict[str, AnyArray]:
    """Read arrays of a ``.npz`` file by name; nothing of the file is run, and no array is made before its header is checked.

    Args:
        path: the file.
        wanted: the kind of each array.
        most_bytes: of all these arrays.

    Returns:
        The arrays by name, each of the rank and dtype that its kind asks for: (N,), (X, Y, Z), ...

    Raises:
        DatasetError: the file is missing or damaged, lacks an array, or has one of another kind or too large.
    """
    found: dict[str, AnyArray] = {}
    try:
        with open_regular(path, most_bytes=_MOST_BYTES) as file:
            _check_directory(file)
            with zipfile.ZipFile(file) as archive:
                for name, kind in wanted.items():
                    found[name] = _array(
                        archive, name, kind, most_bytes - sum(array.nbytes for array in found.values())
                    )
        return found
    except _DAMAGED as error:
        said = textwrap.shorten(str(error) or type(error).__name__, 200, placeholder=" ...")
        raise DatasetError(f"{path}: no file of the arrays {', '.join(wanted)}: {said}") from error


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a long list of members, of which each takes ten times its bytes of memory. Source: PKWARE's APPNOTE, 4.3.16.

    Raises:
        ValueError: it is one, or there is none at the end of the file.
    """
    file.seek(max(file.seek(0, io.SEEK_END) - 42, 0))
    tail = file.read().rjust(42, b"\0")
    size = int.from_bytes(tail[32:36], "little")
    if tail[20:24] != b"PK\5\6" or tail.startswith(b"PK\6\7") or size > _MOST_DIRECTORY_BYTES:
        raise ValueError("it does not end as numpy's files do")


def _array(archive: zipfile.ZipFile, name: str, wanted: ArrayKind, most_bytes: int) -> AnyArray:
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError(f"{name} is packed by a method that numpy does not use")
    with archive.open(member) as part:
        shape, _, kind = headers[np.lib.format.read_magic(part)](part)
    fits = len(shape) == len(wanted.shape) and all(
        n >= 0 if size is None else n == size for n, size in zip(shape, wanted.shape, strict=True)
    )
    if not fits or kind.kind not in wanted.kinds or wanted.itemsize not in {None, kind.itemsize}:
        said = str(wanted.shape).replace("None", "n")
        raise ValueError(f"{name} are {kind} {shape}, not whole numbers {said}")
    if np.prod(shape, dtype=float) * kind.itemsize > most_bytes:
        raise ValueError(f"{name} of {kind} {shape} is larger than {max(most_bytes, 0) // 1_000_000} MB")
    with archive.open(member) as part:
        return np.asarray(np.lib.format.read_array(part, allow_pickle=False))
