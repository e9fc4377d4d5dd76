"""Read pickles of plain data and numpy arrays without running what is in them.

A pickle is a program. This unpickler knows the few names that a list of numbers, strings and arrays needs, and refuses a file
that asks for any other: no code of the file's author is ever called. Tensors of torch are such a name; save arrays.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.readers.json_stream import MAX_FILE_BYTES

__all__ = ["read_pickle"]

_RECONSTRUCT, _SCALAR, _FROM_BUFFER = (
    value.__reduce_ex__(protocol)[0] for value, protocol in ((np.zeros(1), 2), (np.float64(0), 2), (np.zeros(1), 5))
)
"""The functions that numpy's own pickles name."""


def _latin1(text: str, encoding: str) -> bytes:
    """Return bytes as the oldest protocols write them; other encodings are not asked for by plain data."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it asks for the encoding {encoding!r}")
    return text.encode("latin1")


_KNOWN: Final[dict[tuple[str, str], Any]] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _RECONSTRUCT for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _SCALAR for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _FROM_BUFFER for core in ("core", "_core")},
    ("collections", "OrderedDict"): dict,
    ("_codecs", "encode"): _latin1,
    ("__builtin__", "set"): set,
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): bytearray,
}


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}") from None


def read_pickle(path: Path, *, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Return what a pickle of plain data and arrays holds.

    Raises:
        InputError: too large, damaged, or it asks for a name that plain data does not need; nothing of it was run.
    """
    try:
        if path.stat().st_size > max_bytes:
            raise InputError(f"{path}: larger than {max_bytes / 1e9:.1f} GB; a pickle is read whole")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return _Plain(io.BytesIO(data)).load()
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{path}: refused, nothing of it was run: {error}; save plain lists and numpy arrays"
        ) from error
    except (EOFError, ValueError, TypeError, IndexError, KeyError, AttributeError, MemoryError, OverflowError) as error:
        raise InputError(f"{path}: no pickle, or cut off: {type(error).__name__}") from error
