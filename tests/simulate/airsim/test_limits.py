"""Time limits against measurements of a real merged build (carla-air-testbed)."""

import pytest

from tools.common.plans import rig, scene_plan
from uavsim.simulate.airsim.limits import CALL_S, image_sizes_px, images_limit_s

PIXELS = 960 * 720


@pytest.mark.parametrize(("images", "took_s"), [(2, 15.4), (3, 33.5)])
def test_limit_is_well_above_measured_times(images: int, took_s: float) -> None:
    assert 2 * took_s < images_limit_s([PIXELS] * images) < 5 * took_s


def test_limit_grows_with_size_and_number_of_images() -> None:
    assert images_limit_s([]) == CALL_S
    assert images_limit_s([], base_s=5.0) == 5.0
    assert images_limit_s([4 * PIXELS]) > images_limit_s([PIXELS]) < images_limit_s([PIXELS] * 2)


def test_images_of_all_drones_are_counted() -> None:
    plan = scene_plan(cameras=rig(sensors=("rgb", "instance", "depth"), width=64, height=48))
    assert image_sizes_px(plan) == (64 * 48,) * (5 * 3 * 5)
