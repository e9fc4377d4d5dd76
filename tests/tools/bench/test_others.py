from pathlib import Path

import pytest

from tools.bench.others import CARLA_NUSCENES, checkout, growth
from tools.bench.others_images import times


def test_a_missing_checkout_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert checkout(None, CARLA_NUSCENES) is None
    assert checkout(tmp_path, CARLA_NUSCENES) is None
    assert capsys.readouterr().err.count("its rows are left out") == 2
    (tmp_path / "carla_nuscenes/carla_nuscenes").mkdir(parents=True)
    (tmp_path / "carla_nuscenes/carla_nuscenes/dataset.py").touch()
    assert checkout(tmp_path, CARLA_NUSCENES) == tmp_path / "carla_nuscenes"


def test_growth_is_a_power():
    assert growth([1.0, 4.0, 100.0], [1, 2, 10]) == pytest.approx(2.0)


def test_ways_that_did_not_run_are_not_compared():
    reported = {"cv2": ([4.0, 8.0], [4.0, 8.0]), "ours": ([1.0, 2.0, 9.0], [2.0, 2.0, 9.0])}
    found = times(reported)
    assert list(found) == ["cv2_single"]
    assert found["cv2_single"]["wall"] == pytest.approx(4.0)
    assert found["cv2_single"]["cpu"] == pytest.approx(3.0)
