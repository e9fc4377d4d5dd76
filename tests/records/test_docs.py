"""The modules in the page on sensors are installed, and their record encodes and decodes a measurement."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from uavsim.records.modalities import Modality
from uavsim.records.plan import ImageFormat

PAGE = Path(__file__).parents[2] / "docs/how-to-add-a-sensor.md"


class Image:
    """A stub image with two pixels in CARLA's order: blue, green, red, alpha."""

    width, height = 2, 1
    raw_data = bytes([255, 128, 0, 255, 1, 2, 3, 255])


def test_the_record_of_the_page_reads_and_comes_back() -> None:
    record, reader = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(record, names)
    sensor = names["NORMALS"]
    assert isinstance(sensor, Modality)
    assert "uavsim.simulate" not in record  # flows import it without a simulator's client

    exec(reader, names)
    stored = sensor.encode(names["NORMALS"].read(Image()), ImageFormat())
    np.testing.assert_array_equal(sensor.decode(stored), [[[0, 128, 255], [3, 2, 1]]])
