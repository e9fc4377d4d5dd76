"""Findings for one box in a hundred moved by a metre: the figure of docs/validation.md."""

from pathlib import Path

import numpy as np
import pytest

from tests.validate.disk import Disk
from uavsim.validate import validate_dataset

BOX_CODES = {"pixels.box", "motion.jump", "shape.ground", "shape.twins"}


@pytest.mark.parametrize("direction", ["horizontal", "any"])
def test_nine_of_ten_boxes_moved_by_a_metre_are_found(direction: str, clean: Path, tmp_path: Path) -> None:
    found, moved = set(), set()
    for seed in range(8):  # the dataset is small: eight draws of two boxes each
        disk = Disk(clean, tmp_path / str(seed))
        moved_now = _move(disk, np.random.default_rng(seed), direction)
        (report,) = validate_dataset(disk.root, workers=1)
        named = {f.numbers.get("token") for f in report.findings if f.code in BOX_CODES}
        found |= {(seed, token) for token in moved_now & named}
        moved |= {(seed, token) for token in moved_now}
        assert len(named - moved_now) <= 1, "findings on boxes that nobody moved"
    assert len(found) >= 0.9 * len(moved)


def _move(disk: Disk, rng: np.random.Generator, direction: str) -> set[str]:
    with disk.rows("sample_annotation") as boxes:
        large = [box for box in boxes if box["num_lidar_pts"] > 200]
        chosen = rng.choice(len(large), size=max(1, round(0.01 * len(boxes))), replace=False)
        for i in chosen:
            step = rng.normal(size=3) * (1, 1, 0 if direction == "horizontal" else 1)
            step /= np.linalg.norm(step)
            large[i]["translation"] = (np.array(large[i]["translation"]) + step).tolist()
        return {large[i]["token"] for i in chosen}
