"""Neon colours are distinguished from streets, lamps, bright cars, night and fog."""

import numpy as np
import pytest

from uavsim.images.neon import is_neon, pure_colours

RNG = np.random.default_rng(5)
STREET = RNG.integers(40, 215, (90, 160, 3), dtype=np.uint8)


def with_patch(colour: tuple[int, int, int], share: float, *, on: np.ndarray = STREET) -> np.ndarray:
    image = on.copy()
    image[:, : round(share * image.shape[1])] = colour
    return image


def test_shares_are_of_each_pure_colour() -> None:
    """Channel 0 alone is bit 1, channels 0 and 2 are bits 1 and 4: places 0 and 4 of six."""
    half = np.zeros((40, 40, 3), np.uint8)
    half[:, :20, 0] = 255
    half[:, 20:, [0, 2]] = 240
    np.testing.assert_allclose(pure_colours(half), [0.5, 0, 0, 0, 0.5, 0])


def test_patches_of_several_pure_colours_are_neon() -> None:
    spoiled = with_patch((255, 0, 255), 0.1)
    spoiled[:20, 80:] = (0, 255, 0)
    assert is_neon([spoiled])
    assert is_neon([spoiled, spoiled])
    assert not is_neon([spoiled, *[STREET] * 9])  # of ten cameras' pixels, one image is too little to be sure


@pytest.mark.parametrize(
    "image",
    [
        STREET,
        with_patch((0, 0, 255), 0.6),  # one car of one pure colour before the camera
        with_patch((255, 255, 255), 0.5, on=np.zeros((90, 160, 3), np.uint8)),  # lamps in the night
        np.full((90, 160, 3), 225, np.uint8),  # fog
        with_patch((250, 60, 20), 0.9),  # a sunset
        np.zeros((3, 5, 3), np.uint8),
        np.dstack([np.zeros((40, 40, 3), np.uint8), np.full((40, 40), 255, np.uint8)]),  # black, with CARLA's alpha
    ],
)
def test_images_of_a_lit_town_are_not_neon(image: np.ndarray) -> None:
    assert not is_neon([image])
