"""Bird's-eye-view overlap of boxes."""

import numpy as np
import pytest

from uavsim_benchmarks.evaluate.bev_iou import aligned_iou, corners_of, turned_iou


def box(x: float, y: float, width: float, length: float, yaw: float = 0.0) -> np.ndarray:
    return corners_of(np.array([[x, y, 0.0]]), np.array([[width, length, 1.0]]), np.array([yaw]))


def test_boxes_along_the_axes() -> None:
    ours = np.array([[0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    theirs = np.array([[1.0, 0.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    np.testing.assert_allclose(aligned_iou(ours, theirs), [[1 / 3, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("other", "iou"),
    [
        (box(0, 0, 2, 2), 1.0),
        (box(0, 0, 2, 2, np.pi / 2), 1.0),
        (box(1, 0, 2, 2), 1 / 3),
        (box(0, 0, 1, 1), 0.25),
        (
            box(0, 0, 2, 2, np.pi / 4),
            (8 * (np.sqrt(2) - 1)) / (8 - 8 * (np.sqrt(2) - 1)),
        ),  # the common part is an octagon
        (box(2, 0, 2, 2), 0.0),
        (box(9, 9, 2, 2, 0.3), 0.0),
        (box(0, 0, 0, 2), 0.0),
    ],
)
@pytest.mark.parametrize("far", [0.0, 5_000.0])
def test_turned_boxes(other: np.ndarray, iou: float, far: float) -> None:
    (value,) = turned_iou(box(0, 0, 2, 2) + far, other + far).ravel()
    assert value == pytest.approx(iou, abs=1e-9)


def test_a_turned_overlap_agrees_with_counted_points() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = box(0, 0, 3, 5, 0.4), box(0.7, -0.5, 2, 6, 1.9)
    points = rng.uniform(-6, 6, (200_000, 2))

    def inside(corners: np.ndarray) -> np.ndarray:
        edge = np.roll(corners, -1, axis=0) - corners
        offset = points[:, None] - corners
        return (edge[:, 0] * offset[..., 1] - edge[:, 1] * offset[..., 0] >= 0).all(axis=1)

    a, b = inside(ours[0]), inside(theirs[0])
    assert turned_iou(ours, theirs)[0, 0] == pytest.approx((a & b).sum() / (a | b).sum(), abs=0.01)
