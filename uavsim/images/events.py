"""Lossless files of dynamic vision sensor events: NumPy's ``.npy``, one record an event.

Record: column, row, nanoseconds from the image's timestamp (0 or less: it ends the interval), 1 where the pixel became
brighter, 0 where it became darker. Records are sorted by time. A file without a record means no event.
"""

import io
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.errors import DatasetError
from uavsim.images.codec import ImageSource, bytes_of, name_of

EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("t_ns", "<i8"), ("p", "u1")])
"""One event, with the field names of event camera datasets."""
Events: TypeAlias = npt.NDArray[Any]
"""(N,) of ``EVENT``."""


def encode_events(events: Events) -> bytes:
    """Encode (N,) ``EVENT``."""
    records = np.ascontiguousarray(events, dtype=EVENT)
    return _head(len(records)) + records.tobytes()


def decode_events(source: ImageSource) -> Events:
    """Read (N,) ``EVENT``; the header must be the one of ``encode_events``, so nothing else in it is parsed.

    Raises:
        DatasetError: the file is missing or no complete file of events.
    """
    data, name = bytes_of(source), name_of(source)
    start = len(_head(0))
    count, rest = divmod(len(data) - start, EVENT.itemsize)
    if count < 0 or rest or data[:start] != _head(count):
        raise DatasetError(f"{name}: not a complete event file (.npy of x, y, t_ns, p)")
    return np.frombuffer(data, EVENT, offset=start)


def _head(count: int) -> bytes:
    """Return the header of a ``.npy`` of ``count`` events; its length does not depend on the count."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": EVENT.descr, "fortran_order": False, "shape": (count,)})
    return file.getvalue()
