"""AirSim's colours of segmentation ids."""

import numpy as np
from headless_simulator.airsim.palette import SEGMENTATION_RGB


def test_segmentation_colours_are_distinct():
    assert SEGMENTATION_RGB.shape == (256, 3)
    assert len(np.unique(SEGMENTATION_RGB, axis=0)) == 256


def test_segmentation_colours_match_airsims_table():
    assert SEGMENTATION_RGB[0].tolist() == [0, 0, 0]
    assert SEGMENTATION_RGB[1].tolist() == [153, 108, 6]
    assert SEGMENTATION_RGB[2].tolist() == [112, 105, 191]
    assert SEGMENTATION_RGB[255].tolist() == [255, 255, 255]
