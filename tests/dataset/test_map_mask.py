import numpy as np
import pytest

from uavsim.dataset import draw_map_mask
from uavsim.errors import InputError
from uavsim.images import codec
from uavsim.records.plan import TownSite


def test_the_bottom_left_pixel_is_the_masks_origin() -> None:
    site = TownSite("T", "T", (-10.0, -20.0, 30.0, 40.0), 0.0, mask_origin_map_m=(-10.0, -20.0))
    road = np.array([[0.0, 0.0], [20.0, 0.0], [20.0, 5.0], [0.0, 5.0]])
    mask = codec.decode_rgb(draw_map_mask(site, [road]))[..., 0]
    assert mask.shape == (600, 400)
    lines, columns = np.nonzero(mask)
    # x 0..20 is 10..30 m from the left; y 0..5 is 20..25 m from below, so 35..40 m from above
    assert abs(columns.min() - 100) <= 1
    assert abs(columns.max() - 300) <= 1
    assert abs(lines.min() - 350) <= 1
    assert abs(lines.max() - 400) <= 1
    assert mask[375, 200] == 255


def test_bounds_that_cannot_be() -> None:
    with pytest.raises(InputError, match="bounds"):
        draw_map_mask(TownSite("T", "T", (0, 0, 0, 10), 0.0), [])
    with pytest.raises(InputError, match="bounds"):
        draw_map_mask(TownSite("T", "T", (0, 0, 1e6, 1e6), 0.0), [])
