"""Streams: readings of sensors that have their own rates."""

from dataclasses import dataclass, field

from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.files.parquet import Records, from_parquet
from uavsim.typing import JsonDict


@dataclass(frozen=True, slots=True, eq=False)
class SensorStream:
    """One sensor of a flight controller over a scene.

    Attributes:
        channel: ``IMU_id_0``.
        kind: imu, gnss, barometer, magnetometer.
        motion: ``planned``, or ``reported`` by the simulator at its steps.
        filename: path in the dataset's folder.
    """

    channel: str
    kind: str
    motion: str
    rate_hz: float
    filename: str
    files: DataFolder = field(repr=False)

    def readings(self) -> Records:
        """Read (N,) rows in order of time, with named fields: ``timestamp_us``, values with units, and the truth.

        Raises:
            DatasetError: the file is missing or damaged.
            InputError: pyarrow is not installed.
        """
        found, _ = from_parquet(self.files.read(self.filename), name=self.filename)
        if "timestamp_us" not in (found.dtype.names or ()):
            raise DatasetError(f"{self.filename}: no column timestamp_us")
        return found

    def model(self) -> JsonDict:
        """Read the sensor's model in the dataset's YAML: rate and errors; {} if unknown.

        Raises:
            DatasetError: the file is missing or damaged.
            InputError: pyarrow is not installed.
        """
        _, about = from_parquet(self.files.read(self.filename), name=self.filename)
        return dict(about.get("model", {}))
