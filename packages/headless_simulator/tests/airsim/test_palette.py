"""AirSim's colours of segmentation ids."""

import numpy as np
from headless_simulator.airsim.palette import SEGMENTATION_RGB


def test_each_id_has_a_colour_of_its_own():
    assert SEGMENTATION_RGB.shape == (256, 3)
    assert len(np.unique(SEGMENTATION_RGB, axis=0)) == 256


def test_the_ends_and_two_between_as_airsims_own_table_has_them():
    assert SEGMENTATION_RGB[0].tolist() == [0, 0, 0]
    assert SEGMENTATION_RGB[1].tolist() == [153, 108, 6]
    assert SEGMENTATION_RGB[2].tolist() == [112, 105, 191]
    assert SEGMENTATION_RGB[255].tolist() == [255, 255, 255]
