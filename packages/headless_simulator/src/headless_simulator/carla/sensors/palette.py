"""CARLA's CityScapes palette of semantic tags."""

from typing import Final

import numpy as np

from headless_simulator.scene import UInt8

_RGB: Final = (  # tag 0 (unlabelled) to 28 (guard rail)
    (0, 0, 0), (128, 64, 128), (244, 35, 232), (70, 70, 70), (102, 102, 156), (190, 153, 153), (153, 153, 153),
    (250, 170, 30), (220, 220, 0), (107, 142, 35), (152, 251, 152), (70, 130, 180), (220, 20, 60), (255, 0, 0),
    (0, 0, 142), (0, 0, 70), (0, 60, 100), (0, 80, 100), (0, 0, 230), (119, 11, 32), (110, 190, 160), (170, 120, 50),
    (55, 90, 80), (45, 60, 150), (157, 234, 50), (81, 0, 81), (150, 100, 100), (230, 150, 140), (180, 165, 180),
)  # fmt: skip
CLASS_BGRA: Final[UInt8] = np.array([(b, g, r, 255) for r, g, b in _RGB], np.uint8)
"""(29, 4) uint8 blue, green, red, alpha 255 of each tag."""
