"""RayIoU on hand-made voxels; the reference code needs a GPU and is not run."""

import numpy as np
import pytest

from uavsim.occupancy.classes import FREE, NAMES
from uavsim.occupancy.rays import RayCounts, air_rays, cast, lidar_rays


def met(grid: np.ndarray, eye: list[float], ray: list[float]) -> tuple[int, float]:
    kind, deep = np.full(1, FREE, np.uint8), np.zeros(1)
    cast(grid, np.array(eye), np.array([ray]), FREE, kind, deep)
    return int(kind[0]), float(deep[0])


def test_ray_ends_at_the_far_side_of_the_first_occupied_voxel() -> None:
    grid = np.full((8, 4, 4), FREE, np.uint8)
    grid[5, 1, 1] = 4
    assert met(grid, [0.5, 1.5, 1.5], [1.0, 0.0, 0.0]) == (4, pytest.approx(5.5))
    assert met(grid, [-3.0, 1.5, 1.5], [1.0, 0.0, 0.0]) == (4, pytest.approx(9.0))  # from outside
    assert met(grid, [0.5, 2.5, 1.5], [1.0, 0.0, 0.0]) == (FREE, pytest.approx(7.5))  # leaves the grid
    assert met(grid, [0.5, 9.5, 1.5], [1.0, 0.0, 0.0]) == (FREE, 0.0)  # never enters the grid
    assert met(grid, [7.5, 3.5, 1.5], [-0.6, -0.8, 0.0])[0] == 4


def test_lower_floor_scores_by_threshold() -> None:
    truth, lower = (np.full((40, 40, 16), FREE, np.uint8) for _ in range(2))
    truth[:, :, 5], lower[:, :, 4], lower[:, :, 8:9] = 11, 11, FREE
    counts = RayCounts()
    counts.add(lower, truth, [np.array([20.5, 20.5, 30.0])], 0.5)  # above the grid: looks down
    scores = counts.scores()
    assert list(scores["of_class"]) == [NAMES[11]]
    assert (
        scores["1"] < scores["2"] <= scores["4"] < 1.0
    )  # steep rays are half a metre off, flat ones miss the lower floor's end
    same = RayCounts()
    same.add(truth, truth, [np.array([20.5, 20.5, 7.0]), np.array([3.0, 4.0, 20.0])], 0.5)
    assert same.scores()["mean"] == 1.0
    assert np.isnan(RayCounts().scores()["mean"])


def test_ray_directions_are_unit_vectors() -> None:
    np.testing.assert_allclose(np.linalg.norm(np.concatenate([lidar_rays(), air_rays()]), axis=1), 1.0)
    assert len(lidar_rays()) == 39 * 360
    assert (air_rays()[:, 2] < 0).all()
