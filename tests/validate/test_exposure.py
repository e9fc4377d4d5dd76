"""First images before exposure has settled, with brightness calculated by hand."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from uavsim.validate.evidence import Evidence
from uavsim.validate.exposure import exposure_settled
from uavsim.validate.looks import FrameLook

SETTLING = [1.8, 1.3, 0.85, 0.6, 0.42, 0.3, 0.2, 0.15]
"""Stops above rest: half a stop per frame until 1.5, then 0.7 of the rest."""


def first_images_off(
    *cameras: list[float], steady: bool | None = None, moved_m: tuple[float, ...] | None = None
) -> list[float]:
    """Return the measured offsets of a scene's first images, stops, from the stops of all images by camera.

    Args:
        cameras: stops of the images of each camera.
        steady: whether the weather is steady by the tables; None if unknown.
        moved_m: how far the only camera moved between images; default: cameras stand.
    """
    samples = [n for camera in cameras for n in range(len(camera))]
    looks = [FrameLook(row, mean=60 * 2 ** (at / 2.2), spread=20.0) for row, at in enumerate(np.concatenate(cameras))]
    track = np.repeat(np.arange(len(cameras)), [len(camera) for camera in cameras])
    weather = {} if steady is None else {"uav_weather": np.arange(99) * (not steady)}
    tables = {"sample_data": {"sample_token": np.array(samples)}, "sample": weather}
    data = type("Data", (dict,), {"scene_of_data": np.zeros(len(looks), int), "data_place": lambda _self, _row: {}})(
        tables
    )
    position_m = np.zeros((len(looks), 3))
    position_m[1:, 0] = np.cumsum(moved_m or np.zeros(len(looks) - 1))
    views = SimpleNamespace(position_m=position_m)
    evidence = SimpleNamespace(looks=looks, track=track, data=data, cameras=views)
    found = exposure_settled(cast("Evidence", evidence))
    return [cast("float", one.numbers["stops"]) for one in found]


def test_cameras_that_settle_together_are_reported() -> None:
    """The median of the last four is 0.25."""
    stops_seen = [[stops + 0.04 * (n % 2) for stops in SETTLING] for n in range(5)]
    assert first_images_off(*stops_seen) == pytest.approx([1.55] * 5)
    assert first_images_off(*[[-stops for stops in camera] for camera in stops_seen]) == pytest.approx([-1.55] * 5)


def test_single_camera_needs_a_difference_of_one_stop() -> None:
    assert first_images_off(SETTLING) == pytest.approx([1.55])
    assert not first_images_off([stops / 2 for stops in SETTLING])


def test_continuously_changing_light_is_not_reported() -> None:
    assert not first_images_off(*[[-0.3 * n for n in range(8)]] * 5)
    assert not first_images_off(*[[0.0, 0.0, 0.0, 0.16, 0.21, 0.05, -0.4]] * 5)


def test_many_cameras_under_a_steady_sky_need_not_come_to_rest() -> None:
    """Over-exposed images hide the first steps. The median of the last two is -0.935."""
    stops_seen = [0.0, -0.24, -0.52, -0.81, -1.06]
    assert first_images_off(*[stops_seen] * 8, steady=True) == pytest.approx([0.935] * 8, abs=0.01)
    assert not first_images_off(*[stops_seen] * 8, steady=False)
    assert not first_images_off(*[stops_seen] * 7, steady=True)


def test_many_cameras_under_a_steady_sky_show_a_third_of_a_stop() -> None:
    stops_seen = [0.36, 0.22, 0.12, 0.05, 0.0]
    assert first_images_off(*[stops_seen] * 8, steady=True) == pytest.approx([0.335] * 8, abs=0.01)
    assert not first_images_off(*[stops_seen] * 8)


def test_cameras_that_see_different_things_do_not_agree() -> None:
    flown = [[2 * at for at in SETTLING], *[[0.1 * (n % 2) for n in range(8)]] * 4]
    assert not first_images_off(*flown)


def test_single_first_image_differs_from_its_steady_camera() -> None:
    steady = [0.0, 0.05, 0.0, -0.05, 0.0]
    assert first_images_off([0.8, *steady[1:]], *[steady] * 4) == pytest.approx([0.7], abs=0.06)
    assert not first_images_off([0.8, 0.0, 0.4, -0.2, 0.3], *[steady] * 4)
    assert not first_images_off([0.8, 0.0, 0.05])


def test_car_that_stops_after_its_first_image_is_not_reported() -> None:
    """While it turned, its camera saw another street."""
    seen = [-0.54, 0.0, 0.0, 0.0, 0.0]
    assert first_images_off(seen) == pytest.approx([-0.54])
    assert first_images_off(seen, moved_m=(3.0, 2.0, 2.5, 3.0)) == pytest.approx([-0.54])
    assert first_images_off(seen, moved_m=(0.003, 0.001, 0.0, 0.001)) == pytest.approx([-0.54])  # it hovers
    assert not first_images_off(seen, moved_m=(3.0, 0.2, 0.0, 0.0))
