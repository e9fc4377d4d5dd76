from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from uavsim_baselines.config import Config
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.data.results import box_rows, write_results
from uavsim_baselines.detector.network import grid_of
from uavsim_baselines.drawing import FOUND_RGB, TRUE_RGB, draw_run, draw_sample
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.scores import DETECTIONS


def coloured(pixels: np.ndarray, rgb: tuple[int, int, int]) -> np.ndarray:
    """Return (N, 2) rows and columns of pixels with nearly the given colour."""
    return np.argwhere((np.abs(pixels.astype(int) - rgb) < 40).all(-1))


def test_boxes_lie_on_what_they_are_of_in_images_and_from_above(config: Config) -> None:
    frame = read_frames(config.data, "uav_val")[0]
    rows = box_rows(frame.boxes, token=frame.token, classes=["car"])
    moved = [row | {"translation": [row["translation"][0] + 3.0, *row["translation"][1:]]} for row in rows]
    drawn = draw_sample(frame, moved, grid=grid_of(config), min_score=0.5, title="two drones")
    assert drawn.shape == (34 + 315, 2 * 560 + 315, 3)  # two images of 32 x 18 side by side, a square, a heading
    above = drawn[34:, 1120:]
    apart = np.median(coloured(above, FOUND_RGB), axis=0) - np.median(coloured(above, TRUE_RGB), axis=0)
    yaw = np.arctan2(*frame.map_T_flu[0, [1, 0], 0].tolist())
    scale = 315 / 32.0  # pixels a metre of 8 cells of 4 m
    np.testing.assert_allclose(apart, [-3 * scale * np.cos(yaw), 3 * scale * np.sin(yaw)], atol=6)
    nothing = draw_sample(
        frame, [row | {"detection_score": 0.4} for row in moved], grid=grid_of(config), min_score=0.5, title=""
    )
    assert not len(coloured(nothing[34:], FOUND_RGB))


def test_a_run_is_drawn_to_a_file(config: Config, tmp_path: Path) -> None:
    frame = read_frames(config.data, "uav_val")[1]
    rows = {frame.token: box_rows(frame.boxes, token=frame.token, classes=["car"])}
    write_results(tmp_path / DETECTIONS, rows, about={"sharing": "none"})
    options: dict[str, Any] = {"scene": "scene_1", "min_score": 0.3, "split": "uav_val"}
    to = draw_run(tmp_path, config, sample=1, to=tmp_path / "a/drawn.png", **options)
    drawn = cv2.imread(str(to))
    assert drawn is not None
    assert drawn.shape[0] == 349
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"scene": "scene_9"}, r"--scene scene_9: not in this split \(scenes: scene_1\)"),
        ({"sample": 5}, "--sample 5: scene_1 has samples 0 to 1"),
        ({"sample": 0}, "has no predictions of scene_1, sample 0"),
    ]
    for change, says in wrong:
        with pytest.raises(BaselineError, match=says):
            draw_run(tmp_path, config, to=to, **{"sample": 1, **options, **change})
