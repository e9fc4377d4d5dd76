"""nuScenes' radar files: binary PCD 0.7 with eighteen fields.

The devkit's reader (``RadarPointCloud.from_file``) needs a byte after the last point, takes a cloud of one point with NaN for
an empty one, and drops points by their states unless these are 0 (valid) and 3 (unambiguous).
"""

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.errors import DatasetError
from uavsim.images.codec import ImageSource, bytes_of, name_of

_FLOATS: Final = {"x", "y", "z", "rcs", "vx", "vy", "vx_comp", "vy_comp"}
_NAMES: Final = [
    "x",
    "y",
    "z",
    "dyn_prop",
    "id",
    "rcs",
    "vx",
    "vy",
    "vx_comp",
    "vy_comp",
    "is_quality_valid",
    "ambig_state",
    "x_rms",
    "y_rms",
    "invalid_state",
    "pdh0",
    "vx_rms",
    "vy_rms",
]

DETECTION: Final = np.dtype([(n, "<f4" if n in _FLOATS else "<i2" if n == "id" else "i1") for n in _NAMES])
"""One detection: metres in the sensor's flu frame, dBsm, m/s along the ray, nuScenes' states."""

Detections: TypeAlias = npt.NDArray[Any]
"""(N,) ``DETECTION``."""

MOVING, STANDING, APPROACHING = 0, 1, 2
"""Values of nuScenes' ``dyn_prop``."""

_HEAD: Final = (
    "# .PCD v0.7 - Point Cloud Data file format\n"
    "VERSION 0.7\n"
    f"FIELDS {' '.join(_NAMES)}\n"
    f"SIZE {' '.join(str(DETECTION[n].itemsize) for n in _NAMES)}\n"
    f"TYPE {' '.join('F' if n in _FLOATS else 'I' for n in _NAMES)}\n"
    f"COUNT {' '.join('1' for _ in _NAMES)}\n"
    "WIDTH {count}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {count}\nDATA binary\n"
)
_LAST_LINE: Final = b"DATA binary\n"


def encode_radar(found: Detections) -> bytes:
    """Encode (N,) detections; an empty array becomes one detection of NaN."""
    written = np.asarray(found, dtype=DETECTION)
    if not len(written):
        written = np.zeros(1, DETECTION)
        for name in _FLOATS:
            written[name] = np.nan
    return _HEAD.format(count=len(written)).encode() + written.tobytes() + b"\n"


def decode_radar(source: ImageSource) -> Detections:
    """Read (N,) detections.

    Raises:
        DatasetError: the file is missing or no radar file of this form.
    """
    data, name = bytes_of(source), name_of(source)
    head, _, _ = data.partition(_LAST_LINE)
    count = (len(data) - len(head) - len(_LAST_LINE)) // DETECTION.itemsize
    if head + _LAST_LINE != _HEAD.format(count=count).encode():
        raise DatasetError(f"{name}: not a nuScenes radar file with {len(_NAMES)} fields")
    found: Detections = np.frombuffer(data, DETECTION, count, len(head) + len(_LAST_LINE))
    known: Detections = found[~np.isnan(found["x"])]
    return known
