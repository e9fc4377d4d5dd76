"""Files of numpy arrays with the same bytes for the same arrays: no times in them, one compression."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["npz_bytes"]


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
