"""A square on a patterned ground, repainted with known changes."""

import cv2
import numpy as np
import pytest

from uavsim.exports.agreement import agreement, label_state
from uavsim.images.degrade import degrade_image

SIZE = (60, 80)


@pytest.fixture(scope="module")
def ground() -> np.ndarray:
    coarse = np.random.default_rng(2).integers(90, 120, (6, 8, 3)).astype(np.uint8)
    return cv2.resize(coarse, SIZE[::-1], interpolation=cv2.INTER_CUBIC)


def square(x: int = 0, y: int = 0) -> np.ndarray:
    mask = np.zeros(SIZE, dtype=bool)
    mask[22 + y : 36 + y, 30 + x : 50 + x] = True
    return mask


def painted(ground: np.ndarray, mask: np.ndarray, colour: tuple[int, int, int] = (200, 40, 30)) -> np.ndarray:
    pixels = ground.copy()
    pixels[mask] = colour
    return pixels


def test_measures_are_best_at_the_true_mask(ground: np.ndarray) -> None:
    found = agreement(painted(ground, square()), square())
    assert found.shift_px == (0, 0)
    assert found.edge == found.best > 0.3
    assert found.mask > 0.9
    bare = agreement(ground, square())
    assert abs(bare.edge) < 0.1
    assert bare.mask < 0.5


@pytest.mark.parametrize(("x", "y"), [(5, 0), (0, -5), (-4, 3), (3, 4)])
def test_shifted_object_is_moved_by_the_measured_shift(x: int, y: int, ground: np.ndarray) -> None:
    before, after = (agreement(painted(ground, mask), square()) for mask in (square(), square(x, y)))
    assert after.shift_px == (x, y)
    assert label_state(before, after) == "moved"


def test_overpainted_object_is_gone(ground: np.ndarray) -> None:
    assert label_state(agreement(painted(ground, square()), square()), agreement(ground, square())) == "gone"


def test_recoloured_noisy_or_blurred_object_is_kept(ground: np.ndarray) -> None:
    before = agreement(painted(ground, square()), square())
    rng = np.random.default_rng(5)
    for pixels in (
        painted(255 - ground, square(), (20, 90, 240)),
        degrade_image(painted(ground, square()), rng=rng, noise_sigma=8),
        degrade_image(painted(ground, square()), rng=rng, blur_sigma_px=1.5),
        painted(ground, square(1, 1)),  # by a pixel: an outline is no finer
    ):
        assert label_state(before, agreement(pixels, square())) == "kept"


def test_object_without_contrast_is_unclear(ground: np.ndarray) -> None:
    result = agreement(painted(ground, square()), square())
    assert label_state(agreement(ground, square()), result) == "unclear"


def test_object_at_the_image_border_is_measured(ground: np.ndarray) -> None:
    mask = np.zeros(SIZE, dtype=bool)
    mask[:9, 70:] = True
    before = agreement(painted(ground, mask), mask)
    assert before.shift_px == (0, 0)
    assert label_state(before, before) == "kept"
    assert label_state(before, agreement(ground, mask)) == "gone"
