"""V2X-Sim's channel names: roadside unit 0, vehicles from 1, then other agents; the rest of the dataset is unchanged."""

from pathlib import Path

import numpy as np
import pytest

import uavsim
from tests.exports.renamed import rename_agent
from uavsim.dataset.tables import read_rows
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.v2xsim import export_v2xsim


@pytest.mark.parametrize(("agent", "number", "drone"), [("r0", 0, 1), ("v0", 1, 2), ("r1", 1, 2)])
def test_agents_have_v2xsims_numbers(strict: Path, tmp_path: Path, agent: str, number: int, drone: int) -> None:
    root = rename_agent(strict, tmp_path / "data", agent)
    (folder,) = export_v2xsim(ExportRequest(root, tmp_path / "out"))
    before, after = uavsim.open(root).scene("scene_00"), uavsim.open(folder).scene("scene_00")
    for old, new in zip(before.samples, after.samples, strict=True):
        assert old.boxes.tokens == new.boxes.tokens
        for image, same in zip(old.images, new.images, strict=True):
            of = number if image.channel.endswith(agent) else drone
            assert same.channel == f"CAM_{image.camera}_id_{of}"
            assert same.filename.startswith(f"samples/{same.channel}/scene_00__{same.channel}__")
            np.testing.assert_array_equal(image.pixels(), same.pixels())
            np.testing.assert_allclose(image.map_SE3_optical.matrix, same.map_SE3_optical.matrix)
    channels = {row["channel"] for row in read_rows(folder / "v1.0-mini/sensor.json")}
    assert {channel.rpartition("_id_")[2] for channel in channels} == {str(number), str(drone)}
