"""Streams of a dataset as arrays; an invalid file is refused in one line."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uavsim.access import SensorStream
from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.files.parquet import to_parquet


def stream(folder: Path, data: bytes) -> SensorStream:
    (folder / "imu.parquet").write_bytes(data)
    return SensorStream("IMU_id_0", "imu", "planned", 200.0, "imu.parquet", DataFolder(folder))


def test_stream_round_trips(tmp_path: Path) -> None:
    made = np.zeros(3, [("timestamp_us", "<i8"), ("force", "<f8", (3,)), ("pressure_pa", "<f8")])
    made["timestamp_us"], made["force"], made["pressure_pa"] = [5, 7, 9], np.arange(9).reshape(3, 3), [0.1, np.nan, 0.3]
    found = stream(tmp_path, to_parquet(made, {"kind": "own"})).readings()
    assert found.dtype == made.dtype
    for name in made.dtype.names or ():
        np.testing.assert_array_equal(found[name], made[name])


def parquet(**columns: pa.Array) -> bytes:
    data = io.BytesIO()
    pq.write_table(pa.table(columns), data)
    return data.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PAR1 no more",
        parquet(timestamp_us=pa.array([1, 2]), kind=pa.array(["a", "b"])),
        parquet(pressure_pa=pa.array([1.0])),
        parquet(timestamp_us=pa.array([1, 2]), force=pa.array([[1.0, 2.0, 3.0], None], pa.list_(pa.float64(), 3))),
        parquet(timestamp_us=pa.array([1]), force=pa.array([[1.0]])),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DatasetError, match=r"imu\.parquet"):
        stream(tmp_path, data).readings()
