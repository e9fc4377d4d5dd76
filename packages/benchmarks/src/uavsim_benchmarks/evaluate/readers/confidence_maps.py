"""Confidence maps of a collaborative detector, from which communication is counted: a ``.npz`` file, an array a frame."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray
from uavsim_benchmarks.evaluate.readers.json_stream import MAX_FILE_BYTES

__all__ = ["read_confidence_maps"]


def read_confidence_maps(path: Path) -> list[FloatArray]:
    """Return (agents, height, width) of each frame, in the order of the file; nothing of it is run.

    Raises:
        InputError: not such a file, or an array of another shape or with numbers that are no confidence.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{path}: larger than {MAX_FILE_BYTES / 1e9:.1f} GB")
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            maps = [(name, np.asarray(file[name], dtype=np.float64)) for name in file.files]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: no .npz file of numbers: {str(error).splitlines()[0]}") from error
    if not maps:
        raise InputError(f"{path}: holds no arrays")
    for name, cells in maps:
        if cells.ndim != 3 or cells.shape[1:] != maps[0][1].shape[1:]:
            raise InputError(f"{path}: {name} has shape {cells.shape}, not (agents, height, width) as the first has")
        if not (np.isfinite(cells).all() and (cells >= 0).all() and (cells <= 1).all()):
            raise InputError(f"{path}: {name} has numbers that are not between 0 and 1: give confidences, not logits")
    return [cells for _, cells in maps]
