"""Scores of hand-made voxels, and of the ground truth as prediction."""

from pathlib import Path

import numpy as np
import pytest

from uavsim.access import Dataset
from uavsim.errors import InputError
from uavsim.occupancy.classes import FREE, UNKNOWN
from uavsim.occupancy.files import FORMATS, read_occ3d, read_voxels
from uavsim.occupancy.grids import GRIDS
from uavsim.occupancy.run import write_voxels
from uavsim_benchmarks.evaluate.occupancy import _uniocc_iou, confusion, evaluate_occupancy, iou_of_matter, mean_iou
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


def test_scores_of_five_voxels() -> None:
    truth = np.array([4, 4, 11, FREE, UNKNOWN], np.uint8)
    predicted = np.array([4, 11, 11, 16, 3], np.uint8)
    counts = confusion(predicted, truth)
    assert counts.sum() == 4  # unknown voxels do not count
    assert mean_iou(counts) == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)  # car, road; and absent vegetation
    assert mean_iou(counts, corrected=True) == pytest.approx(1 / 2)
    assert iou_of_matter(counts) == pytest.approx(3 / 4)


def test_uniocc_counts_whole_grids_and_scores_absent_classes_one() -> None:
    truth = np.array([4, 4, 11, FREE, UNKNOWN], np.uint8)  # car, car, road, free, free
    predicted = np.array([4, 11, 11, 16, FREE], np.uint8)  # car, road, road, vegetation, free
    matter, _, car, *_, vegetation, road, _, _ = _uniocc_iou(predicted, truth)
    assert (matter, car, road, vegetation) == (3 / 4, 1 / 2, 1 / 2, 0.0)
    assert _uniocc_iou(truth, truth).tolist() == [1.0] * 11


def test_eye_option_needs_three_numbers(tmp_path: Path) -> None:
    for wrong in ("1,2", "a,0,0", "nan,0,0"):
        with pytest.raises(InputError, match="--option eye="):
            evaluate_occupancy(EvaluationRequest(tmp_path, tmp_path, options={"eye": wrong}))


def test_empty_grids_score_nan() -> None:
    counts = confusion(np.full(3, FREE, np.uint8), np.full(3, FREE, np.uint8))
    assert np.isnan([mean_iou(counts), iou_of_matter(counts)]).all()


@pytest.fixture(scope="module", params=["parquet", "occ3d"])
def written(request, street_set: Dataset, scan_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("truth")
    voxel_format, of = FORMATS[request.param], ["0"] if request.param == "occ3d" else []
    assert list(write_voxels(street_set, out, voxel_format, GRIDS[voxel_format.grid], of=of, scan_folder=scan_folder))
    return out


def test_truth_scores_one(written: Path) -> None:
    scores = evaluate_occupancy(EvaluationRequest(written, written)).scores
    assert (scores["miou"], scores["iou"], scores["samples"]) == (1.0, 1.0, 2)
    assert all(part["iou"] == 1.0 for part in scores["by_agents_that_see"].values())
    assert (scores["rayiou"], scores["uniocc_iou"], set(scores["uniocc_iou_of_category"].values())) == (1.0, 1.0, {1.0})
    assert len(scores["by_distance_m"]) > 1
    assert len(scores["by_height_m"]) > 1


def test_missing_or_invalid_prediction_is_refused(written: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no prediction of sample"):
        evaluate_occupancy(EvaluationRequest(written, tmp_path))
    tokens = {path.parent.name for path in written.rglob("labels.npz")} | {p.stem for p in written.rglob("*.parquet")}
    for token in tokens:
        (tmp_path / f"{token}.npz").write_bytes(b"no zip")
    with pytest.raises(InputError, match=r"\.npz: cannot read the arrays semantics"):
        evaluate_occupancy(EvaluationRequest(written, tmp_path))
    for token in tokens:
        np.savez(tmp_path / f"{token}.npz", semantics=np.zeros((2, 2, 2), np.uint8))
    with pytest.raises(InputError, match=r"semantics is uint8 \(2, 2, 2\), expected integers"):
        evaluate_occupancy(EvaluationRequest(written, tmp_path))
    for wrong in (np.full((1, 1, 1), 256 + FREE), np.full((1, 1, 1), -1), np.zeros((1, 1, 1), np.float32)):
        for path in written.rglob("*.*"):
            token = path.parent.name if path.name == "labels.npz" else path.stem
            size = read_occ3d(path)[0].shape if path.suffix == ".npz" else read_voxels(path)[0]["semantics"].shape
            np.savez(tmp_path / f"{token}.npz", semantics=np.broadcast_to(wrong, size))
        with pytest.raises(InputError, match=r"a voxel has class (273|-1)|semantics is float32"):
            evaluate_occupancy(EvaluationRequest(written, tmp_path))
