"""Every decoder refuses a file that is larger than any that is read, before it reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from uavsim.errors import DatasetError
from uavsim.files.names import MOST_FILE_BYTES
from uavsim.images import codec, events, flow, points

READERS: list[Callable[[Path], object]] = [
    codec.decode_rgb,
    codec.decode_mask,
    codec.decode_depth,
    codec.decode_tags,
    events.decode_events,
    flow.decode_flow,
    points.decode_points,
    points.decode_owners,
]


@pytest.mark.parametrize("read", READERS)
def test_a_file_of_holes_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 20)
    with pytest.raises(DatasetError, match="larger than any"):
        read(path)
    with pytest.raises(DatasetError, match="not a regular file"):
        read(tmp_path)
