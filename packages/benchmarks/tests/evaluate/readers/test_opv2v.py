"""OPV2V's folders."""

from pathlib import Path

import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.readers.opv2v import read_opv2v_truth


def test_an_opv2v_folder(tmp_path: Path) -> None:
    vehicle = "{location: [10, 2, 0], center: [0.5, 0, 0.8], extent: [2.4, 1.0, 0.8], angle: [0, 90, 0], speed: 3}"
    for agent, vehicles in (("0", f"{{7: {vehicle}}}"), ("1", f"{{7: {vehicle}, 8: {vehicle}}}")):
        folder = tmp_path / "2021_08" / agent
        folder.mkdir(parents=True)
        (folder / "000068.yaml").write_text(f"lidar_pose: [1, 2, 3, 0, 0, 0]\nvehicles: {vehicles}\n")
    truth = read_opv2v_truth(tmp_path)
    assert list(truth.samples) == ["2021_08/000068"]
    assert truth.ego_m.tolist() == [[1.0, 2.0, 3.0]]
    np.testing.assert_allclose(truth.boxes.centre_m, [[10.5, 2.0, 0.8]] * 2)
    np.testing.assert_allclose(truth.boxes.size_m[0], [2.0, 4.8, 1.6])
    assert truth.boxes.yaw_rad[0] == pytest.approx(np.pi / 2)
    (folder / "000068.yaml").write_text("lidar_pose: [1, 2, 3, 0, 0, 0]\nvehicles: {7: {location: x}}\n")
    with pytest.raises(InputError, match="location"):
        read_opv2v_truth(tmp_path)
    with pytest.raises(InputError, match="nor an OPV2V folder"):
        read_opv2v_truth(tmp_path / "2021_08")
