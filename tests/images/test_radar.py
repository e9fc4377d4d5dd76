"""nuScenes' radar files."""

import struct

import numpy as np
import pytest

from uavsim.errors import DatasetError
from uavsim.images import radar


def _detections(count: int) -> np.ndarray:
    found = np.zeros(count, radar.DETECTION)
    found["x"], found["vx_comp"], found["id"], found["ambig_state"] = np.arange(count), -2.5, np.arange(count), 3
    return found


@pytest.mark.parametrize("count", [0, 1, 9, 10, 123])
def test_detections_round_trip(count: int) -> None:
    found = radar.decode_radar(radar.encode_radar(_detections(count)))
    np.testing.assert_array_equal(found, _detections(count))


def test_file_has_nuscenes_layout() -> None:
    """Eighteen fields of 43 bytes follow a header of eleven lines, plus the extra byte that the devkit requires."""
    data = radar.encode_radar(_detections(2))
    lines, rest = data.split(b"\n", 11)[:11], data.split(b"\n", 11)[11]
    assert lines[0].startswith(b"#")
    assert lines[1] == b"VERSION 0.7"
    assert [len(line.split()) for line in lines[2:6]] == [19] * 4
    assert lines[6:] == [b"WIDTH 2", b"HEIGHT 1", b"VIEWPOINT 0 0 0 1 0 0 0", b"POINTS 2", b"DATA binary"]
    assert len(rest) == 2 * 43 + 1
    assert struct.unpack_from("<3fbh5f", rest, 43) == (1.0, 0.0, 0.0, 0, 1, 0.0, 0.0, 0.0, -2.5, 0.0)


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-40], lambda d: d.replace(b" rcs", b" abc"), lambda _: b"", lambda d: d * 2]
)
def test_other_files_are_refused(damage) -> None:
    with pytest.raises(DatasetError, match="not a nuScenes radar file"):
        radar.decode_radar(damage(radar.encode_radar(_detections(3))))
