"""Point cloud files, and the common format of the lidar returns of all simulators.

.pcd.bin  nuScenes: rows (x, y, z, intensity, ring) of float32, little-endian, no header. Ours: the sensor's flu frame in
metres; intensity 0..255; ring 0 is the lowest beam.
.bin      beside it: rows (instance id, semantic tag) of uint16, little-endian, in the same order.
"""

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.errors import DatasetError
from uavsim.images.codec import ImageSource, bytes_of, name_of
from uavsim.typing import IntArray

RETURN: Final = np.dtype([("flu_m", "<f4", 3), ("intensity", "<f4"), ("ring", "<u2"), ("actor", "<u4"), ("tag", "<u2")])
"""One return: position in the sensor's flu frame, beam, the simulator's actor id (0: none), CARLA's semantic tag."""

Returns: TypeAlias = npt.NDArray[Any]
"""(N,) ``RETURN``."""
PointArray: TypeAlias = npt.NDArray[np.float32]
"""(N, 5) rows of a ``.pcd.bin``."""


def cloud_of(returns: Returns) -> PointArray:
    """Convert (N,) returns to (N, 5) float32 rows x, y, z, intensity, ring."""
    columns = (returns["flu_m"], returns["intensity"][:, None], returns["ring"][:, None])
    return np.concatenate(columns, axis=1, dtype=np.float32, casting="same_kind")


def rings(flu_m: npt.NDArray[np.floating[Any]], *, lower_deg: float, upper_deg: float, channels: int) -> IntArray:
    """Return (N,) int64 beam numbers of (N, 3) flu points by elevation; beams are evenly spaced, 0 is the lowest."""
    up_deg = np.degrees(np.arctan2(flu_m[:, 2], np.hypot(flu_m[:, 0], flu_m[:, 1])))
    beam = np.rint((up_deg - lower_deg) / (upper_deg - lower_deg) * (channels - 1))
    return np.asarray(np.clip(beam, 0, channels - 1), dtype=np.int64)


def encode_points(points: npt.NDArray[np.floating[Any]]) -> bytes:
    """Encode (N, 5) rows x, y, z (sensor frame, metres), intensity, ring."""
    return np.ascontiguousarray(points, dtype="<f4").tobytes()


def decode_points(source: ImageSource) -> PointArray:
    """Read (N, 5) float32 rows x, y, z (sensor frame, metres), intensity, ring.

    Raises:
        DatasetError: missing, or no whole number of points.
    """
    return _rows(source, "<f4", 5).astype(np.float32)


def encode_owners(owners: npt.NDArray[np.integer[Any]]) -> bytes:
    """Encode (N, 2) rows instance id, semantic tag."""
    return np.ascontiguousarray(owners, dtype="<u2").tobytes()


def decode_owners(source: ImageSource) -> npt.NDArray[np.uint16]:
    """Read (N, 2) uint16 rows instance id, semantic tag.

    Raises:
        DatasetError: missing, or no whole number of points.
    """
    return _rows(source, "<u2", 2).astype(np.uint16)


def _rows(source: ImageSource, dtype: str, width: int) -> npt.NDArray[Any]:
    data, name = bytes_of(source), name_of(source)
    if len(data) % (np.dtype(dtype).itemsize * width):
        raise DatasetError(f"{name}: the size is not a whole number of points")
    return np.frombuffer(data, dtype).reshape(-1, width)
