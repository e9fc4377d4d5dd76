"""Values of a swarm of three drones, calculated by hand, and their file."""

import json
from pathlib import Path

import numpy as np
import pytest

import uavsim
from labels.samples import make_job
from uavsim.config.events import EventThresholds
from uavsim_benchmarks.labels.values import VALUES_FILE, values_of_sample, write_values


def test_three_drones_by_hand() -> None:
    found = values_of_sample(make_job([[100, 0, 3], [50, 40, 0], [0, 0, 0]]), seen_px=12)
    assert (found.drones, found.rows.tolist()) == ((0, 1, 2), [0, 1])  # no drone sees the third object
    assert found.pixels[0].tolist() == [0, 100, 50, 150, 0, 100, 50, 150]
    assert found.visible[1].tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert found.helps.tolist() == [[0, 0, 1], [1, 0, 2], [0, 0, 0]]
    assert found.helps_px.tolist() == [[0, 0, 100], [40, 0, 90], [0, 0, 0]]
    angle = np.degrees(np.arctan2(10.0, 40.0))  # 10 m apart, 40 m above the object
    assert found.diversity_deg[0, 3] == pytest.approx(angle)
    assert found.diversity_deg[1].tolist() == [0] * 8


def test_values_add_up_in_the_file(labelled_set: Path, tmp_path: Path) -> None:
    summary = write_values(uavsim.open(labelled_set), tmp_path, EventThresholds())
    rows = [json.loads(line) for line in (tmp_path / VALUES_FILE).read_text().splitlines()]
    assert len(rows) == summary["objects"] > 20
    for row in rows:
        assert sum(row["pixels"]["shapley"]) == pytest.approx(sum(row["visible_px"]), abs=0.01)
        assert sum(row["seen"]["shapley"]) == pytest.approx(1.0, abs=0.01)
        assert row["diversity_deg"]["subsets"][-1] == max(row["diversity_deg"]["subsets"])
    assert sum(summary["worth"]["shapley_seen"]) == pytest.approx(len(rows), abs=0.2)
    alone = sum(sum(px >= 12 for px in row["visible_px"]) == 1 for row in rows)
    assert summary["seen_by_one_drone_alone"] == alone
