"""Readings at a rate of their own, beside the samples."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder

__all__ = ["SensorStream"]


@dataclass(frozen=True, slots=True, eq=False)
class SensorStream:
    """One sensor of a flight controller over a scene.

    Attributes:
        channel: ``IMU_id_0``.
        kind: imu, gnss, barometer, magnetometer.
        filename: in the dataset's folder.
    """

    channel: str
    kind: str
    rate_hz: float
    filename: str
    files: DataFolder = field(repr=False)

    def readings(self) -> npt.NDArray[Any]:
        """Read (N,) rows in the order of time, with named fields: ``timestamp_us``, values with their units, and the truth.

        Raises:
            DatasetError: the file is missing or damaged.
        """
        try:
            found = np.load(io.BytesIO(self.files.read(self.filename)), allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise DatasetError(f"{self.filename} is no NumPy file of plain readings: {error}") from error
        if found.ndim != 1 or "timestamp_us" not in (found.dtype.names or ()):
            raise DatasetError(f"{self.filename} holds no readings with a timestamp_us")
        return np.asarray(found)
