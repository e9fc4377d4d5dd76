from pathlib import Path

import pytest
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.data.results import box_rows, read_results, write_results
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.scores import DETECTIONS, score_run, tracks_file
from uavsim_baselines.tables import table_of
from uavsim_baselines.tracking.run import track_rows
from uavsim_baselines.tracking.trackers import TRACKERS
from uavsim_baselines.training.predict import Prediction

from tests.conftest import small

ABOUT = {"sharing": "none", "bytes_per_frame": 0.0}


def test_the_truth_as_a_result_scores_1(toy: Path, tmp_path: Path) -> None:
    frames = read_frames(small(toy).data, "uav_val")
    found = [Prediction(frame, frame.boxes, 0) for frame in frames]
    rows = {p.frame.token: box_rows(p.boxes, token=p.frame.token, classes=["car"]) for p in found}
    write_results(tmp_path / DETECTIONS, rows, about=ABOUT)
    for tracker in TRACKERS:
        tracks = track_rows(found, tracker=tracker, classes=["car"])
        write_results(tmp_path / tracks_file(tracker), tracks, about=ABOUT)
    scores = score_run(tmp_path, truth=toy)["scores"]
    assert scores["nuscenes-detection"]["mean_ap"] == pytest.approx(1.0)
    assert scores["uav3d"]["ap_0.7"] == pytest.approx(1.0)
    assert scores["tracking-greedy"]["amota"] == pytest.approx(1.0)
    cells = table_of([tmp_path]).splitlines()[2].split(" | ")
    assert [*cells[:6], *cells[7:]] == ["| none", *["1.000"] * 7, "0 |"]
    assert 0.5 < float(cells[6]) < 1.0  # NDS: the truth of velocities is not in the file


def test_a_run_without_results_or_scores_is_one_line(toy: Path, tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="run uavsim-baselines predict first"):
        score_run(tmp_path, truth=toy)
    with pytest.raises(BaselineError, match="run uavsim-baselines evaluate first"):
        table_of([tmp_path])
    (tmp_path / "half.json").write_text('{"results"')
    with pytest.raises(BaselineError, match="not a nuScenes result file"):
        read_results(tmp_path / "half.json")
