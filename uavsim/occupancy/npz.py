"""Files of numpy arrays: the same bytes for the same arrays (no times, one compression), and read with a bound of memory."""

import io
import textwrap
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.typing import AnyArray

__all__ = ["npz_bytes", "read_npz"]

_MOST_BYTES: Final = 1 << 29  # of one array
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


def read_npz(path: Path, names: Iterable[str]) -> dict[str, AnyArray]:
    """Read (...) arrays of a ``.npz`` file by name; nothing of it is run, and none is made that is larger than 512 MB.

    Raises:
        DatasetError: it is missing or damaged, lacks an array, or one is too large.
    """
    wanted = list(names)
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: _array(archive, f"{name}.npy") for name in wanted}
    except _DAMAGED as error:
        said = textwrap.shorten(str(error), 200, placeholder=" ...")
        raise DatasetError(f"{path}: no file of the arrays {', '.join(wanted)}: {said}") from error


def _array(archive: zipfile.ZipFile, name: str) -> AnyArray:
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    with archive.open(name) as part:
        shape, _, kind = headers[np.lib.format.read_magic(part)](part)
    if np.prod(shape, dtype=float) * kind.itemsize > _MOST_BYTES:
        raise ValueError(f"{name} of {kind} {shape} is larger than {_MOST_BYTES >> 20} MB")
    with archive.open(name) as part:
        return np.asarray(np.lib.format.read_array(part, allow_pickle=False))
