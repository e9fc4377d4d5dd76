"""Confidence maps of a collaborative detector for communication metrics: a ``.npz`` file with one array a frame."""

import textwrap
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import AnyArray, FloatArray
from uavsim_benchmarks.evaluate.readers.json_stream import MAX_FILE_BYTES

_DAMAGED: Final = (
    LookupError,
    TypeError,
    ValueError,
    EOFError,
    AttributeError,
    RuntimeError,
    zlib.error,
    zipfile.BadZipFile,
)
"""Exceptions of NumPy and zipfile for damaged files; ``NotImplementedError`` is a ``RuntimeError``."""


def read_confidence_maps(path: Path) -> list[FloatArray]:
    """Read an (agents, height, width) array for each frame, in file order, without unpickling.

    Raises:
        InputError: the file has another format, or an array another shape or values outside of 0 to 1.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{path}: larger than {MAX_FILE_BYTES / 1e9:.1f} GB")
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            _check_sizes(opened)
            maps = list(_as_floats(file, most=MAX_FILE_BYTES // 4))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except _DAMAGED as error:
        reason = textwrap.shorten(str(error), 120, placeholder=" ...") or type(error).__name__
        raise InputError(f"{path}: not an .npz file of numbers: {reason}") from error
    if not maps:
        raise InputError(f"{path}: holds no arrays")
    for name, cells in maps:
        if cells.ndim != 3 or cells.shape[1:] != maps[0][1].shape[1:]:
            raise InputError(f"{path}: {name} has shape {cells.shape}; expected (agents, height, width) of one size")
        if not (np.isfinite(cells).all() and (cells >= 0).all() and (cells <= 1).all()):
            raise InputError(f"{path}: {name} has numbers that are not between 0 and 1: give confidences, not logits")
    return [cells for _, cells in maps]


def _as_floats(file: Mapping[str, AnyArray], *, most: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield the arrays as float64, after a check of their number: one byte may become eight.

    Raises:
        ValueError: there are more than ``most``, the float32 that the largest file holds.
    """
    count = 0
    for name, cells in file.items():
        count += cells.size
        if count > most:
            raise ValueError(f"it holds more than {most} numbers")
        yield name, np.asarray(cells, dtype=np.float64)


def _check_sizes(opened: IO[bytes]) -> None:
    """Refuse a small file with large arrays before reading one.

    Raises:
        ValueError: together they are larger than a file may be.
    """
    with zipfile.ZipFile(opened) as packed:
        if sum(part.file_size for part in packed.infolist()) > MAX_FILE_BYTES:
            raise ValueError(f"its arrays are larger than {MAX_FILE_BYTES / 1e9:.1f} GB together")
