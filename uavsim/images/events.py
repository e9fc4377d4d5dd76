"""Events of a dynamic vision sensor to bytes and back, without loss: NumPy's ``.npy``, one record an event.

Record: column, row, nanoseconds from the image's time stamp (below or at 0: it ends the interval), 1 where the pixel became
brighter, 0 where it became darker. Records are in the order of time. A file without a record has had no event.
"""

import io
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.errors import DatasetError
from uavsim.images.codec import ImageSource, bytes_of, name_of

EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("t_ns", "<i8"), ("p", "u1")])
"""One event; the names are those that event camera datasets use."""
Events: TypeAlias = npt.NDArray[Any]
"""(N,) of ``EVENT``."""


def encode_events(events: Events) -> bytes:
    """Encode (N,) of ``EVENT``."""
    records = np.ascontiguousarray(events, dtype=EVENT)
    return _head(len(records)) + records.tobytes()


def decode_events(source: ImageSource) -> Events:
    """Read (N,) of ``EVENT``; the head must be the one that ``encode_events`` writes, so nothing in it is trusted.

    Raises:
        DatasetError: missing, or no whole file of events.
    """
    data, name = bytes_of(source), name_of(source)
    start = len(_head(0))
    count, rest = divmod(len(data) - start, EVENT.itemsize)
    if count < 0 or rest or data[:start] != _head(count):
        raise DatasetError(f"{name}: no whole file of events (.npy of x, y, t_ns, p)")
    return np.frombuffer(data, EVENT, offset=start)


def _head(count: int) -> bytes:
    """Return the head of a ``.npy`` of ``count`` events; its length does not depend on the count."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": EVENT.descr, "fortran_order": False, "shape": (count,)})
    return file.getvalue()
