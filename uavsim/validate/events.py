"""Checks of event cameras: each event lies in its image, and in the time since the camera's previous image.

This module reads the files itself, so that it does not repeat a mistake of the writer.
"""

import struct
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

KIND: Final = "events"
_MAGIC: Final = b"\x93NUMPY\x01\x00"
_FIELDS: Final = b"{'descr': [('x', '<u2'), ('y', '<u2'), ('t_ns', '<i8'), ('p', '|u1')], 'fortran_order': False, "
_RECORD: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("t_ns", "<i8"), ("p", "u1")])
_NS_PER_US: Final = 1000


def events_of_their_image(evidence: Evidence) -> Iterator[Finding]:
    """Events are in order of time, after the camera's previous image and not after their own, and inside of the image."""
    data = evidence.data
    if "layer" not in data.tables:
        return
    layer, images = data["layer"], data["sample_data"]
    for name, kind, row in zip(layer["filename"], layer["kind"], layer["sample_data_token"].tolist(), strict=True):
        if kind != KIND or row < 0 or data.files.fault(name) is not None:
            continue  # the file checks report unreadable files
        events = _events_of(data.read(name))
        if events is None:
            yield Finding("events.file", f"{name} is not a .npy file of x, y, t_ns, p", **data.data_place(row))
            continue
        before = int(images["prev"][row])
        since_ns = int(images["timestamp"][before] - images["timestamp"][row]) * _NS_PER_US if before >= 0 else 0
        wrong = _wrong(events, size_px=(int(images["width"][row]), int(images["height"][row])), since_ns=since_ns)
        if wrong:
            yield Finding("events.record", f"{name}: {wrong}", **data.data_place(row))


def _wrong(events: npt.NDArray[Any], *, size_px: tuple[int, int], since_ns: int) -> str:
    """Return the fault of an image's events, or ""; ``since_ns`` is the time of the previous image, 0 for the first image."""
    outside = int(((events["x"] >= size_px[0]) | (events["y"] >= size_px[1])).sum())
    if outside:
        return f"{outside} of {len(events)} events lie outside of the image"
    t_ns = events["t_ns"]
    early_or_late = int(((t_ns < since_ns) | (t_ns > 0)).sum())
    if early_or_late or (len(t_ns) and since_ns == 0):
        return f"{early_or_late or len(t_ns)} of {len(events)} events are older than the previous image, or too new"
    if (np.diff(t_ns) < 0).any():
        return "events are not sorted by time"
    return "a polarity is neither 0 nor 1" if (events["p"] > 1).any() else ""


def _events_of(data: bytes) -> npt.NDArray[Any] | None:
    """Return the events of a .npy file of version 1 with these fields and complete records; None for any other file."""
    if len(data) < len(_MAGIC) + 2 or not data.startswith(_MAGIC):
        return None
    (length,) = struct.unpack_from("<H", data, len(_MAGIC))
    start = len(_MAGIC) + 2 + length
    records = len(data) - start
    if records < 0 or records % _RECORD.itemsize or not data[len(_MAGIC) + 2 :].startswith(_FIELDS):
        return None
    return np.frombuffer(data, _RECORD, offset=start)
